"""The report on a training procedure: the mean over trainings, the next model, and how models vary."""

from collections.abc import Iterator

from macekit.reports import model
from macekit.reports.charts.forest import trainings
from macekit.reports.content import limitations, provenance
from macekit.reports.content.guarantees import Numbers
from macekit.reports.content.plain_words import records, sure, without_leak

HEAD = ("Model", "Advantage", "Lower end", "Upper end", "Members", "Nonmembers")

OPEN: tuple[model.Inline, ...] = (
    (
        "The mean, and the next model, are of trainings that vary as these did. A kind of training that is rare, and "
        "gives away much more, shows only if it is among them.",
    ),
    (
        "Models are taken to be trained independently, each with records of its own: new data, a new split and a new "
        "seed. If they share records, the limits are about models trained on such records.",
    ),
)


def content(answer: model.AnswerPath, figures: model.Figures, context: model.Context) -> model.Report:
    """The procedure, its next model, then every model."""
    source, mean, coming = answer["provenance"], answer["advantage"], answer["next_model"]
    confidence = mean["confidence"]
    tiles = (
        model.Fact("Advantage on average at least", mean["lower"].number(), sure(mean)),
        model.Fact("On average at most", mean["upper"].number(), sure(mean)),
        model.Fact(
            "The next model at most", coming["upper"].number(), ("and at least ", coming["lower"].number())
        ),
        model.Fact(
            "More records cannot remove",
            answer["records_cannot"]["estimate"].number("percent"),
            ("of the variance: models differ",),
        ),
        *_settles(answer["verdict"]),
        without_leak(answer["baseline"], source["options"]["prior"]),
        *records(source),
    )
    numbers = Numbers()
    numbers.interval("Mean advantage over trainings", mean, confidence)
    numbers.interval("The same, however trainings vary", answer["any_variation"], confidence)
    numbers.interval("Advantage of the next model", coming, confidence)
    numbers.interval("Standard deviation between trainings", answer["spread"], confidence)
    numbers.interval("Share of the variance between trainings", answer["records_cannot"], confidence)
    numbers.derived("Baseline: the advantage without any leak", answer["baseline"])
    note = "Each interval is about this model alone, and holds by itself."
    table = model.table_of("Every model", HEAD, answer["models"], _row, note)
    sections = (
        *_verdict(answer["verdict"]),
        numbers.section("The procedure"),
        model.Section("models", "Every model", (*figures.pick("models"), table), (table,)),
        limitations.section(_open(source["options"]["prior"]), answer["warnings"]),
        provenance.section("procedure", source, context),
    )
    first = model.headline(answer, answer["verdict"])
    return model.Report("A training procedure", first, model.Facts(tiles), sections)


def _verdict(verdict: model.AnswerPath) -> Iterator[model.Section]:
    """Why it was decided so, and what would settle it."""
    if verdict:
        yield model.Section("verdict", "The verdict", (model.Bullets(((verdict["reason"].quote(), "."),)),))


def _settles(verdict: model.AnswerPath) -> Iterator[model.Fact]:
    """What an open verdict takes."""
    if verdict["decision"].value == "inconclusive":
        records: model.Inline = ("in all",)
        if verdict["records_needed"]:
            records = ("in all, or ", verdict["records_needed"].number("count"), " records of these models")
        yield model.Fact("Models that would settle it", verdict["models_needed"].number("count"), records)


def _row(entry: model.AnswerPath) -> tuple[model.Cell, ...]:
    sides = entry.numbers("members", "nonmembers", kind="count")
    return entry["name"].untrusted(), *entry.interval(), *sides


def _open(prior: model.AnswerPath) -> Iterator[model.Inline]:
    yield from OPEN
    yield from limitations.of_sample(prior, scope=limitations.OF_PROCEDURE)


def figures(answer: model.AnswerPath) -> tuple[model.Figure | None, ...]:
    """Every model, their mean and the next one."""
    return (trainings(answer),)
