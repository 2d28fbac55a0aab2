"""The questions as methods: the same for what answers here and for a server, which differ in one method."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Unpack

from macekit.options import (
    AuditOptions,
    CompareOptions,
    CountsOptions,
    Data,
    EstimateOptions,
    GateOptions,
    MetricsOptions,
    PlanOptions,
    ReportOptions,
    RiskOptions,
    Values,
)
from macekit.posing import Question, pose, pose_several
from macekit.problems import MaceProblem
from macekit.result import Result
from macekit.theories import Theory


class Client(ABC):
    """Whoever answers questions.

    Scores come as members and nonmembers; or as a table (any frame, Arrow, a dict of columns) or a file that holds
    both, its columns named by ``score=``, ``member=``, ``group=`` and ``unit=`` where they have not the usual names.
    """

    @abstractmethod
    def _answer(self, question: Question) -> dict[str, Any]:
        """The answer, its JSON decoded; raises ``MaceProblem``."""

    def estimate(
        self, members: Data = None, nonmembers: Values = None, **options: Unpack[EstimateOptions]
    ) -> Result:
        """The optimal membership advantage, certified, and what belongs to it."""
        return self._asked("estimate", "advantage", members, nonmembers, options)

    def report(
        self, members: Data = None, nonmembers: Values = None, **options: Unpack[ReportOptions]
    ) -> Result:
        """Everything about one sample: the advantage, distributions, ROC, individual risk and groups."""
        return self._asked("report", "report", members, nonmembers, options)

    def risk(self, members: Data = None, nonmembers: Values = None, **options: Unpack[RiskOptions]) -> Result:
        """The risk of each record, and of each group; ``top=k`` keeps the most surely exposed."""
        return self._asked("risk", "individual-risk", members, nonmembers, options)

    def metrics(
        self, members: Data = None, nonmembers: Values = None, **options: Unpack[MetricsOptions]
    ) -> Result:
        """Several accuracy-like metrics, each at its optimum."""
        return self._asked("metrics", "metrics", members, nonmembers, options)

    def compare(self, queries: Data, **options: Unpack[CompareOptions]) -> Result:
        """Several scores of one model, or several models: ``{name: (members, nonmembers)}``, or a table."""
        return self._posed(lambda: pose_several(queries, options))

    def audit(
        self, members: Data = None, nonmembers: Values = None, **options: Unpack[AuditOptions]
    ) -> Result:
        """A promised epsilon against what the records show."""
        return self._asked("audit", "audit", members, nonmembers, options)

    def plan(self, **options: Unpack[PlanOptions]) -> Result:
        """How many records a decision at a threshold takes, or an interval of a width."""
        return self._asked("plan", "plan", None, None, options)

    def counts(
        self, members: Data = None, nonmembers: Values = None, **options: Unpack[CountsOptions]
    ) -> Result:
        """Scores as counts that merge with any others, or several ``shards=`` merged."""
        return self._asked("counts", "counts", members, nonmembers, options)

    def gate(self, members: Data = None, nonmembers: Values = None, **options: Unpack[GateOptions]) -> Result:
        """Limits that must hold: pass, fail, or inconclusive with the records still needed."""
        return self._asked("gate", "gate", members, nonmembers, options)

    @property
    def theory(self) -> Theory:
        """What theory promises: differential privacy, and three papers, a question each."""
        return Theory(self._posed)

    def _asked(
        self, name: str, operation: str, members: object, nonmembers: object, options: Mapping[str, Any]
    ) -> Result:
        return self._posed(lambda: pose(name, operation, members, nonmembers, options))

    def _posed(self, posing: Callable[[], Question]) -> Result:
        with _told():
            question = posing()
        return self._result(question)

    def _result(self, question: Question) -> Result:
        with _told():
            return Result.now(question.operation, self._answer(question), question.source)


@contextmanager
def _told() -> Iterator[None]:
    """Whatever is found wrong here is told as the service would tell it."""
    from app.problems import Problem
    from estimators import MaceError

    try:
        yield
    except Problem as problem:
        raise MaceProblem.of(problem.reply()) from None
    except MaceError as error:
        raise MaceProblem.of(Problem.of(error).reply()) from None
    except UnicodeEncodeError:
        told = "a name or an option holds half of a surrogate pair: no text that could be sent"
        raise MaceProblem.of(Problem("malformed-body", told).reply()) from None
