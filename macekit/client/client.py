"""What theory promises, as methods: ``macekit.theory.dp(epsilon=1)``, and the same of a server.

Arrays come as lists, NumPy arrays or frames; a table or a file holds all of them, and its columns are then named.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any, Unpack

from macekit.client.body import File
from macekit.client.options import (
    AuditOptions,
    CompareOptions,
    CountsOptions,
    Data,
    DpOptions,
    EstimateOptions,
    GateOptions,
    MetricsOptions,
    MipFiniteOptions,
    MipOptions,
    MisOptions,
    MisOverfittingOptions,
    PlanOptions,
    PmpExponentialOptions,
    PmpGaussianOptions,
    ReportOptions,
    RiskOptions,
    TogetherOptions,
    Values,
)
from macekit.client.problems import MaceProblem, answer_of
from macekit.client.question import Question, pose, pose_arrays, pose_several
from macekit.client.result import Result

Ask = Callable[[Callable[[], Question]], Result]
"""Whoever answers a question once it is posed."""


class Theory:
    """The questions of theory, of one who answers."""

    def __init__(self, ask: Ask) -> None:
        self._ask = ask

    def dp(self, **options: Unpack[DpOptions]) -> Result:
        """What a promise of differential privacy allows, every bound side by side."""
        return self._ask(partial(pose, "dp", "theory/dp", None, None, options))

    def together(
        self, members: Data = None, nonmembers: Values = None, **options: Unpack[TogetherOptions]
    ) -> Result:
        """A claimed epsilon and delta: what theory allows, what was measured, whether they agree."""
        return self._ask(partial(pose, "together", "theory/together", members, nonmembers, options))

    def mip(
        self,
        draws: Data = None,
        *,
        before: Values = None,
        after: Values = None,
        record: Values = None,
        **options: Unpack[MipOptions],
    ) -> Result:
        """Membership inference privacy: the noise that keeps every attack within ``eta`` of guessing."""
        arrays = {"draws": draws, "before": before, "after": after, "record": record}
        return self._arrays("mip", arrays, options)

    def mip_finite(self, laws: Data, **options: Unpack[MipFiniteOptions]) -> Result:
        """Membership inference privacy of an algorithm with finitely many outputs, exactly."""
        return self._arrays("mip_finite", {"laws": laws}, options)

    def mis(
        self,
        values: Data = None,
        *,
        tallies: Values = None,
        probabilities: Values = None,
        **options: Unpack[MisOptions],
    ) -> Result:
        """Membership inference security: what any algorithm may give away of data in categories."""
        arrays = {"values": values, "tallies": tallies, "probabilities": probabilities}
        return self._arrays("mis", arrays, options)

    def mis_overfitting(
        self, train_losses: Data, heldout_losses: Values = None, **options: Unpack[MisOverfittingOptions]
    ) -> Result:
        """Membership inference security: what training and held-out losses say it can be at most."""
        arrays = {"train_losses": train_losses, "heldout_losses": heldout_losses}
        return self._arrays("mis_overfitting", arrays, options)

    def pmp_exponential(self, losses: Data, **options: Unpack[PmpExponentialOptions]) -> Result:
        """Practical membership privacy of an exponential mechanism, on these records."""
        return self._arrays("pmp_exponential", {"losses": losses}, options)

    def pmp_gaussian(self, points: Data, **options: Unpack[PmpGaussianOptions]) -> Result:
        """Practical membership privacy of a sum or a mean with Gaussian noise, on these records."""
        return self._arrays("pmp_gaussian", {"points": points}, options)

    def _arrays(self, name: str, arrays: Mapping[str, object], options: Mapping[str, Any]) -> Result:
        operation = f"theory/{name.replace('_', '-')}"
        return self._ask(partial(pose_arrays, name, operation, arrays, options))


# --- client -------------------------------------------------------------------------------------------------
# The questions as methods: the same for what answers here and for a server, which differ in one method.


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
    from estimators import MaceError
    from macekit.problems import Problem

    try:
        yield
    except Problem as problem:
        raise MaceProblem.of(problem.reply()) from None
    except MaceError as error:
        raise MaceProblem.of(Problem.of(error).reply()) from None
    except UnicodeEncodeError:
        told = "a name or an option holds half of a surrogate pair: no text that could be sent"
        raise MaceProblem.of(Problem("malformed-body", told).reply()) from None


# --- local --------------------------------------------------------------------------------------------------
# Questions answered in this process, by the operations of the service; arrays reach them as they are.


class Local(Client):
    """What answers here."""

    def __repr__(self) -> str:
        return "macekit.client.client.Local()"

    def _answer(self, question: Question) -> dict[str, Any]:
        from macekit.call import Call
        from macekit.operations import answer, perform
        from macekit.schemas.query import spelled

        records, options = question.records, dict(question.options)
        if isinstance(records, File):
            pairs = spelled(options)
            if pairs is not None:
                with records.body() as body:
                    reply = perform(records.call(question.operation, question.roles + pairs), body)
                return answer_of(question.operation, reply)
            records = records.material(question.operation, question.roles)
        reply = answer(Call(question.operation), replace(records, options=options, textual=False))
        return answer_of(question.operation, reply)
