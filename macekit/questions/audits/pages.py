"""Reports of this wing that share what they say: every query of a model or a release, releases, and two sides."""

from collections.abc import Iterable, Iterator

from macekit.questions.compare.page import side_by_side
from macekit.reports import model
from macekit.reports.charts.forest import columns, differences, ranking, sizes
from macekit.reports.content import guarantees, limitations, provenance, riskiest
from macekit.reports.content.plain_words import sure, without_leak
from macekit.reports.palette import WORDS

ONE_PASS: model.Inline = (
    "It is about attackers who read the log-probabilities of these texts as they are. Who asks about altered texts, "
    "trains models of its own, or sees weights may find more; and lengths that differ between the sides are found as a "
    "leak that is none.",
)
SHADOWS: model.Inline = (
    "It is about attackers who train such shadows. Better shadows, or more of them, may find more, and so may who sees "
    "weights, or asks about altered records.",
)
ONE_MODEL: model.Inline = (
    "It is about this model, asked once about each row. Attackers who train models of their own, who see weights or "
    "several versions, or who ask about altered rows may find more.",
)
ONE_RELEASE: model.Inline = (
    "It is about this release alone. Another one drawn from the same generator may give away more, and a second "
    "release adds to the first.",
)
IN_ORDER: model.Inline = (
    "The rows of a size are the first of one random order, which the answer states (rows). Other rows of the same "
    "table, as many of them, may give away more.",
)
ADVANTAGE_ALONE: model.Inline = (
    "The advantage alone is limited here: near copies and exposed members of the rows that go out are warned of, and "
    "audited by mace synthetic.",
)
NOT_SHOWN: model.Inline = (
    "That nothing is shown is no proof that the sides are alike: the upper end says how far they may differ for those "
    "who read the learned score.",
)
ROWS_ALONE: model.Inline = (
    "It is about the rows alone. A model may still remember its training rows: ask mace model about its predictions.",
)
RELEASES = ("Release", *riskiest.RANKS[1:], "Riskiest query", "Decision")
SIZES = ("Rows", *riskiest.STEPS, "Copied rows", "With a near copy")

ACCEPTED = "Copies were accepted: they are no reason to fail here, however many there are."
AT_A_TENTH = (
    "if training rows are shown to be copied, at a tenth of the level, which comes on top of it, unless they are "
    "accepted."
)
WHY_JUDGED = {
    "unasked": f"Nobody limited copies. They are judged all the same: what would be a pass is a fail {AT_A_TENTH}",
    "accepted": ACCEPTED,
}
WHY_JUDGED_BY_SIZE = {
    "unasked": f"Nobody limited copies. A size that would pass fails all the same {AT_A_TENTH}",
    "accepted": ACCEPTED,
}


def _over_queries(
    operation: str,
    title: str,
    answer: model.AnswerPath,
    figures: model.Figures,
    context: model.Context,
    facts: Iterable[model.Fact],
    own: Iterable[model.Section],
    open_question: model.Inline,
    covered: Iterable[tuple[model.Cell, model.AnswerPath]] = (),
    *,
    grouped: bool = False,
) -> model.Report:
    """The limits, what each query finds, and the sides; ``facts`` and ``own`` sections are the operation's."""
    sections = (
        *riskiest.limits(answer),
        riskiest.every_query(answer, figures),
        *own,
        *riskiest.sides(answer["split"], figures),
        *riskiest.control(answer["control"]),
        *(riskiest.by_group(answer, figures) if "groups" in answer.value else ()),
        riskiest.guarantees(answer, *covered),
        limitations.section(riskiest.open_questions(answer, open_question), answer["warnings"]),
        provenance.section(operation, answer["provenance"], context, grouped=grouped),
    )
    glance = model.Facts((*riskiest.facts(answer), *facts))
    return model.Report(title, riskiest.headline(answer), glance, sections)


