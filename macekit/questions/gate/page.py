"""The report of a gate: every limit, and what the records say about it."""

from collections.abc import Iterator

from macekit.reports import model
from macekit.reports.charts.gate import gate
from macekit.reports.content import groups, limitations, provenance
from macekit.reports.content.guarantees import backings
from macekit.reports.content.plain_words import rare_exposure, records, without_leak, worth
from macekit.reports.files import is_of_files
from macekit.reports.palette import WORDS

MECHANISM: model.Inline = (
    "The mechanism that trained the model is not covered. Every limit, also one on epsilon, is about the score of "
    "this one model; keeping it does not show that a promise about the training is kept. What the records say the "
    "epsilon of the mechanism must be at least is another statement, which rests on how members were drawn: an audit "
    "makes it, and the two numbers may differ.",
)
PASSED: model.Inline = ("A pass says that no upper end is above its limit. It does not say that nothing leaks.",)
EACH_ONCE: model.Inline = (
    "Each record has to be given once only, in one batch, and how many come in a batch must not depend on the scores "
    "in it. A few members whom almost no nonmember reaches are not looked for; a gate on all records at once does.",
)
HEAD = ("Limit", "At most", "Decision", "Estimate", "Lower end", "Upper end", "Confidence")


def content(answer: model.AnswerPath, figures: model.Figures, context: model.Context) -> model.Report:
    """The decision over all limits, then each of them; of several files, over all of these."""
    if is_of_files(answer.value):
        return _of_files(answer, context)
    source, limits = answer["provenance"], answer["limits"]
    names = {limit["name"].value for limit in limits}
    by_own = "group_advantage" in names
    grouped = by_own or "group_risk" in names
    sections = (
        every_limit(limits, figures.pick("gate")),
        *groups.every_group(answer["groups"], by_own=by_own),
        backings((model.Phrase((limit["about"].untrusted(), " covers ")), limit) for limit in limits),
        limitations.section(_open(answer), answer["warnings"]),
        provenance.section("gate", source, context, grouped=grouped),
    )
    headline = model.Headline(
        answer["decision"].value,
        answer["sentence"].quote(),
        *rare_exposure(answer["exposure"]),
        answer["covers"].quotes(),
    )
    return model.Report("Membership leakage gate", headline, model.Facts(tuple(_facts(answer))), sections)


def every_limit(limits: model.AnswerPath, charts: tuple[model.Block, ...] = ()) -> model.Section:
    """Each limit with its decision, and why."""
    note = groups.SHARED if len(limits) > 1 else ""
    table = model.Table("Every limit", HEAD, tuple(map(_row, limits)), note)
    reasons = tuple((limit["about"].untrusted(), ": ", limit["reason"].quote(), ".") for limit in limits)
    return model.Section("limits", "Limits", (*charts, table, model.Bullets(reasons)), (table,))


def _facts(answer: model.AnswerPath) -> Iterator[model.Fact]:
    for limit in list(answer["limits"])[:4]:
        at: model.Inline = ("at most ", limit["maximum"].number("exact"), " is acceptable")
        end = limit["lower"] if limit["decision"].value == "fail" or not limit["upper"] else limit["upper"]
        word = "at least" if end.path.endswith("lower") else "at most"
        yield model.Fact(f"{_label(limit)}, {word}", end.number(), at)
        if limit["name"].value == "advantage":
            yield without_leak(answer["baseline"], answer["provenance"]["options"]["prior"])
    if answer["records_needed"]:
        yield model.Fact(
            "Records needed", answer["records_needed"].number("roughly"), ("in all, approximately, to decide",)
        )
    if answer["anytime"]:
        yield model.Fact("Looks so far", answer["anytime"]["looks"].number("count"), ("the ends hold at all of them",))
    yield from records(answer["anytime"] or answer["provenance"])
    yield from worth(answer["clusters"])


def _label(limit: model.AnswerPath) -> str:
    labels = {
        "advantage": "Advantage",
        "tpr": "Members found",
        "epsilon": "Epsilon of this score",
        "metric": "Metric",
        "group_advantage": "Advantage within a group",
        "group_risk": "Mean risk of a group",
    }
    return labels.get(limit["name"].value, "Limit")


def _row(limit: model.AnswerPath) -> tuple[model.Cell, ...]:
    return (
        limit["about"].untrusted(),
        limit["maximum"].number("exact"),
        WORDS[limit["decision"].value].word,
        *limit.interval(),
        limit["confidence"].number("percent"),
    )


def _above(limits: model.AnswerPath, warnings: model.AnswerPath) -> Iterator[model.Inline]:
    """The adversaries that no upper end covers."""
    if any(map(_is_of_a_class, limits)):
        yield (
            "Upper ends are for the attackers named with each limit: those who read the score (of vectors, a learned "
            "score) at a resolution, or change their guess a few times along it. An attacker who finds finer patterns "
            "may do better, and no number of records limits by how much.",
        )
    contradicted = any(each["code"].value == "class_rejected" for each in warnings)
    for limit in limits:
        if not _is_of_a_class(limit):
            assumes = limit["guarantee"]["assumes"].quote()
            yield (
                "The upper end of ",
                limit["about"].untrusted(),
                " holds only as far as its assumption does: ",
                assumes,
                ".",
            )
            if contradicted:
                yield limitations.CONTRADICTED


