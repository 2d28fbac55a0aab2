"""One answer: its numbers by name, and everything it can be written as."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import FrozenInstanceError, dataclass, field, fields
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar

from macekit.call import CSV, HTML, MARKDOWN
from macekit.client.display import Chart, Row, first, html, rows
from macekit.client.problems import as_mace_problems
from macekit.text import closest, printable

if TYPE_CHECKING:
    from macekit.reports.model import Context


def frame(operation: str, answer: Mapping[str, Any]) -> Any:
    """An answer's records, if it has any, bounds of theory, or a row for each statement; of pandas, or of Polars."""
    if isinstance(answer.get("records"), Mapping):
        columns = records(answer)
    elif operation == "theory/convert":
        columns = _entries(answer["rows"])
    else:
        columns = bounds(answer) if answer.get("bounds") else _statements(answer)
    if find_spec("pandas") is not None:
        import pandas as pd

        return pd.DataFrame(columns)
    if find_spec("polars") is not None:
        import polars as pl

        return pl.DataFrame(columns)
    raise ImportError("to_frame needs pandas or Polars; neither is installed")


def records(answer: Mapping[str, Any]) -> dict[str, Sequence[Any]]:
    """What is said of each record, column by column; without the optional ones that were not asked for."""
    return {name: column for name, column in answer["records"].items() if column is not None}


def bounds(answer: Mapping[str, Any]) -> dict[str, Sequence[Any]]:
    """The bounds of theory, one a row."""
    return _entries(answer["bounds"])


def _entries(objects: Sequence[Mapping[str, Any]]) -> dict[str, Sequence[Any]]:
    """A list of objects of the same names, one a row."""
    return {name: [each[name] for each in objects] for name in objects[0]}


def records_csv(answer: Mapping[str, Any]) -> bytes:
    """The same as CSV, as the service writes them: no text in them is a formula."""
    import pyarrow as pa
    from pyarrow import csv

    from macekit.reports.csv import disarm_formula

    columns = {
        name: [disarm_formula(each) if isinstance(each, str) else each for each in column]
        for name, column in records(answer).items()
    }
    sink = pa.BufferOutputStream()
    csv.write_csv(pa.table(columns), sink)
    return bytes(sink.getvalue())


def _statements(answer: Mapping[str, Any]) -> dict[str, Sequence[Any]]:
    numbers = rows(answer)
    return {each.name: [getattr(row, each.name) for row in numbers] for each in fields(Row)}


Made = TypeVar("Made")
Target = str | os.PathLike[str] | None

READ_AS_DICT = frozenset({"get", "items", "keys", "values"})
"""What a result has of a dict beside ``[]``: nothing that would change a copy."""


class Fields(dict[str, Any]):
    """A part of an answer, its fields also as attributes: ``result.advantage.lower``."""

    __slots__ = ()

    def __getattr__(self, name: str) -> Any:
        try:
            return _part(self[name])
        except KeyError:
            near = closest(name, self)
            hint = f"did you mean {near}?" if near else f"there are {', '.join(self)}"
            raise AttributeError(f"the answer has no {name}; {hint}") from None


def _part(value: Any) -> Any:
    if isinstance(value, dict):
        return Fields(value)
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return [Fields(each) for each in value]
    return value


def _unchangeable(answer: type[Made]) -> type[Made]:
    """Say of whatever is set or deleted what the standard library says of fields only."""

    def refuse(self: object, name: str, *value: object) -> None:
        raise FrozenInstanceError("an answer cannot be changed; to_dict() has values of one's own")

    for each in ("__setattr__", "__delattr__"):
        setattr(answer, each, refuse)
    return answer