def texts(answer: model.AnswerPath, figures: model.Figures, context: model.Context) -> model.Report:
    """A language model's log-probabilities of texts."""
    of = (answer["tokens"].number("count"), " tokens, written as ", answer["layout"].untrusted())
    facts = (_members(answer), model.Fact("Texts", answer["texts"].number("count"), of))
    title = "What a language model gives away about texts"
    return _over_queries("text", title, answer, figures, context, facts, _not_asked(answer), ONE_PASS)


def shadows(answer: model.AnswerPath, figures: model.Figures, context: model.Context) -> model.Report:
    """The signals of a model and of its shadows."""
    of = ("their signals are ", answer["scale"].untrusted())
    facts = (_members(answer), model.Fact("Shadow models", answer["shadows"].number("count"), of))
    title = "What a model gives away beside its shadows"
    return _over_queries("shadows", title, answer, figures, context, facts, _not_asked(answer), SHADOWS)


def _members(answer: model.AnswerPath) -> model.Fact:
    source = answer["provenance"]
    others = ("and ", source["n_nonmembers"].number("count"), " others")
    return model.Fact("Members", source["n_members"].number("count"), others)


def _not_asked(answer: model.AnswerPath) -> Iterator[model.Section]:
    reasons = answer["not_asked"]
    if reasons.value:
        lines = model.Bullets(tuple(riskiest.not_asked(reasons)))
        yield model.Section("not-asked", "Queries that were not asked", (lines,), (lines,))


def predictions(answer: model.AnswerPath, figures: model.Figures, context: model.Context) -> model.Report:
    """What a model predicts, and how well it does."""
    fit, source = answer["fit"], answer["provenance"]
    beside = (fit["measure"].untrusted(), "; on the others ", fit["nonmembers"].number())
    others = ("and ", source["n_nonmembers"].number("count"), " others; the predictions are ")
    facts = (
        model.Fact("On training rows", fit["members"].number(), beside),
        model.Fact("Training rows", source["n_members"].number("count"), (*others, answer["outputs"].untrusted())),
    )
    own = (*riskiest.strength(answer["strength"]), _fit(answer))
    title, measured = "What a model's predictions give away", answer["strength"].value is not None
    return _over_queries("model", title, answer, figures, context, facts, own, ONE_MODEL, grouped=measured)


def _fit(answer: model.AnswerPath) -> model.Section:
    blocks: list[model.Block] = [
        model.Paragraph(
            (
                answer["fit"]["sentence"].quote(),
                " A gap between them is overfitting, and whoever learns no more than whether the model is right has "
                "that much of an advantage.",
            )
        )
    ]
    reasons = answer["not_asked"]
    if reasons.value:
        rows = tuple((name, reasons[name].untrusted()) for name in reasons.value)
        blocks.append(model.Table("Queries that were not asked", ("Query", "Why"), rows))
    return model.Section(
        "fit", "How well the model does", tuple(blocks), (model.Bullets(tuple(riskiest.not_asked(reasons))),)
    )


def release(answer: model.AnswerPath, figures: model.Figures, context: model.Context) -> model.Report:
    """A released table, and the rows that were copied into it."""
    copies = answer["copies"]
    facts = (
        model.Fact(
            "Training rows in the release",
            copies["members"].number("count"),
            (
                "in as few digits as either has; of the hold-out "
                if _coarser(copies)
                else "in every column in use; of the hold-out ",
                copies["nonmembers"].number("count"),
            ),
        ),
        model.Fact(
            "Training rows",
            copies["n_members"].number("count"),
            (
                "and ",
                copies["n_nonmembers"].number("count"),
                " hold-out, ",
                answer["n_synthetic"].number("count"),
                " released, ",
                answer["n_reference"].number("count"),
                " reference rows",
            ),
        ),
    )
    covered = (
        ("Copies beyond chance are ", copies["beyond_chance"]),
        ("Near copies beyond chance are ", answer["near_copies"]["beyond_chance"]),
    )
    title, referenced = "What a released table gives away", bool(answer["n_reference"].value)
    own = (_copies(answer),)
    return _over_queries(
        "synthetic", title, answer, figures, context, facts, own, ONE_RELEASE, covered, grouped=referenced
    )


