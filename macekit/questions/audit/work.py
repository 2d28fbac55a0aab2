"""``/v1/audit``: what was promised against what the records show."""

from estimators import advantage
from estimators.clusters.dependent_rows import lone_caution
from estimators.privacy.epsilon import check_claim, epsilon_lower_bound
from macekit.call import Call, Reply
from macekit.decoding.body import DecodedBody
from macekit.operations import encode
from macekit.operations.effects import require_direction_acts
from macekit.operations.options import parse_question, provenance, reply_of
from macekit.operations.samples import clusters_of, lone_of, one_score, sample_of
from macekit.questions.audit import AuditAnswer, AuditQuestion


def answer(call: Call, body: DecodedBody) -> Reply:
    """A lower bound on epsilon, the claim held against it, and the advantage beside the claim's ceiling."""
    question = parse_question(AuditQuestion, body)
    data = sample_of(body, question)
    require_direction_acts(question.direction, data)
    cluster = clusters_of(body)
    lone = lone_of(data, cluster, question.seed)
    counts, learned = one_score(lone, question)
    q = question
    claim = None
    if q.claimed_epsilon is None:
        bound = epsilon_lower_bound(counts, q.confidence, q.claimed_delta, q.direction, q.seed)
    else:
        claim = check_claim(counts, q.claimed_epsilon, q.claimed_delta, q.confidence, q.prior, q.direction, q.seed)
        bound = claim.bound
    whole, of_rows = (counts, None) if cluster is None or learned is not None else (data, cluster)
    result = advantage(whole, q.prior, confidence=q.confidence, seed=q.seed, cluster=of_rows)
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
                *lone_caution(lone, data, "the advantage uses"),
                *(() if learned is None else (learned.caution,)),
                *bound.cautions,
                *result.cautions,
            )
        ),
        "provenance": provenance(call, q, body, data, "one-run epsilon"),
    }
    return reply_of(call, document, data)
