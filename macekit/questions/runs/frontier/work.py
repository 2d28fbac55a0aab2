"""``/v1/frontier``: the most useful of several candidates that is shown to keep a limit."""

from estimators.decisions.verdict import Decision
from estimators.runs.frontier import frontier
from estimators.statement import baseline
from macekit.call import Call, Reply
from macekit.decoding.body import DecodedBody
from macekit.operations import encode
from macekit.operations.effects import require_acceptance_acts
from macekit.operations.options import parse_question, provenance_options, reply_of
from macekit.operations.samples import by_release, clusters_of, queries_of, with_counts
from macekit.questions.runs.frontier import FrontierAnswer, FrontierQuestion
from macekit.questions.runs.series.work import step_answer


def answer(call: Call, body: DecodedBody) -> Reply:
    """Every candidate with its decision, and the most useful of those that may go out."""
    question = parse_question(FrontierQuestion, body)
    require_acceptance_acts(question)
    options, cluster = provenance_options(question, call), clusters_of(body)
    samples = queries_of(body, question.query)
    result = frontier(
        by_release(samples if cluster else {name: with_counts(each) for name, each in samples.items()}),
        question.utility,
        question.max_advantage,
        is_ordered=question.in_order,
        cluster=cluster,
        doubts=body.cautions,
        **question.model_dump(include={"starts", "prior", "confidence", "seed", "accept_exposure"}),
    )
    content: FrontierAnswer = {
        "sentence": result.sentence,
        "decision": result.decision.value,
        "covers": list(result.covers),
        "best": None if result.best is None else str(result.best.label),
        "n_pass": sum(step.decision is Decision.PASS for step in result.steps),
        "n_candidates": len(result.steps),
        "max_advantage": question.max_advantage,
        "baseline": baseline(question.prior),
        "steps": [
            {
                **step_answer(step),
                "name": str(step.label),
                "utility": utility,
                "records_needed": step.records_needed,
                "clusters": encode.clusters(step.clusters),
            }
            for step, utility in zip(result.steps, result.utility, strict=True)
        ],
        "warnings": encode.warnings((*body.cautions, *result.cautions)),
        "provenance": encode.provenances(body, samples, "frontier", question.seed, options),
    }
    return reply_of(call, content, *samples.values())
