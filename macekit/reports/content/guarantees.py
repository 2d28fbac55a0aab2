"""The table of numbers, and for each number what its interval covers and what it assumes."""

from __future__ import annotations

from collections.abc import Iterable
from string import ascii_uppercase

from estimators.privacy.epsilon import IF_DRAWN
from estimators.python.dataclass import dataclass, field
from macekit.reports.formatting import words
from macekit.reports.model import AnswerPath, Bullets, Cell, Inline, Phrase, Section, Table

HEAD = ("Number", "Estimate", "Lower end", "Upper end", "Confidence", "At every sample size", "Guarantee")
SIMULATED = "checked by simulation, including with no leakage at all (docs/methods.md in mace's source)"
"""How the coverage of an interval is known that is not proven at every sample size."""
MECHANISM = f"Epsilon of the mechanism, {IF_DRAWN}"
SCORE = "Epsilon of this score, not of the mechanism"
"""What the two lower bounds on an epsilon are called, so that nobody takes one for the other."""
NOT_FIXED = {
    "U_N": "not shown: its bandwidth was chosen from these records",
    "W_N": "not shown: its cells span these records",
}
"""Of the paper's interval, whose proof needs a bandwidth, or cells, fixed in advance."""


@dataclass(frozen=True, slots=True)
class Backing:
    """What an interval covers and assumes, and whether it holds at every sample size; if not, ``unless`` says why."""

    covers: Cell
    assumes: Cell
    always: bool
    unless: str = "no"

    @classmethod
    def of(cls, guarantee: AnswerPath, unless: str = "no") -> Backing:
        """As the answer states it."""
        covers, assumes = guarantee["covers"].quote(), guarantee["assumes"].quote()
        return cls(covers, assumes, bool(guarantee["finite_sample"].value), unless)

    @property
    def caveat(self) -> str:
        """The last sentence about an interval that is not proven at every sample size."""
        return "" if self.always else f" Its coverage was {SIMULATED}, not proven."


def backings(statements: Iterable[tuple[Cell, AnswerPath]]) -> Section:
    """What statements cover, and what they assume."""
    lines: list[Inline] = []
    for words_before, statement in statements:
        backing = Backing.of(statement["guarantee"])
        lines.append((words_before, backing.covers, "; it assumes: ", backing.assumes, f".{backing.caveat}"))
    return Section("guarantees", "What stands behind the intervals", (Bullets(tuple(lines)),))


@dataclass(slots=True)
class Numbers:
    """Rows as they come; guarantees that say the same share a letter."""

    rows: list[tuple[Cell, ...]] = field(default_factory=list)
    compared: set[int] = field(default_factory=set)
    backings: dict[tuple[str, str], tuple[str, Backing]] = field(default_factory=dict)

    def interval(self, label: Cell, value: AnswerPath, confidence: AnswerPath, backing: Backing | None = None) -> None:
        """A number with both ends, under ``estimate``, ``lower`` and ``upper``."""
        ends = value.interval()
        self.row(label, ends, confidence, backing or Backing.of(value["guarantee"]))

    def row(self, label: Cell, ends: tuple[Cell, ...], confidence: AnswerPath, backing: Backing | None) -> None:
        """A number with its estimate and the ends it has."""
        level: Cell = confidence.number("percent") if confidence and backing else ""
        always = "" if backing is None else "yes" if backing.always else backing.unless
        self.rows.append((label, *ends, level, always, "" if backing is None else self._letter(backing)))

    def derived(self, label: str, value: AnswerPath) -> None:
        """A number that follows from another, without an interval of its own."""
        self.row(label, (value.number(), "", ""), AnswerPath(None), None)

    def beside(self, label: Cell, value: AnswerPath) -> None:
        """What the number above is compared with: it has no interval, and stands wherever that one does."""
        self.compared.add(len(self.rows))
        self.row(label, (value.number(), "", ""), AnswerPath(None), None)

    def tables(self, caption: str) -> tuple[Table, ...]:
        """The numbers, then what stands behind them."""
        note = (
            "At every sample size: yes means that the interval is proven for any number of records; no means that its "
            f"coverage was {SIMULATED}."
        )
        numbers = Table(caption, HEAD, tuple(self.rows), note)
        if not self.backings:
            return (numbers,)
        behind = tuple((letter, each.covers, each.assumes) for letter, each in self.backings.values())
        return numbers, Table(
            "Guarantees: what the intervals cover, and assume", ("Guarantee", "Covers", "Assumes"), behind
        )

    def section(self, caption: str) -> Section:
        """The tables under their heading; one screen shows the numbers that have an interval."""
        intervals = tuple(row for place, row in enumerate(self.rows) if row[-1] != "" or place in self.compared)
        brief = (Table(caption, HEAD, intervals).only(0, 1, 2, 3, 4),)
        return Section("numbers", "The numbers, and what they are worth", self.tables(caption), brief)

    def _letter(self, backing: Backing) -> str:
        key = words(backing.covers), words(backing.assumes)
        if key not in self.backings:
            place = len(self.backings)
            self.backings[key] = (letters(place), backing)
        return self.backings[key][0]


