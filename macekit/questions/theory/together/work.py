"""``/v1/theory/together``: a claimed epsilon and delta beside the records, quantity by quantity."""

from estimators.clusters.dependent_rows import lone_caution
from estimators.theory.agreement import Row, agreement
from macekit.call import Call, Reply
from macekit.decoding.body import DecodedBody
from macekit.operations import encode
from macekit.operations.effects import require_direction_acts, require_points_act
from macekit.operations.encode import as_answer, finite
from macekit.operations.options import parse_question, provenance, reply_of
from macekit.operations.samples import clusters_of, lone_of, sample_of, with_counts
from macekit.questions.theory.together import AgreementAnswer, TogetherAnswer, TogetherQuestion


def answer_together(call: Call, body: DecodedBody) -> Reply:
    """Rows of what is allowed and what was measured."""
    q = parse_question(TogetherQuestion, body)
    data = sample_of(body, q)
    require_direction_acts(q.direction, data)
    require_points_act(q, data)
    lone = lone_of(data, clusters_of(body), q.seed)
    result = agreement(
        with_counts(lone),
        q.claimed_epsilon,
        q.claimed_delta,
        q.prior,
        q.confidence,
        q.operating_points,
        q.adjacency,
        q.inclusion,
        q.direction,
        q.seed,
    )
    response = as_answer(
        TogetherAnswer,
        result,
        claimed_epsilon=result.epsilon,
        claimed_delta=result.delta,
        rows=[_row(row) for row in result.rows],
        warnings=encode.warnings((*body.cautions, *lone_caution(lone, data), *result.cautions)),
        provenance=provenance(call, q, body, data, call.operation),
    )
    return reply_of(call, response, data)


def _row(row: Row) -> AgreementAnswer:
    ends = {**encode.interval(row.estimate), "upper": finite(row.estimate.upper)}
    allowed, in_one_run = finite(row.ceiling), finite(row.in_one_run)
    return as_answer(AgreementAnswer, row, allowed=allowed, allowed_in_one_run=in_one_run, **ends)
