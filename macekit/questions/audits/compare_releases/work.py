"""``/v1/compare-releases``: which of several releases of one training set gives away least."""

from estimators.audits.releases import compare_releases
from estimators.decisions.verdict import overall
from macekit.call import Call, Reply
from macekit.decoding.body import DecodedBody
from macekit.operations import encode
from macekit.operations.effects import require_acceptance_acts
from macekit.operations.options import parse_question, provenance_options, reply_of
from macekit.operations.samples import by_release, clusters_of, queries_of, require_paired, with_counts
from macekit.questions.audits.compare_releases import CompareReleasesAnswer, CompareReleasesQuestion


def answer(call: Call, body: DecodedBody) -> Reply:
    """Each release by its riskiest query, the differences from one of them, and which keep the limit."""
    question = parse_question(CompareReleasesQuestion, body)
    require_acceptance_acts(question)
    samples = queries_of(body, question.query)
    cluster = clusters_of(body)
    require_paired(cluster, question.paired)
    # rows that match are compared record by record; counts are enough for everything else
    data = samples if question.paired else {name: with_counts(each) for name, each in samples.items()}
    result = compare_releases(
        by_release(data),
        question.against,
        question.max_advantage,
        question.prior,
        question.confidence,
        question.seed,
        question.paired,
        cluster,
        question.accept_exposure,
        body.cautions,
    )
    comparison, decisions = result.comparison, result.decisions
    first, options = comparison.ranking[0].advantage, provenance_options(question, call)
    others = [name for name in result.riskiest if name != result.against]
    content: CompareReleasesAnswer = {
        "sentence": result.sentence,
        "decision": overall(decisions.values()).value if decisions else None,
        "covers": list(result.covers),
        "undecided_because": encode.because(
            decisions.values(), (result.undecided_because.get(name) for name in decisions)
        ),
        "maximum": encode.interval(comparison.maximum),
        "baseline": first.baseline,
        "ranking": encode.ranking(comparison),
        "differences": [
            encode.difference(name, result.against, difference)
            for name, difference in zip(others, comparison.differences, strict=True)
        ],
        "releases": [
            {
                "name": place.name,
                "query": result.riskiest[place.name],
                "decision": decisions[place.name].value if decisions else None,
                "holds_up_to_changes": None if (reach := result.reach.get(place.name)) is None else reach.changes,
                "undecided_because": result.undecided_because.get(place.name),
            }
            for place in comparison.ranking
        ],
        "against": result.against,
        "max_advantage": question.max_advantage,
        "warnings": encode.warnings((*body.cautions, *comparison.cautions)),
        "provenance": encode.provenances(body, samples, first.provenance.method, question.seed, options),
    }
    return reply_of(call, content, *samples.values())
