"""``/v1/series``: the advantage at every step of a series, and how far a limit is kept."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from estimators import Counts, Scores
from estimators.decisions.verdict import Because, overall
from estimators.errors import TooFewRecords
from estimators.risk.groups import codes_of
from estimators.runs.series import Series, Step, advantage_series
from estimators.sample.counting import finest
from estimators.sample.doubts import REPEATED, of_cells
from estimators.sample.parts import by_value
from estimators.sample.plain_arrays import labels_of
from estimators.sample.scores import MIN_RECORDS
from estimators.statement import Caution, baseline
from macekit.call import Call, Reply
from macekit.decoding.body import DecodedBody
from macekit.operations import encode
from macekit.operations.effects import require_acceptance_acts
from macekit.operations.options import parse_question, provenance_options, reply_of
from macekit.operations.samples import (
    by_release,
    clusters_of,
    counts_by_type,
    data_of,
    groups_of_counts,
    groups_of_records,
    queries_of,
    require_query_acts,
    with_counts,
)
from macekit.problems import Problem, fault
from macekit.questions.runs.series import SeriesAnswer, SeriesQuestion
from macekit.schemas.answers import StepAnswer
from macekit.schemas.statements import DecisionWord, ProvenanceAnswer
from macekit.text import in_order, label_name


def answer(call: Call, body: DecodedBody) -> Reply:
    """Every step with its interval, in the order in which the steps came, or in that of their labels."""
    question = parse_question(SeriesQuestion, body)
    require_acceptance_acts(question)
    options, cluster = provenance_options(question, call), clusters_of(body)
    samples: Mapping[str, Scores | Counts]
    steps: dict[str, dict[str, Scores | Counts]]
    sources: list[ProvenanceAnswer]
    if "" in body.samples:
        if cluster:
            detail = (
                "steps that a column tells apart are counted, and counts do not say whose a row is; give "
                "each step as a column of scores"
            )
            raise fault("bad-option", "cluster", detail)
        samples = _by_label(body, question.query)
        steps = {label: {label: data} for label, data in samples.items()}
        read = encode.columns_of(body)
        sources = [encode.provenance(data, "series", question.seed, options, read) for data in samples.values()]
    else:
        if body.groups is not None:
            raise fault("bad-option", "groups", "queries are the steps already; send one or the other")
        samples = queries_of(body, question.query)
        steps = by_release(samples if cluster else {name: with_counts(each) for name, each in samples.items()})
        sources = encode.provenances(body, samples, "series", question.seed, options)
    series = advantage_series(
        steps,
        question.max_advantage,
        question.prior,
        question.confidence,
        question.seed,
        cluster,
        question.accept_exposure,
        body.cautions,
    )
    last, failed = series.last_passed, series.first_failed
    content: SeriesAnswer = {
        "sentence": series.sentence,
        "decision": decision_of(series),
        "covers": list(series.covers),
        "undecided_because": because_of(series),
        "last_passed": None if last is None else str(last.label),
        "first_failed": None if failed is None else str(failed.label),
        "max_advantage": question.max_advantage,
        "baseline": baseline(question.prior),
        "steps": [
            {
                **step_answer(step),
                "name": str(step.label),
                "records_needed": step.records_needed,
                "clusters": encode.clusters(step.clusters),
            }
            for step in series.steps
        ],
        "warnings": encode.warnings((*body.cautions, *series.cautions)),
        "provenance": sources,
    }
    return reply_of(call, content, *samples.values())


def _by_label(body: DecodedBody, query: str) -> dict[str, Counts]:
    """Of one sample the counts of each group, all on the cells of all, in the order of the groups' labels."""
    data = data_of(body.samples[""], query)
    require_query_acts(query, data)
    if isinstance(data, Counts):
        counts, table = data, groups_of_counts(body, data)
        if body.groups is not None:
            raise fault("bad-option", "groups", "counts have those of each step by_group")
    elif data.dimension > 1:
        raise Problem("dimension-mismatch", "series: got vectors, need one number a record", field="members")
    else:
        counts = counts_by_type(data, body.samples[""])
        table = groups_of_records(body, data, counts)
    if table is None or len(table.labels) < 2:
        detail = (
            "need at least 2 steps: name the column of steps, or send counts with those of each step "
            "(counts.by_group); or send several queries"
        )
        raise fault("missing-field", "groups", detail)
    rows = {} if isinstance(data, Counts) else _rows_by_label(data, body.groups)
    groups = zip(table.labels.tolist(), table.members, table.nonmembers, strict=True)
    steps: dict[str, Counts] = {}
    for place, (label, members, nonmembers) in enumerate(sorted(groups, key=lambda group: in_order(group[0]))):
        n_members, n_nonmembers = int(members.sum()), int(nonmembers.sum())
        if min(n_members, n_nonmembers) < MIN_RECORDS:
            detail = (
                f"step {place + 1} has {n_members} member and {n_nonmembers} nonmember records, "
                f"need at least {MIN_RECORDS} of each; leave the step out"
            )
            raise fault(TooFewRecords, "groups", detail)
        own = Counts.trusted(members, nonmembers, counts.cells).occupied()
        steps[label_name(label)] = (
            _of_counts(own, data.signs) if isinstance(data, Counts) else own.doubted(_of_scores(data, rows[label]))
        )
    return steps


def _rows_by_label(data: Scores, groups: object) -> dict[object, NDArray[np.intp]]:
    """The rows of each step, members first; sorted once, however many steps there are."""
    labels, code = codes_of(labels_of(groups, "groups"), data.n_members + data.n_nonmembers)
    ends = np.cumsum(np.bincount(code, minlength=len(labels)))
    return dict(zip(labels.tolist(), np.split(np.argsort(code, kind="stable"), ends[:-1]), strict=True))


def _of_scores(data: Scores, rows: NDArray[np.intp]) -> tuple[Caution, ...]:
    """What is odd about the scores of one step by themselves."""
    cut = int(np.searchsorted(rows, data.n_members))
    sides = data.members[rows[:cut]], data.nonmembers[rows[cut:] - data.n_members]
    return finest(Scores.of(*sides, data.query)).doubts


def _of_counts(own: Counts, signs: tuple[Caution, ...] | None) -> Counts:
    """One step with what its cells show, and what was said of the scores of all: but for scores that others have, too.

    A hold-out may score the same at every step; cells that are as fine as scores show what repeats within one.
    """
    sides = own.members, own.nonmembers
    shown = of_cells(*sides) if own.cells.kind == "grid" else by_value(*sides, own.cells).doubts
    if signs is not None and own.cells.kind != "intervals":
        signs = tuple(each for each in signs if each.code != REPEATED)
    return Counts.trusted(*sides, own.cells, shown, signs=None).doubted(signs)


def step_answer(step: Step) -> StepAnswer:
    """One step of a series, with an interval that holds for all of them."""
    return encode.as_answer(StepAnswer, step, **encode.interval(step.estimate))


def decision_of(series: Series) -> DecisionWord | None:
    """Pass if every step keeps the limit, fail if one is shown to exceed it; None if nothing was limited."""
    decisions = [step.decision for step in series.steps if step.decision is not None]
    return overall(decisions).value if decisions else None


def because_of(series: Series) -> Because | None:
    """The same of a series: the reason of the first step that has its decision."""
    return next((step.undecided_because for step in series.steps if step.decision == decision_of(series)), None)