def letters(place: int) -> str:
    """``A`` to ``Z``, then ``AA``, as the columns of a spreadsheet."""
    rest, last = divmod(place, len(ascii_uppercase))
    return (letters(rest - 1) if rest else "") + ascii_uppercase[last]


def add_assessment(numbers: Numbers, result: AnswerPath) -> None:
    """Every number of an advantage answer, the one to decide on first."""
    confidence = result["advantage"]["confidence"]
    numbers.interval("Optimal advantage", result["advantage"], confidence)
    numbers.derived("Baseline: the advantage without any leak", result["baseline"])
    if on_this_set := result["on_this_set"]:
        numbers.interval("Advantage on exactly this set of records", on_this_set, on_this_set["confidence"])
        numbers.beside("On such a set on average if nothing leaks", on_this_set["if_nothing_leaks"])
    if paper := result["paper"]:
        label = Phrase(("The paper's statistic ", paper["statistic"].quote(), " (its expectation)"))
        numbers.interval(label, paper, confidence, Backing.of(paper, NOT_FIXED[paper["statistic"].value]))
        numbers.beside(Phrase((paper["statistic"].quote(), " on average if nothing leaks")), paper["null_level"])
    if metric := result["metric"]:
        numbers.interval(Phrase(("Best ", metric["name"].untrusted())), metric, metric["confidence"])
    if roc := result["roc"]:
        _roc(numbers, roc, confidence)
    if epsilon := result["epsilon"]:
        bound: tuple[Cell, Cell, Cell] = ("", epsilon["lower_bound"].number(), "")
        numbers.row(MECHANISM, bound, epsilon["confidence"], Backing.of(epsilon["guarantee"]))
    add_exposure(numbers, result["exposure"])
    numbers.derived(
        "Accuracy gained over the baseline (eta of membership inference privacy, of this one model)", result["mip_eta"]
    )
    numbers.derived(
        "Security of this one model: the share of the largest possible gain over the baseline that is not reached",
        result["security"],
    )


def add_exposure(numbers: Numbers, exposure: AnswerPath) -> None:
    """The epsilon of the score, and of members whom almost no nonmember is like, how many and how surely."""
    if not exposure:
        return
    confidence, backing = exposure["confidence"], Backing.of(exposure["guarantee"])
    numbers.row(SCORE, ("", exposure["score_epsilon"].number(), ""), confidence, backing)
    if exposure["alarm"].value:
        tail = exposure["tail"]
        ends: tuple[tuple[str, tuple[Cell, Cell, Cell]], ...] = (
            ("Share of members in the exposed tail", ("", tail["tpr_lower"].number("floor"), "")),
            ("Share of nonmembers in it", ("", "", tail["fpr_upper"].number("ceiling"))),
            ("Probability that a record in it is a member", ("", tail["precision_lower"].number(), "")),
        )
        for label, limits in ends:
            numbers.row(label, limits, confidence, backing)


def _roc(numbers: Numbers, roc: AnswerPath, confidence: AnswerPath) -> None:
    ends = roc.numbers("auc", "auc_lower", "auc_upper")
    numbers.row("Area under the ROC (AUC)", ends, confidence, Backing.of(roc["guarantee"]))
    backing = Backing.of(roc["rates_guarantee"])
    for point in roc["operating_points"]:
        label = Phrase(("True positive rate at a false positive rate of ", point["fpr"].number("exact")))
        numbers.row(label, point.numbers("tpr", "lower", "upper"), confidence, backing)
