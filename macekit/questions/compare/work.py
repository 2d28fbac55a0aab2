"""``/v1/compare``: several queries of one model, or several models, side by side."""

from collections.abc import Mapping
from itertools import combinations

from estimators import Caution, Counts, LearnedTarget, Scores, compare
from estimators.adversary.targets import Target
from estimators.clusters.design import Labels
from estimators.decisions.exposed_members import doubts_of, exposures_of
from estimators.decisions.maxima import MaxAdvantage
from estimators.decisions.riskiest import RiskiestLimit, judge_groups, judge_queries, verdict_of
from estimators.decisions.verdict import Decision, beneath_baseline
from estimators.optimum.ends import is_vector
from estimators.privacy.direction import Direction
from estimators.sample.plain_arrays import labels_of
from macekit.call import Call, Reply
from macekit.decoding.body import DecodedBody
from macekit.operations import encode
from macekit.operations.effects import require_acceptance_acts, require_estimator_acts
from macekit.operations.options import parse_question, provenance_options, reply_of, target
from macekit.operations.samples import clusters_of, queries_of, require_paired, with_counts
from macekit.problems import Problem, fault, unknown_column
from macekit.questions.compare import CompareAnswer, CompareQuestion

MOST_PAIRS = 45
"""All pairs of up to ten; beyond, their intervals are so wide that one to compare with must be named."""


def answer(call: Call, body: DecodedBody) -> Reply:
    """A ranking with the ranks each may truly have, the largest, and the differences."""
    question = parse_question(CompareQuestion, body)
    require_acceptance_acts(question)
    if question.estimator.accept_learned_score is not None:
        detail = "a comparison judges no learned score; remove it"
        raise fault("bad-option", "estimator.accept_learned_score", detail)
    samples = queries_of(body, question.query)
    require_estimator_acts(question.estimator, *samples.values(), paper=False)
    estimator_target = target(question.estimator)
    learned = isinstance(estimator_target, LearnedTarget)
    cluster = clusters_of(body)
    require_paired(cluster, question.paired)
    # rows that match are compared record by record; counts are enough for everything else
    data = {name: each if learned or question.paired else with_counts(each) for name, each in samples.items()}
    limits = _verdict(question, data, estimator_target, cluster)
    limits += _of_groups(question, body, samples, estimator_target, cluster)
    pairs, cautions = _pairs(question, list(data))
    result = compare(
        data, question.prior, estimator_target, question.confidence, question.seed, pairs, question.paired, cluster
    )
    exposures = {}
    if limits and all(limit.decision is Decision.PASS for limit in limits):
        exposures = exposures_of(data, question.prior, question.confidence, Direction.EITHER, cluster, question.seed)
    odd = (*body.cautions, *(doubts_of(data, clustered=cluster is not None) if limits else ()))
    verdict = verdict_of(limits, None, "", None, exposures, question.accept_exposure, odd)
    first, options = result.ranking[0].advantage, provenance_options(question, call)
    notes = [note for limit in limits for note in beneath_baseline(limit.maximum, first.baseline)]
    document: CompareAnswer = {
        "sentence": f"{verdict.sentence} {result.sentence}".lstrip(),
        "decision": None if verdict.decision is None else verdict.decision.value,
        "covers": list(verdict.covers),
        "undecided_because": verdict.undecided_because,
        "limits": encode.limits_over_queries(limits),
        "maximum": encode.interval(result.maximum),
        "baseline": first.baseline,
        "ranking": encode.ranking(result),
        "differences": [
            encode.difference(a, b, difference) for (a, b), difference in zip(pairs, result.differences, strict=True)
        ],
        "warnings": encode.warnings((*body.cautions, *verdict.cautions, *notes, *result.cautions, *cautions)),
        "provenance": encode.provenances(body, samples, first.provenance.method, question.seed, options),
    }
    return reply_of(call, document, *samples.values())


def _verdict(
    question: CompareQuestion,
    queries: Mapping[str, Scores | Counts],
    adversaries: Target | None,
    cluster: Labels | None,
) -> tuple[RiskiestLimit, ...]:
    """The limit, held against every query; none if none was given."""
    if question.max_advantage is None:
        return ()
    _require_numbers("max_advantage", queries, adversaries)
    limit, further = (MaxAdvantage(question.max_advantage, adversaries), question.max_group_advantage is not None)
    return judge_queries((limit,), queries, question.prior, question.confidence, question.seed, int(further), cluster)


def _of_groups(
    question: CompareQuestion,
    body: DecodedBody,
    queries: Mapping[str, Scores | Counts],
    adversaries: Target | None,
    cluster: Labels | None,
) -> tuple[RiskiestLimit, ...]:
    """The limit on each group by itself, held against every query; none if none was given."""
    if question.max_group_advantage is None and body.groups is None:
        return ()
    if question.max_group_advantage is None:
        detail = "groups apply only with max_group_advantage; remove them, or add it"
        raise Problem("bad-option", detail, field="groups")
    if body.groups is None:
        raise fault("missing-field", "groups", "max_group_advantage needs a label for each record")
    if not question.paired:
        words = (
            "their labels are those of every query's rows, so the samples are not independent; leave paired "
            "out, or ask about each query by itself"
        )
        raise fault("bad-option", "groups", words)
    _require_numbers("max_group_advantage", queries, adversaries)
    scores = {name: each for name, each in queries.items() if isinstance(each, Scores)}
    if len(scores) < len(queries):
        raise fault(
            "bad-option",
            "groups",
            "counts hold no records, so none can be told to be in a group; give the records of each query",
        )
    limit = judge_groups(
        question.max_group_advantage,
        scores,
        dict.fromkeys(scores, labels_of(body.groups, "groups")),
        question.prior,
        question.confidence,
        question.seed,
        int(question.max_advantage is not None),
        cluster,
        adversaries,
    )
    return (limit,)


def _require_numbers(field: str, queries: Mapping[str, Scores | Counts], adversaries: Target | None) -> None:
    """Refuse to judge what is read of vectors."""
    if isinstance(adversaries, LearnedTarget) or any(map(is_vector, queries.values())):
        detail = (
            "is judged of one number a record, and a learned score of a vector is not all that an "
            "attacker may read; ask /v1/gate about each vector"
        )
        raise fault("bad-option", field, detail)


def _pairs(question: CompareQuestion, names: list[str]) -> tuple[list[tuple[str, str]], list[Caution]]:
    """Which are subtracted from which."""
    if question.against is not None:
        if question.against not in names:
            raise unknown_column("against", question.against, names, "query")
        return [(name, question.against) for name in names if name != question.against], []
    pairs = list(combinations(names, 2))
    if len(pairs) <= MOST_PAIRS:
        return pairs, []
    message = f"{len(pairs)} pairs are too many to compare; name the query to compare with in against"
    return [], [Caution("too_many_pairs", message)]
