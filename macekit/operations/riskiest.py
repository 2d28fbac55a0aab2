"""What several queries of one model or release answer alike: limits, their ranking, and where each comes from."""

from collections.abc import Iterable, Mapping, Sequence

from estimators import Counts, Scores
from estimators.decisions.compare import Comparison
from estimators.decisions.plan import Because, Decision, overall
from estimators.decisions.riskiest import RiskiestLimit
from macekit.decoding.body import DecodedBody
from macekit.decoding.columns_read import columns_by_query
from macekit.operations import encode
from macekit.schemas.answers import (
    RankedAnswer,
    RiskiestLimitAnswer,
)
from macekit.schemas.statements import ProvenanceAnswer


def provenances(
    body: DecodedBody,
    samples: Mapping[str, Scores | Counts],
    method: str,
    seed: int,
    options: dict[str, object],
) -> list[ProvenanceAnswer]:
    """Where each of several queries comes from."""
    read = columns_by_query(body)
    return [
        encode.provenance(data, method, seed, options, encode.columns(read[name]))
        for name, data in samples.items()
    ]


def limits(judged: Sequence[RiskiestLimit]) -> list[RiskiestLimitAnswer] | None:
    """Each limit with its decision; None if nothing was limited."""
    return [
        {
            **encode.interval(limit.estimate),
            "name": limit.name,
            "maximum": limit.maximum,
            "decision": limit.decision.value,
            "query": limit.query,
            "reason": limit.reason,
            "holds_up_to_changes": limit.holds_up_to_changes,
            "ranges": limit.ranges,
            "threshold": None if limit.threshold is None else encode.interval(limit.threshold),
        }
        for limit in judged
    ] or None


def because(decisions: Iterable[Decision], reasons: Iterable[Because | None]) -> Because | None:
    """Why the decision over several is open or not applicable, if for nothing else."""
    if overall(decisions) not in (Decision.INCONCLUSIVE, Decision.NOT_APPLICABLE):
        return None
    return next(filter(None, reasons), None)


def ranking(comparison: Comparison) -> list[RankedAnswer]:
    """Every query with its advantage, the riskiest first."""
    return [
        {
            "name": place.name,
            "advantage": encode.certified(place.advantage),
            "best_rank": place.best_rank,
            "worst_rank": place.worst_rank,
        }
        for place in comparison.ranking
    ]
