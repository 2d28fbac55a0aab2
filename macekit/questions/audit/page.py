"""The report of an audit, and the section on a promised epsilon that other reports share."""

from collections.abc import Iterator

from estimators.privacy.epsilon import IF_DRAWN
from macekit.reports import model
from macekit.reports.charts.gate import epsilon, interval
from macekit.reports.content import limitations, provenance
from macekit.reports.content.guarantees import MECHANISM, Backing, Numbers
from macekit.reports.content.plain_words import in_people, records, worth

OF_THE_SCORE: model.Inline = (
    "The epsilon of the score, which a gate limits, is another statement: it rests on independent draws of either "
    "side, whoever chose the members, and speaks of this one score. The two numbers may differ.",
)


def promise_sections(answer: model.AnswerPath, figures: model.Figures, *names: str) -> tuple[model.Section, ...]:
    """What was promised and what the records show, with the charts of these names; none without a promise or bound."""
    sentences = [each.quote() for each in (answer["epsilon"]["sentence"], answer["claim"]["sentence"]) if each]
    blocks: tuple[model.Block, ...] = (*figures.pick(*names), model.Bullets(tuple((each,) for each in sentences)))
    title = "What was promised, and what the records show"
    return (model.Section("promise", title, blocks, (model.Bullets(((sentences[-1],),)),)),) if sentences else ()


def content(answer: model.AnswerPath, figures: model.Figures, context: model.Context) -> model.Report:
    """Whether the promise is contradicted, the numbers beside it, and the advantage in people."""
    epsilon, claim, source = answer["epsilon"], answer["claim"], answer["provenance"]
    prior = source["options"]["prior"]
    tiles = [
        model.Fact(
            "Epsilon of the mechanism, at least",
            epsilon["lower_bound"].number(),
            ("at delta ", epsilon["delta"].number("exact"), f", {IF_DRAWN}"),
        ),
        *_promise(claim, answer["baseline"]),
        model.Fact(
            "Guesses that were right",
            epsilon["right"].number("count"),
            ("of ", epsilon["guesses"].number("count"), " guesses"),
        ),
        *records(source),
        *worth(answer["advantage"]["clusters"]),
    ]
    broken = claim["decision"].value == "contradicted"
    sections = (
        *promise_sections(answer, figures, "epsilon", "interval"),
        model.Section("people", "What it means in people", in_people(answer, prior)),
        _numbers(answer).section("Every number"),
        limitations.section(_open(answer, prior), answer["warnings"]),
        provenance.section("audit", source, context),
    )
    return model.Report(
        "Audit of a promised epsilon",
        model.Headline("fail" if broken else None, answer["sentence"].quote()),
        model.Facts(tuple(tiles)),
        sections,
    )


def _promise(claim: model.AnswerPath, baseline: model.AnswerPath) -> Iterator[model.Fact]:
    if claim:
        at: model.Inline = ("at delta ", claim["delta"].number("exact"))
        yield model.Fact("Epsilon promised", claim["epsilon"].number("exact"), at)
        allows = claim["advantage_ceiling"].number()
        yield model.Fact("Advantage the promise allows", allows, ("the largest; without any leak ", baseline.number()))


def _numbers(answer: model.AnswerPath) -> Numbers:
    table, epsilon = Numbers(), answer["epsilon"]
    bound: tuple[model.Cell, model.Cell, model.Cell] = ("", epsilon["lower_bound"].number(), "")
    table.row(MECHANISM, bound, epsilon["confidence"], Backing.of(epsilon["guarantee"]))
    table.interval("Optimal advantage", answer["advantage"], answer["advantage"]["confidence"])
    table.derived("Baseline: the advantage without any leak", answer["baseline"])
    return table


def _open(answer: model.AnswerPath, prior: model.AnswerPath) -> Iterator[model.Inline]:
    yield from limitations.of_promise(answer["claim"])
    yield ("The bound on the mechanism's epsilon assumes: ", answer["epsilon"]["guarantee"]["assumes"].quote(), ".")
    yield OF_THE_SCORE
    yield from limitations.of_advantage(answer)
    yield from limitations.of_sample(prior, answer["advantage"]["clusters"])


def figures(answer: model.AnswerPath) -> tuple[model.Figure | None, ...]:
    """Epsilon, and the advantage."""
    return epsilon(answer), interval(answer)
