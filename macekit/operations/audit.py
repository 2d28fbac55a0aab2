"""``/v1/audit``: what was promised against what the records show."""

from __future__ import annotations

from estimators import Counts, advantage
from estimators.audit.epsilon import check_claim, epsilon_lower_bound
from macekit.call import Call, Reply
from macekit.decoding.body import DecodedBody
from macekit.operations import encode
from macekit.operations.options import question_of, reply_of, stated
from macekit.operations.samples import counted, sample_of
from macekit.problems import Problem
from macekit.schemas.answers import AuditAnswer
from macekit.schemas.questions import AuditQuestion


def answer(call: Call, material: DecodedBody) -> Reply:
    """A lower bound on epsilon, the claim held against it, and the advantage beside the claim's ceiling."""
    question = question_of(AuditQuestion, material)
    data = sample_of(material, question)
    counts = counted(data)
    if not isinstance(counts, Counts):
        raise Problem(
            "bad-option",
            "audit: a vector has no highest and lowest scores to guess about; send one score for each record",
            field="members",
        )
    q = question
    claim = None
    if q.claimed_epsilon is None:
        bound = epsilon_lower_bound(counts, q.confidence, q.claimed_delta, q.direction, q.seed)
    else:
        claim = check_claim(
            counts, q.claimed_epsilon, q.claimed_delta, q.confidence, q.prior, q.direction, q.seed
        )
        bound = claim.bound
    found = advantage(counts, q.prior, confidence=q.confidence, seed=q.seed)
    answered: AuditAnswer = {
        "sentence": bound.sentence if claim is None else claim.sentence,
        "epsilon": encode.epsilon(bound),
        "claim": None if claim is None else encode.claim(claim),
        "advantage": encode.certified(found),
        "baseline": found.baseline,
        "warnings": encode.warnings((*bound.cautions, *found.cautions)),
        "provenance": encode.provenance(data, "one-run epsilon", q.seed, stated(q, call)),
    }
    return reply_of(call, answered, data)