@_unchangeable
@dataclass(frozen=True, slots=True, repr=False)
class Result:
    """The answer to one question, as the functions of ``macekit`` return it.

    The fields of ``answer`` are attributes, however deep (``result.advantage.lower``), and items
    (``result["advantage"]``); those of a report's ``result`` are attributes of the report, too. ``print(result)`` shows
    its numbers; in a notebook it shows itself. Everything it is written as is made from ``answer`` alone, and results
    are equal if they answer the same operation alike, whenever they came.

    Attributes:
        operation: What was asked, as the service calls it: ``advantage``, ``individual-risk``, ...
        answer: The service's JSON as a dict.
        source: Name of the file it was about; None if there was none.
        made: When the answer came; None if that is unknown.

    Example:
        >>> import macekit
        >>> counts = {"members": [20, 30, 50], "nonmembers": [50, 40, 10], "edges": [0.2, 0.7]}
        >>> result = macekit.estimate(counts=counts, max_advantage=0.1)
        >>> result.decision, round(result.advantage.lower, 3), round(result["advantage"]["lower"], 3)
        ('fail', 0.211, 0.211)
        >>> print(result)
        ✕ FAIL
        <BLANKLINE>
        Without any leak    0.000  the baseline: guessing without the score, at a prior of 0.5
        Acceptable at most    0.1  your limit
        Member records        100  and 100 nonmember records
        <BLANKLINE>
        Number                                                    Estimate  Lower end  Upper end  Confidence
        Optimal advantage                                            0.389      0.210      0.526         95%
        The paper's statistic W_N (its expectation)                  0.400      0.207      0.593         95%
        W_N on average if nothing leaks                              0.080
        Best accuracy                                                0.694      0.605      0.763         95%
        Area under the ROC (AUC)                                     0.735      0.663      0.797         95%
        True positive rate at a false positive rate of 0.001         0.000      0.000      0.602         95%
        True positive rate at a false positive rate of 0.01          0.000      0.000      0.602         95%
        True positive rate at a false positive rate of 0.1           0.500      0.000      0.874         95%
        Epsilon of the mechanism, if each record was a member by                0.668                    95%
        a coin of its own
        Epsilon of this score, not of the mechanism                             0.322                    95%
        <BLANKLINE>
        Fail: with 95% confidence the advantage is at least 0.210, above 0.1. With 95% confidence the advantage over a
        coin toss is at least 0.210, whoever reads this score, and at most 0.526 for attackers who see which of 3 groups
        of similar values the score falls in. A finer rule may do better.
        note: TPR at FPR 0.001: got 100 nonmembers, need at least 3,688 for a lower end above 0
        note: TPR at FPR 0.01: got 100 nonmembers, need at least 368 for a lower end above 0
    """

    operation: str
    answer: dict[str, Any]
    source: str | None = field(default=None, compare=False)
    made: str | None = field(default=None, compare=False)

    @classmethod
    def now(cls, operation: str, answer: dict[str, Any], source: str | None = None) -> Result:
        """An answer that has just come.

        Args:
            operation: What was asked, as the service calls it.
            answer: The service's JSON as a dict.
            source: Name of the file it was about; None if there was none.
        """
        from macekit.reports.model import minute

        return cls(operation, answer, source, minute())

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        if name in READ_AS_DICT:
            return getattr(self.answer, name)
        return Fields({**self._assessment, **self.answer}).__getattr__(name)  # and nothing else that a dict has

    def __hash__(self) -> int:
        return hash((self.operation, self.sentence))

    def __getitem__(self, name: str) -> Any:
        return self.answer[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.answer)

    def __contains__(self, name: object) -> bool:
        return name in self.answer

    def __dir__(self) -> list[str]:
        return sorted({*object.__dir__(self), *self.answer})

    @property
    def sentence(self) -> str:
        """What it comes to, in words; of several metrics, what the first one comes to."""
        statement = self.answer if "sentence" in self.answer else self.answer["metrics"][0]
        return str(statement["sentence"])

    @property
    def verdict(self) -> Fields | None:
        """The decision at a threshold with its reason, if one was asked for."""
        verdict = self._assessment.get("verdict")
        return None if verdict is None else Fields(verdict)

    @property
    def decision(self) -> str | None:
        """``pass``, ``fail`` or ``inconclusive``, of a gate or at a threshold; of a claim, what becomes of it."""
        own = (self.answer.get("gate") or self.answer).get("decision")
        return own if self.verdict is None else str(self.verdict["decision"])

    def require_pass(self) -> Self:
        """Itself, if the decision is a pass: any other is an error that says why.

        A pass that hides exposed members (``rare_exposure``) is a ``UserWarning``.

        Raises:
            LimitExceeded: the records show that a limit does not hold (``macekit.testing.LimitExceeded``).
            Inconclusive: the records are too few to say (``macekit.testing.Inconclusive``).
            ValueError: nothing was limited, so that nothing can pass.

        Example:
            >>> import macekit
            >>> counts = {"members": [20, 30, 50], "nonmembers": [50, 40, 10], "edges": [0.2, 0.7]}
            >>> macekit.gate(counts=counts, max_advantage=0.6).require_pass().decision
            'pass'
        """
        __tracebackhide__ = True
        settle(self)
        return self

    @property
    def _assessment(self) -> Mapping[str, Any]:
        answer: Mapping[str, Any] = self.answer["result"] if self.operation == "report" else self.answer
        return answer

    def to_json(self, path: Target = None) -> str:
        """The answer as the service sends it.

        Args:
            path: A file to write it to as well. None: it is only returned.
        """
        import msgspec

        return _write(msgspec.json.encode(self.answer), path)

    def to_dict(self) -> dict[str, Any]:
        """The same as plain values of one's own: changing them changes no result.

        Example:
            >>> import macekit
            >>> macekit.plan(expected=0.3, max_advantage=0.1).to_dict()["records"]
            256
        """
        return deepcopy(self.answer)

    def to_html(self, path: Target = None, *, dated: bool = False) -> str:
        """A report for a browser: one file that fetches nothing.

        Args:
            path: A file to write it to as well. None: it is only returned.
            dated: Whether it says when the answer came. Without it the same answer has the same bytes.

        Raises:
            ValueError: an answer of which there is no report, as of ``counts``.
        """
        return _write(self._render(HTML, dated=dated), path)

    def to_markdown(self, path: Target = None, *, dated: bool = False) -> str:
        """The report as Markdown.

        Args:
            path: A file to write it to as well. None: it is only returned.
            dated: As for ``to_html``.
        """
        return _write(self._render(MARKDOWN, dated=dated), path)

    def to_card(self, path: Target = None, *, dated: bool = False) -> str:
        """A section for a model card, as Markdown.

        Args:
            path: A file to write it to as well. None: it is only returned.
            dated: As for ``to_html``.
        """
        from macekit.reports.rendering import CARD

        return _write(self._render(CARD, dated=dated), path)

    def to_csv(self, path: Target = None, *, dated: bool = False) -> str:
        """The numbers as CSV; of a risk answer, its records.

        Args:
            path: A file to write it to as well. None: it is only returned.
            dated: As for ``to_html``; records have no time.

        Example:
            >>> import macekit
            >>> counts = {"members": [20, 30, 50], "nonmembers": [50, 40, 10], "edges": [0.2, 0.7]}
            >>> print(macekit.estimate(counts=counts).to_csv().splitlines()[0])
            "section","name","column","path","value","text"
        """
        if isinstance(self.answer.get("records"), Mapping):
            return _write(records_csv(self.answer), path)
        return _write(self._render(CSV, dated=dated), path)

    def to_frame(self) -> Any:
        """A row for each statement, of a risk answer for each record; pandas if it is installed, else Polars."""

        return frame(self.operation, self.answer)

    def charts(self) -> tuple[Chart, ...]:
        """Every picture there is of this answer.

        Example:
            >>> import macekit
            >>> counts = {"members": [20, 30, 50], "nonmembers": [50, 40, 10], "edges": [0.2, 0.7]}
            >>> [chart.name for chart in macekit.estimate(counts=counts).charts()]
            ['interval', 'roc', 'low-fpr']
        """
        if not self._has_report:
            return ()
        from macekit.reports.content import figures

        return tuple(Chart(figure) for figure in figures(self.operation, self.answer))

    def plot(self, chart: str | None = None) -> Chart:
        """One picture of this answer, by name; the first, if none is named.

        Args:
            chart: Its name, one of those that ``charts()`` has. None: the first.

        Raises:
            ValueError: there is no chart of this name, or of such an answer.
        """
        charts = {each.name: each for each in self.charts()}
        if not charts:
            raise ValueError(f"there is no chart of {self.operation}")
        name = chart or next(iter(charts))
        if name not in charts:
            near = closest(name, charts)
            hint = f"did you mean {near!r}?" if near else f"there are {', '.join(charts)}"
            raise ValueError(f"no chart has this name; {hint}")
        return charts[name]

    def __str__(self) -> str:
        from macekit.reports.text import text

        return text(self.operation, self.answer)

    def __repr__(self) -> str:
        return f"<Result {self.operation}: {self.sentence}>"

    def _repr_html_(self) -> str:
        return html(self.operation, self.answer, first(self.charts()))

    @property
    def _has_report(self) -> bool:
        """Whether there are reports of such an answer, or it is for programs."""
        from macekit.catalogue import FORMS

        return HTML in FORMS[self.operation]

    def _render(self, form: str, *, dated: bool) -> bytes:
        if not self._has_report:
            raise ValueError(f"there is no report of {self.operation}; to_json() has all of it")
        from macekit.reports.rendering import render

        with as_mace_problems():
            return render(self.operation, self.answer, form, self._context(dated=dated))

    def _context(self, *, dated: bool) -> Context:
        from macekit.reports.model import Context

        return Context(self.source, self.made if dated else None)