def _is_of_a_class(limit: model.AnswerPath) -> bool:
    """Whether its upper end is that of named attackers, and not of an assumed form of the best one."""
    covers = limit["guarantee"]["covers"].value
    return "resolution" in covers or "attackers who" in covers


def _open(answer: model.AnswerPath) -> Iterator[model.Inline]:
    if answer["decision"].value == "pass":
        yield PASSED
    yield from _above(answer["limits"], answer["warnings"])
    if answer["anytime"]:
        yield EACH_ONCE
    yield from limitations.of_exposure(answer["exposure"])
    yield MECHANISM
    yield from limitations.of_sample(answer["provenance"]["options"]["prior"], answer["clusters"])


def figures(answer: model.AnswerPath) -> tuple[model.Figure | None, ...]:
    """Each limit with its interval; those of several files stand in tables."""
    return () if is_of_files(answer.value) else (gate(answer["limits"]),)


HEAD_OF_FILES = ("File", "Decision", "Limit", "At most", "Lower end", "Upper end")
HEAD_OF_SOURCES = ("File", "Members", "Nonmembers", "SHA-256 of the scores")

EACH_ALONE: model.Inline = (
    "Each file was judged by itself. What somebody learns who reads several of them together is not covered.",
)


def _of_files(answer: model.AnswerPath, context: model.Context) -> model.Report:
    """The decision over all files, then each of them."""
    files = list(answer["files"])
    every = model.Table("Every file", HEAD_OF_FILES, tuple(map(_file, files)))
    sentences = tuple((each["file"].untrusted(), ": ", each["answer"]["sentence"].quote()) for each in files)
    limits = tuple((each["file"].untrusted(), *_row(limit)) for each in files for limit in each["answer"]["limits"])
    statements = (
        (model.Phrase((each["file"].untrusted(), ": ", limit["about"].untrusted(), " covers ")), limit)
        for each in files
        for limit in each["answer"]["limits"]
    )
    sections = (
        model.Section("files", "Files", (every, model.Bullets(sentences)), (every,)),
        model.Section("limits", "Limits", (model.Table("Every limit", ("File", *HEAD), limits),)),
        backings(statements),
        limitations.section(_open_of_files(answer, files), answer["warnings"]),
        _origin(files, context),
    )
    quote, covers = answer["sentence"].quote(), answer["covers"].quotes()
    headline = model.Headline(answer["decision"].value, quote, covers=covers)
    facts = model.Facts(tuple(_facts_of_files(answer)))
    return model.Report("Membership leakage gate", headline, facts, sections)


def _facts_of_files(answer: model.AnswerPath) -> Iterator[model.Fact]:
    labels = {"pass": "Files that pass", "fail": "Files that fail", "inconclusive": "Files undecided"}
    sure, each = (answer[name].number("percent") for name in ("confidence", "confidence_of_each"))
    note: model.Inline = ("decided with ", sure, " confidence together, ", each, " each")
    for name, number in answer["decisions"].value.items():
        if name in labels or number:
            label = labels.get(name, f"Files {name}")
            yield model.Fact(label, answer["decisions"][name].number("count"), note)
            note = ()


def _file(each: model.AnswerPath) -> tuple[model.Cell, ...]:
    """A file with the limit that decides; where all of several are kept, none is the one."""
    answer = each["answer"]
    decided = answer["decision"].value
    deciding = [limit for limit in answer["limits"] if limit["decision"].value == decided]
    first: tuple[model.Cell, ...] = each["file"].untrusted(), WORDS[decided].word
    if not deciding:
        why = answer["undecided_because"].value
        return (*first, "exposed members" if why == "exposed" else "cannot be judged", "", "", "")
    if decided == "pass" and len(deciding) > 1:
        return (*first, f"all {len(deciding)}", "", "", "")
    limit = deciding[0]
    ends = limit.numbers("lower", "upper")
    return (*first, limit["about"].untrusted(), limit["maximum"].number("exact"), *ends)


def _open_of_files(answer: model.AnswerPath, files: list[model.AnswerPath]) -> Iterator[model.Inline]:
    if answer["decision"].value == "pass":
        yield PASSED
    yield EACH_ALONE
    above = (words for each in files for words in _above(each["answer"]["limits"], each["answer"]["warnings"]))
    yield from dict.fromkeys(above)
    yield MECHANISM
    first = files[0]["answer"]
    yield from limitations.of_sample(first["provenance"]["options"]["prior"], first["clusters"])


def _origin(files: list[model.AnswerPath], context: model.Context) -> model.Section:
    sources = [(each["file"], each["answer"]["provenance"]) for each in files]
    rows: tuple[tuple[model.Cell, ...], ...] = tuple(
        (file.untrusted(), *source.numbers("n_members", "n_nonmembers", kind="count"), source["input_sha256"].quote())
        for file, source in sources
    )
    origin = (("Method", provenance.method(sources[0][1])), *provenance.made(context))
    blocks = (model.Table("Files", HEAD_OF_SOURCES, rows), model.Table("Origin", ("", ""), origin))
    return model.Section("provenance", "Where this comes from", blocks)
