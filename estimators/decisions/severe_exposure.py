"""No pass stands beside a severe exposure that the same answer certifies, unless exposure was limited or accepted.

A limit on an average is kept by a score of which a few hundred members are nearly sure to be members. A pass would hide
them, and a fail would be wrong, for nothing that was limited is exceeded: the decision is open, and only the one who
decides can close it, by a limit on exposure or by accepting it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from estimators.clusters.design import Labels
from estimators.clusters.lone_rows import lone_rows, require_scores
from estimators.decisions.compare import same_order
from estimators.decisions.plan import Decision
from estimators.errors import TooFewRecords, require_open_unit
from estimators.privacy.epsilon import Direction
from estimators.privacy.exposure import Exposure, exposure
from estimators.sample.counts import Counts
from estimators.sample.scores import Scores
from estimators.statement import Caution

EXPOSED = "exposed"
"""Why a decision is open: the code of the caution, and of ``undecided_because``."""

Because = Literal["exposed"]

OF_EXPOSURE = frozenset({"tpr", "exposed", "epsilon"})
"""Limits that judge exposure themselves, by the names of their answers."""

WAYS = "limit exposure (max_tpr with at_fpr, max_exposed or max_epsilon, where they are offered)"


@dataclass(frozen=True, slots=True)
class Withheld:
    """Whether a pass is withheld, of whom that speaks, and what is said of it.

    Attributes:
        who: Whom the score exposes so surely that a pass would hide them, in words; empty if nobody.
        accepted: Whether exposure was accepted by name.
        limited: Whether something that judges exposure is among the limits.
    """

    who: str = ""
    accepted: bool = False
    limited: bool = False

    @classmethod
    def by(
        cls,
        exposures: Mapping[str, Exposure],
        limits: Iterable[str] = (),
        *,
        accepted: bool = False,
        one: str = "query",
    ) -> Withheld:
        """What the exposures of several queries withhold; they have to hold together.

        Args:
            exposures: For each query what it exposes; of a single one the name may be empty.
            limits: Names of what is limited.
            accepted: Whether exposure was accepted.
            one: What each of them is, in a word.
        """
        severe = {name: each for name, each in exposures.items() if each.severe}
        limited = not OF_EXPOSURE.isdisjoint(limits)
        if not severe:
            return cls("", accepted, limited)
        name = max(severe, key=lambda each: severe[each].members_epsilon)
        return cls(f"{f'{one} {name!r}: ' if name else ''}{severe[name].surely}", accepted, limited)

    def decide(self, plain: Decision) -> Decision:
        """The decision, open where it would be a pass that hides them."""
        return Decision.INCONCLUSIVE if self.because(plain) else plain

    def because(self, plain: Decision | None) -> Because | None:
        """``exposed`` where a pass is withheld."""
        hides = plain is Decision.PASS and self.who and not (self.accepted or self.limited)
        return "exposed" if hides else None

    @property
    def reason(self) -> str:
        """Why a pass is withheld and what to do, without its stop."""
        return (
            f"what is limited is kept, but a pass would hide that {self.who}; {WAYS}, or accept it by name "
            "(accept_exposure)"
        )

    @property
    def acceptance(self) -> str:
        """That it was accepted, in a sentence with a space before it; empty where it was not needed."""
        if not (self.who and self.accepted) or self.limited:
            return ""
        return f" Accepted by name (accept_exposure): {self.who}."

    def cautions(self, plain: Decision | None) -> tuple[Caution, ...]:
        """That a pass is withheld, or that it stands because exposure was accepted."""
        if self.because(plain):
            return (Caution(EXPOSED, self.reason),)
        if plain is Decision.PASS and self.acceptance:
            return (
                Caution("exposure_accepted", f"a pass stands beside this, for it was accepted: {self.who}"),
            )
        return ()


def exposures_of(
    queries: Mapping[str, Scores | Counts],
    prior: float = 0.5,
    confidence: float = 0.95,
    direction: Direction = Direction.HIGH,
    cluster: Labels | None = None,
    seed: int = 0,
) -> dict[str, Exposure]:
    """For each query whether some members are out of nonmembers' reach; the limits of all queries hold together.

    Args:
        queries: Scores of each query under its name, or their counts.
        prior: Probability that a record is a member before its score is seen, strictly between 0 and 1.
        confidence: Probability that both ends of an interval hold, strictly between 0 and 1.
        direction: Which end of the scores speaks for membership.
        cluster: Whom each row belongs to, if some belong together: rows of which no two share a label are looked at.
        seed: From which these rows are drawn.
    """
    same = same_order(queries)
    together = 1.0 - (1.0 - require_open_unit("confidence", confidence)) / max(1, len(queries) - len(same))
    if cluster is not None:
        try:
            queries = {name: lone_rows(require_scores(each), cluster, seed) for name, each in queries.items()}
        except TooFewRecords:  # too few rows of different people to show anything
            return {}
    exposures = {
        name: exposure(scores, together, prior, direction)
        for name, scores in queries.items()
        if name not in same
    }
    return {name: exposures[same[name][0] if name in same else name] for name in queries}