def _copies(answer: model.AnswerPath) -> model.Section:
    copies = answer["copies"]
    words: model.Inline = (
        copies["sentence"].quote(),
        " The hold-out was not released: what stands of it in the release stands there by chance, as rows of few "
        "categories do.",
    )
    near: model.Inline = (answer["near_copies"]["sentence"].quote(),)
    blocks: list[model.Block] = [model.Paragraph(words), model.Paragraph(near)]
    if copies["judged"].value in WHY_JUDGED:
        blocks.append(model.Paragraph((WHY_JUDGED[copies["judged"].value],)))
    coarser = _coarser(copies)
    if not coarser:
        blocks.append(model.Paragraph(("Rows are compared as they are in every column.",)))
        return model.Section("copies", "Copied rows", tuple(blocks))
    table = model.table_of(
        "Columns compared with fewer digits",
        ("Column", "Rows are compared at"),
        coarser,
        lambda each: (each["name"].untrusted(), each["precision"].untrusted()),
        most=riskiest.MOST,
        where=copies["columns"].path,
    )
    why: model.Inline = (
        "One table is written with fewer digits than another; all other columns are compared as they are.",
    )
    return model.Section("copies", "Copied rows", (*blocks, model.Paragraph(why), table), (table,))


def _coarser(copies: model.AnswerPath) -> list[model.AnswerPath]:
    """Columns in which rows are compared with fewer digits than one table has."""
    return [each for each in copies["columns"] if each["precision"].value is not None]


def releases(answer: model.AnswerPath, figures: model.Figures, context: model.Context) -> model.Report:
    """Each release by its riskiest query, then what any comparison has."""
    by_name = {release["name"].value: release for release in answer["releases"]}

    def row(place: model.AnswerPath) -> tuple[model.Cell, ...]:
        release = by_name[place["name"].value]
        decision = release["decision"].value
        word = "" if decision is None else WORDS[decision].word
        return (*model.ranking_row(place), release["query"].untrusted(), word)

    ranks = model.table_of("Ranking", RELEASES, answer["ranking"], row, riskiest.TOGETHER)
    return side_by_side("compare-releases", "Releases side by side", ranks, answer, figures, context)


def sizes_of_release(answer: model.AnswerPath, figures: model.Figures, context: model.Context) -> model.Report:
    """The largest size, then all of them."""
    table = model.Table("Every size", SIZES, tuple(map(_size, answer["steps"])), riskiest.BAND)
    referenced = bool(answer["n_reference"].value)
    sections = (
        model.Section("sizes", "Every size", (*figures.pick("sizes"), table), (table,)),
        *_further_limits(answer),
        guarantees.backings([("The interval of a size covers ", answer["steps"][0])]),
        limitations.section(_open_of_sizes(answer), answer["warnings"]),
        provenance.section("release-size", answer["provenance"], context, grouped=referenced),
    )
    facts = model.Facts(tuple(_facts_of_sizes(answer)))
    return model.Report("How many rows may go out", model.headline(answer, answer), facts, sections)


def _facts_of_sizes(answer: model.AnswerPath) -> Iterator[model.Fact]:
    if answer["decision"].value is not None:
        detail: model.Inline = ("keep every limit",)
        if not answer["steps"][0]["limits"]:
            detail = ("keep the advantage at or below ", answer["max_advantage"].number("exact"))
        yield model.Fact("Rows that may go out", answer["largest"].number("count"), detail)
    yield without_leak(answer["baseline"], answer["provenance"]["options"]["prior"])
    yield model.Fact(
        "Released rows",
        answer["n_synthetic"].number("count"),
        (
            answer["provenance"]["n_members"].number("count"),
            " training, ",
            answer["provenance"]["n_nonmembers"].number("count"),
            " hold-out, ",
            answer["n_reference"].number("count"),
            " reference rows",
        ),
    )


