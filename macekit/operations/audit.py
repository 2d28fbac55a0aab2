"""``/v1/audit``: what was promised against what the records show."""

from __future__ import annotations

from estimators import Counts, advantage
from estimators.audit.epsilon import check_claim, epsilon_lower_bound
from macekit.call import Call, Reply
from macekit.decoding.body import DecodedBody
from macekit.operations import encode
from macekit.operations.effects import require_direction_acts
from macekit.operations.options import parse_question, provenance_options, reply_of
from macekit.operations.samples import one_score, sample_of, with_counts
from macekit.schemas.answers import AuditAnswer
from macekit.schemas.questions import AuditQuestion


def answer(call: Call, body: DecodedBody) -> Reply:
    """A lower bound on epsilon, the claim held against it, and the advantage beside the claim's ceiling."""
    question = parse_question(AuditQuestion, body)
    data = sample_of(body, question)
    require_direction_acts(question.direction, data)
    scores, learned = one_score(data, question)
    counts = with_counts(scores) if learned is None else learned.counts
    assert isinstance(counts, Counts)
    q = question
    claim = None
    if q.claimed_epsilon is None:
        bound = epsilon_lower_bound(counts, q.confidence, q.claimed_delta, q.direction, q.seed)
    else:
        claim = check_claim(
            counts, q.claimed_epsilon, q.claimed_delta, q.confidence, q.prior, q.direction, q.seed
        )
        bound = claim.bound
    result = advantage(counts, q.prior, confidence=q.confidence, seed=q.seed)
    document: AuditAnswer = {
        "sentence": bound.sentence if claim is None else claim.sentence,
        "epsilon": encode.epsilon(bound),
        "claim": None if claim is None else encode.claim(claim),
        "advantage": encode.certified(result),
        "baseline": result.baseline,
        "learned_score": encode.learned_score(learned or counts),
        "warnings": encode.warnings(
            (
                *body.cautions,
                *counts.doubts,
                *(() if learned is None else (learned.caution,)),
                *bound.cautions,
                *result.cautions,
            )
        ),
        "provenance": encode.provenance(
            data, "one-run epsilon", q.seed, provenance_options(q, call), encode.columns_of(body)
        ),
    }
    return reply_of(call, document, data)