def _write(content: bytes, path: Target) -> str:
    if path is not None:
        Path(path).write_bytes(content)
    return content.decode()


class _NoPass(AssertionError):
    def __init__(self, message: str, result: Result) -> None:
        super().__init__(message)
        self.result = result

    def __reduce__(self) -> tuple[object, ...]:  # as `args` holds the message alone
        return type(self), (str(self), self.result)


class LimitExceeded(_NoPass):
    """The records show that a limit is exceeded.

    Attributes:
        message: Which limit, by how much, in words.
        result: The answer, a ``Result``.

    Example:
        >>> import macekit.testing
        >>> counts = {"members": [20, 30, 50], "nonmembers": [50, 40, 10], "edges": [0.2, 0.7]}
        >>> try:
        ...     macekit.testing.assert_advantage_below(0.1, None, counts=counts)
        ... except macekit.testing.LimitExceeded as error:
        ...     print(round(error.result.advantage.lower, 2), "is above 0.1")
        0.21 is above 0.1
    """


class Inconclusive(_NoPass):
    """The records are too few to say whether a limit holds.

    Attributes:
        message: Which limit is open, and how many records would settle it, in words.
        result: The answer, a ``Result``.
    """


def settle(result: Result) -> None:
    """Raise unless the decision is a pass; a warning names the line of its caller's caller."""
    __tracebackhide__ = True
    if result.decision == "pass":
        for each in result.answer.get("warnings", ()):
            if each["code"] == "rare_exposure":
                warnings.warn(f"{each['message']}", stacklevel=3)
        return
    assessment = result.answer.get("result", result.answer)
    lines = [result.sentence, *_limit_lines(assessment)]
    if result.decision == "not applicable":
        raise Inconclusive("\n".join([f"{_word(result.decision)}, which is no pass", *lines]), result)
    if result.decision in ("fail", "fail, or drift"):
        raise LimitExceeded("\n".join(lines), result)
    if result.decision != "inconclusive":
        raise ValueError(
            f"nothing that {result.operation} was asked is a limit, so nothing can pass; give one, such as "
            "max_advantage=0.1"
        )
    raise Inconclusive(
        "\n".join([f"{_word(result.decision)}, which is no pass", *lines, *_records_lines(assessment)]), result
    )


