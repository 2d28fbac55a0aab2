"""Answers as they are read: a table, then the sentence to decide on, then what to know first."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, cast

from app.cli import promises
from estimators.statement import at_least, at_most
from macekit.catalogue import ARRAYS as THEORY
from macekit.schemas.answers import (
    AdvantageAnswer,
    AuditAnswer,
    CompareAnswer,
    CountsAnswer,
    GateAnswer,
    GroupAnswer,
    MetricsAnswer,
    PlanAnswer,
    ReportAnswer,
    RiskAnswer,
)
from macekit.schemas.statements import IntervalAnswer, ProvenanceAnswer, WarningAnswer
from macekit.text import plain, shown

# --- table --------------------------------------------------------------------------------------------------
# A table of numbers with their limits, as it is printed: limits are rounded outward, so that they hold.

NAME_WIDTH = 22


@dataclass(frozen=True, slots=True)
class Row:
    """One line: what it is, its value, the limits of its interval, and what to know of it."""

    name: str
    estimate: float | None = None
    lower: float | None = None
    upper: float | None = None
    note: str = ""


def lines(rows: Iterable[Row], last: str) -> list[str]:
    """The table with its header; ``last`` stands over the notes."""
    listed = list(rows)
    width = max([NAME_WIDTH, *(len(row.name) + 2 for row in listed)])
    head = f"{'':<{width}}{'estimate':>9}{'lower':>9}{'upper':>9}   {last}"
    return [head.rstrip(), *(_line(row, width) for row in listed)]


def _line(row: Row, width: int) -> str:
    estimate = "" if row.estimate is None else f"{row.estimate:z.3f}"
    lower = "" if row.lower is None else at_least(row.lower)
    upper = "" if row.upper is None else at_most(row.upper)
    numbers = f"{estimate:>9}{lower:>9}{upper:>9}"
    return f"{row.name:<{width}}{numbers}   {row.note}".rstrip()


# --- showing ------------------------------------------------------------------------------------------------

Text = list[str]


def text(operation: str, answer: dict[str, Any]) -> str:
    """The answer of one operation, as it is printed."""
    return "\n".join(SHOWING[operation](answer))


def advantage(answer: AdvantageAnswer) -> Text:
    """Everything about one sample."""
    return [records(answer["provenance"]), "", *statement(answer)]


def statement(answer: AdvantageAnswer) -> Text:
    """The same without its first line."""
    return [*_numbers(answer), *_claims(answer, answer["warnings"])]


def report(answer: ReportAnswer) -> Text:
    """The same, and the groups."""
    groups = ["", *lines((_group(group) for group in answer["groups"]), "records")]
    result = answer["result"]
    return [
        records(answer["provenance"]),
        "",
        *_numbers(result),
        *(groups if answer["groups"] else []),
        *_claims(result, answer["warnings"]),
    ]


def risk(answer: RiskAnswer) -> Text:
    """The most exposed records, and the groups."""
    found = answer["records"]
    columns = zip(
        found["index"], found["risk"], found["lower"], found["upper"], found["flagged"], strict=True
    )
    rows = [
        Row(f"record {index}", value, low, high, "flagged" if flagged else "")
        for index, value, low, high, flagged in columns
    ]
    groups = lines((_group(group) for group in answer["groups"]), "records")
    return [
        records(answer["provenance"]),
        "",
        *lines(rows, ""),
        *(["", *groups] if answer["groups"] else []),
        *_said([answer["sentence"]], answer["warnings"]),
    ]


def metrics(answer: MetricsAnswer) -> Text:
    """One line a metric."""
    rows = [
        Row(each["name"], each["estimate"], each["lower"], each["upper"], f"{each['trivial']:.3f}")
        for each in answer["metrics"]
    ]
    notes = {note["code"]: note for each in answer["metrics"] for note in each["warnings"]}
    said = [each["sentence"] for each in answer["metrics"]] if len(rows) == 1 else []
    return [
        records(answer["provenance"]),
        "",
        *lines(rows, "without the score"),
        *_said(said, list(notes.values())),
    ]


def compare(answer: CompareAnswer) -> Text:
    """The ranking, then the differences."""
    ranks = [
        _interval(shown(place["name"]), place["advantage"], _ranks(place["best_rank"], place["worst_rank"]))
        for place in answer["ranking"]
    ]
    differences = [
        Row(
            f"{shown(each['first'])} - {shown(each['second'])}",
            each["estimate"],
            each["lower"],
            each["upper"],
            "they differ" if each["decided"] else "not shown to differ",
        )
        for each in answer["differences"]
    ]
    return [
        *lines([*ranks, _interval("the largest", answer["maximum"], "")], "true rank"),
        *(["", *lines(differences, "")] if differences else []),
        *_said([answer["sentence"]], answer["warnings"]),
    ]


def audit(answer: AuditAnswer) -> Text:
    """What the records show, beside what was promised."""
    claim = answer["claim"]
    rows = [
        Row("epsilon at least", lower=answer["epsilon"]["lower_bound"]),
        _interval("optimal advantage", answer["advantage"], "the truth at this resolution"),
    ]
    if claim is not None:
        rows.insert(1, Row("epsilon promised", claim["epsilon"], note=f"delta {claim['delta']:g}"))
        rows.append(Row("  the promise allows", upper=claim["advantage_ceiling"]))
    said = _said([answer["sentence"]], answer["warnings"])
    return [records(answer["provenance"]), "", *lines(rows, "covers"), *said]


def gate(answer: GateAnswer) -> Text:
    """Each limit with its decision."""
    rows = [
        Row(
            plain(each["about"]),
            each["estimate"],
            each["lower"],
            each["upper"],
            f"{each['maximum']:<7g}   {each['decision']}",
        )
        for each in answer["limits"]
    ]
    said = _said([answer["sentence"]], answer["warnings"])
    return [records(answer["provenance"]), "", *lines(rows, "at most   decision"), *said]


def plan(answer: PlanAnswer) -> Text:
    """The sentence says it all."""
    return [plain(answer["sentence"])]


def counts(answer: CountsAnswer) -> Text:
    """Counts are for programs: here stands only what they are of."""
    return [plain(answer["sentence"]), "note: --json prints the counts, -o counts.json keeps them"]


def _numbers(answer: AdvantageAnswer) -> Text:
    rows = [_interval("optimal advantage", answer["advantage"], "the truth at this resolution")]
    paper, metric, roc = answer["paper"], answer["metric"], answer["roc"]
    if paper is not None:
        name = f"  the paper's {paper['statistic']}"
        note = "the statistic's expectation"
        rows.append(Row(name, paper["estimate"], paper["lower"], paper["upper"], note))
    if metric is not None:
        rows.append(Row(f"best {metric['name']}", metric["estimate"], metric["lower"], metric["upper"]))
    if roc is not None:
        rows.append(Row("AUC", roc["auc"], roc["auc_lower"], roc["auc_upper"]))
        rows += [
            Row(f"TPR at FPR {point['fpr']:g}", point["tpr"], point["lower"], point["upper"])
            for point in roc["operating_points"]
        ]
    if answer["epsilon_lower_bound"] is not None:
        rows.append(Row("epsilon at least", lower=answer["epsilon_lower_bound"]))
    return lines(rows, "covers")


def _claims(answer: AdvantageAnswer, warnings: list[WarningAnswer]) -> Text:
    said = [answer["sentence"]] + ([answer["claim"]["sentence"]] if answer["claim"] is not None else [])
    return _said(said, warnings)


def records(source: ProvenanceAnswer) -> str:
    """What was asked about."""
    return f"{source['n_members']} member and {source['n_nonmembers']} nonmember scores"


def said(answer: dict[str, Any]) -> str:
    """Only the sentence and the warnings, for when the numbers go to a file."""
    sentences = [answer["sentence"]] if "sentence" in answer else []
    return "\n".join(_said(sentences, answer.get("warnings", []))[1:])


def _said(sentences: Text, warnings: list[WarningAnswer]) -> Text:
    told = [*(plain(each) for each in sentences), *(f"note: {plain(each['message'])}" for each in warnings)]
    return ["", *told] if told else []


def _interval(name: str, given: IntervalAnswer, note: str) -> Row:
    return Row(name, given["estimate"], given["lower"], given["upper"], note)


def _group(group: GroupAnswer) -> Row:
    note = f"{group['records']}, {group['flagged']} flagged"
    return Row(f"group {shown(str(group['label']))}", group["risk"], group["lower"], group["upper"], note)


def _ranks(best: int, worst: int) -> str:
    return str(best) if best == worst else f"{best} to {worst}"


SHOWING = cast(
    "dict[str, Callable[[dict[str, Any]], Text]]",
    {
        **dict.fromkeys(THEORY, promises.text),
        "advantage": advantage,
        "report": report,
        "individual-risk": risk,
        "metrics": metrics,
        "compare": compare,
        "audit": audit,
        "gate": gate,
        "plan": plan,
        "counts": counts,
    },
)
"""How the answer of each operation is shown."""