def _further_limits(answer: model.AnswerPath) -> Iterator[model.Section]:
    """What is limited beside the advantage, size by size, if anything is."""
    rows = tuple(
        (step["size"].number("count"), *riskiest.limit_row(each))
        for step in answer["steps"]
        if step["limits"]
        for each in step["limits"]
    )
    if rows:
        table = model.Table("Further limits, size by size", ("Rows", *riskiest.LIMITS), rows)
        yield model.Section("limits", "Further limits", (table,), (table,))


def _size(step: model.AnswerPath) -> tuple[model.Cell, ...]:
    return (
        step["size"].number("count"),
        *riskiest.step_row(step),
        *step.numbers("copies", "near_copies", kind="count"),
    )


def _open_of_sizes(answer: model.AnswerPath) -> Iterator[model.Inline]:
    yield IN_ORDER
    if not answer["steps"][0]["limits"]:
        yield ADVANTAGE_ALONE
    if answer["copies_judged"].value in WHY_JUDGED_BY_SIZE:
        yield (WHY_JUDGED_BY_SIZE[answer["copies_judged"].value],)
    yield riskiest.OTHERS
    yield from limitations.of_sample(answer["provenance"]["options"]["prior"], scope=())


def sides(answer: model.AnswerPath, figures: model.Figures, context: model.Context) -> model.Report:
    """The interval, and each column by itself."""
    table = riskiest.columns(answer)
    sections = (
        model.Section("columns", "Every column", (*figures.pick("columns"), table), (table,)),
        *riskiest.control(answer["control"]),
        *_match(answer["match"]),
        guarantees.backings([("The interval covers ", answer["advantage"])]),
        limitations.section(_open_of_sides(answer), answer["warnings"]),
        provenance.section("check", answer["provenance"], context),
    )
    headline = model.Headline(None, answer["sentence"].quote())
    return model.Report("Whether the hold-out is fair", headline, model.Facts(tuple(_facts_of_sides(answer))), sections)


def _match(match: model.AnswerPath) -> Iterator[model.Section]:
    """How many rows are alike, and whether those still differ."""
    if match.value is None:
        return
    split = match["split"]
    words: list[model.Inline] = [(match["sentence"].quote(),)]
    tables: tuple[model.Table, ...] = ()
    if split.value is None:
        words.append(("They are too few to be checked again.",))
    else:
        words.append(("Of these rows alone: ", split["sentence"].quote()))
        row: tuple[model.Cell, ...] = ("The rows that are alike", *split["advantage"].interval())
        head = ("Rows", "Told apart", "Lower end", "Upper end")
        tables = (model.Table("Rows that are alike, checked again", head, (row,)),)
    words.append(("Their places are in the answer: match.train, match.holdout.",))
    blocks: tuple[model.Block, ...] = (*(model.Paragraph(each) for each in words), *tables)
    yield model.Section("match", "Rows that are alike", blocks, tables)


def _facts_of_sides(answer: model.AnswerPath) -> Iterator[model.Fact]:
    advantage, source = answer["advantage"], answer["provenance"]
    confidence = sure(advantage)
    yield model.Fact(
        "Told apart, at least", advantage["lower"].number(), (*confidence, "; advantage without any model")
    )
    yield model.Fact("Told apart, at most", advantage["upper"].number(), confidence)
    yield model.Fact(
        "Training rows",
        source["n_members"].number("count"),
        ("and ", source["n_nonmembers"].number("count"), " hold-out rows"),
    )


def _open_of_sides(answer: model.AnswerPath) -> Iterator[model.Inline]:
    if not answer["differs"].value:
        yield NOT_SHOWN
    yield ROWS_ALONE


PAGES = {
    "text": model.Page(texts, lambda answer: (ranking(answer),)),
    "shadows": model.Page(shadows, lambda answer: (ranking(answer),)),
    "model": model.Page(predictions, riskiest.figures),
    "synthetic": model.Page(release, riskiest.figures),
    "compare_releases": model.Page(
        releases, lambda answer: (ranking(answer, "release", "releases"), differences(answer))
    ),
    "release_size": model.Page(sizes_of_release, lambda answer: (sizes(answer),)),
    "check": model.Page(sides, lambda answer: (columns(answer),)),
}
"""By the key of the operation."""
