"""``/v1/advantage``: everything about one sample."""

from estimators import Assessment, AssessOptions, Counts, Scores, assess
from macekit.call import Call, Reply
from macekit.decoding.body import DecodedBody
from macekit.operations import effects, encode
from macekit.operations.options import metric, parse_question, provenance_options, reading, reply_of, target
from macekit.operations.samples import clusters_of, sample_of
from macekit.problems import fault
from macekit.questions.advantage import AdvantageQuestion


def answer(call: Call, body: DecodedBody) -> Reply:
    """The optimal advantage with its interval, and what belongs to it."""
    question = parse_question(AdvantageQuestion, body)
    data = sample_of(body, question)
    return reply_of(
        call,
        encode.assessment(
            assessed(data, question, body), data, provenance_options(question, call), encode.columns_of(body)
        ),
        data,
    )


SET = "set_members", "set_nonmembers"
AS_THEY_ARE = {"prior", "confidence", "seed", "claimed_epsilon", "claimed_delta", *SET, "accept_exposure"}
"""Options that the library takes by the same names."""


def assessed(
    data: Scores | Counts, question: AdvantageQuestion, body: DecodedBody, *, with_limit: bool = True
) -> Assessment:
    """Everything the library has to say to the question, and first what is odd about the rows.

    ``with_limit`` says whether its limit is judged here, and not with others.
    """
    adversaries = target(question.estimator, question.changes)
    require_advantage_acts(question, data, units=body.units is not None)
    return assess(
        data,
        AssessOptions(
            target=adversaries,
            metric=None if question.metric is None else metric(question.metric, question.prior),
            max_advantage=question.max_advantage if with_limit else None,
            operating_points=tuple(question.operating_points),
            reading=reading(question.estimator, question.seed),
            **question.model_dump(include=AS_THEY_ARE),
        ),
        clusters_of(body),
        body.cautions,
    )


def require_advantage_acts(question: AdvantageQuestion, data: Scores | Counts, *, units: bool) -> None:
    """Refuse what changes nothing in an answer of ``/v1/advantage`` and in a report."""
    estimator = question.estimator
    effects.require_estimator_acts(estimator, data, paper=True)
    if question.changes is not None:
        effects.require_changes_act("changes", estimator, data)
    limited = question.max_advantage is not None or getattr(question, "max_group_advantage", None) is not None
    if estimator.accept_learned_score is not None and not limited:
        message = "without max_advantage there is no verdict that could pass"
        raise effects.useless("estimator.accept_learned_score", message)
    effects.require_acceptance_acts(question)
    for name in SET:
        if getattr(question, name) is not None and units:
            detail = (
                "goes with records that were drawn from the set one by one, and units keep one of several; "
                "name one of both"
            )
            raise fault("bad-option", name, detail)
    boxes = isinstance(data, Scores) and data.dimension > 1 and estimator.kind == "histogram"
    effects.require_points_act(question, data, ordered=None if not boxes else False)
