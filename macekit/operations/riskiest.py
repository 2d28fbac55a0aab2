"""What several queries of one model or release answer alike: limits, their ranking, and where each comes from."""

from collections.abc import Iterable, Mapping, Sequence

from estimators import Counts, Scores
from estimators.decisions.compare import Comparison
from estimators.decisions.plan import Because, Decision, overall
from estimators.decisions.riskiest import RiskiestLimit
from macekit.decoding.body import DecodedBody
from macekit.decoding.columns_read import columns_by_query
from macekit.operations import encode
from macekit.schemas.answers import RankedAnswer, RiskiestLimitAnswer
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
        encode.as_answer(
            RiskiestLimitAnswer,
            limit,
            **encode.interval(limit.estimate),
            decision=limit.decision.value,
            threshold=None if limit.threshold is None else encode.interval(limit.threshold),
        )
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
        encode.as_answer(RankedAnswer, place, advantage=encode.certified(place.advantage))
        for place in comparison.ranking
    ]