def _limit_lines(answer: Mapping[str, Any]) -> Iterator[str]:
    """What was held against a limit, with both ends."""
    from estimators.statement import exactly

    verdict = answer.get("verdict")
    if verdict is not None and "advantage" in answer:
        advantage, maximum = answer["advantage"], verdict["threshold"]
        yield verdict["reason"]
        yield (
            f"advantage {advantage['estimate']:.3f}, {100 * advantage['confidence']:.6g}% interval "
            f"{_ends(advantage, maximum)}, baseline {answer['baseline']:.3f}, maximum {exactly(maximum)}"
        )
    for each in answer.get("limits") or ():
        about = printable(each.get("about") or f"{each['name']}, {each['query']}", 120)
        yield f"{_word(each['decision'])}: {about}: {_ends(each, each['maximum'])}, maximum {exactly(each['maximum'])}"


def _word(decision: str) -> str:
    from macekit.reports.palette import WORDS

    return WORDS[decision].word.lower()


def _records_lines(answer: Mapping[str, Any]) -> Iterator[str]:
    """How many records settle it, where the answer says that apart from its sentence."""
    from estimators.statement import roughly

    statement = answer.get("verdict") or answer
    if "records_needed" in statement:
        records = statement["records_needed"]
        yield (
            "in practice no number of records will settle it"
            if records is None
            else f"records needed: about {roughly(records)}"
        )


def _ends(interval: Mapping[str, Any], maximum: float) -> str:
    """Rounded outward, with the digits it takes to stand on the right side of the maximum."""
    from estimators.statement import at_least, at_most

    lower, upper = interval["lower"], interval["upper"]
    above = at_least(lower, beyond=maximum) if lower > maximum else at_least(lower)
    if upper is None:
        return f"{above} to unbounded"
    return f"{above} to {at_most(upper, within=maximum) if upper <= maximum else at_most(upper)}"
