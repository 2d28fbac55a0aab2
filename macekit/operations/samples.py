"""From the columns of a body to the library's data: scores, or counts."""

from collections.abc import Mapping
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from estimators import Caution, Counts, MaceError, Scores, lone_rows, one_per_unit
from estimators.adversary.learned import LearnedScore, learn_score
from estimators.clusters.dependent_rows import require_one_number, require_scores
from estimators.risk.groups import GroupTable
from estimators.sample.counting import by_category, by_grid, finest
from estimators.sample.doubts import DOUBTS
from estimators.sample.learned import LearnedCounts
from estimators.sample.plain_arrays import ArgumentScores, labels_of
from estimators.sample.scores import Query, of_one_type
from estimators.sample.stream import CountStream
from macekit.decoding.body import DecodedBody, Sample
from macekit.problems import Problem, fault, unknown_field
from macekit.schemas.records import CELLS, PriorQuestion, SampleQuestion
from macekit.text import printable


def sample_of(body: DecodedBody, question: SampleQuestion) -> Scores | Counts:
    """The single sample of a request, one record a unit if units are named."""
    if set(body.samples) - {""}:
        raise fault("bad-option", "queries", "this question is about one sample; post several to /v1/compare")
    data = data_of(body.samples.get("", Sample()), question.query, body.cautions)
    require_query_acts(question.query, data)
    if body.units is None:
        return data
    if isinstance(data, Counts):
        raise fault("bad-option", "units", "counts hold no records, so they cannot be thinned")
    n, units = data.n_members, body.units
    require_labels("units", len(units), n + data.n_nonmembers)
    keep = _one_of_each(data, units, question.seed)
    return Scores.of(data.members[keep[keep < n]], data.nonmembers[keep[keep >= n] - n], question.query)


def kept_rows(body: DecodedBody, question: SampleQuestion) -> NDArray[np.intp]:
    """The places, members first, of the one record that is kept of each unit."""
    return _one_of_each(cast("Scores", data_of(body.samples[""], question.query)), body.units, question.seed)


def _one_of_each(data: Scores, units: object, seed: int) -> NDArray[np.intp]:
    return one_per_unit(np.concatenate([data.members, data.nonmembers]), cast("ArrayLike", units), seed)


def require_labels(field: str, labels: int, records: int) -> None:
    """Refuse more labels than records, or fewer."""
    if labels != records:
        raise fault("dimension-mismatch", field, f"got {labels} labels for {records} records, members first")


def groups_of_kept(body: DecodedBody, question: SampleQuestion) -> ArrayLike:
    """A label for each record of the sample, members first: of those of one unit, that of the record that was kept."""
    if body.units is None:
        return cast("ArrayLike", body.groups)
    labels = labels_of(body.groups, "groups")
    require_labels("groups", len(labels), len(body.units))
    return labels[kept_rows(body, question)]


def clusters_of(body: DecodedBody) -> dict[str, ArrayLike] | None:
    """Whom each row belongs to, by column."""
    if not body.clusters:
        return None
    if body.units is not None:
        detail = "does not go with units, of which one record each is kept; name one of them"
        raise fault("bad-option", "cluster", detail)
    return {name: labels_of(values, "cluster") for name, values in body.clusters.items()}


def require_paired(cluster: Mapping[str, ArrayLike] | None, paired: bool) -> None:
    """Refuse labels that are those of several samples' rows, if these are said to be independent."""
    if cluster is not None and not paired:
        raise fault(
            "bad-option",
            "cluster",
            "its labels are those of every query's rows, so the samples are not independent; leave paired as it is",
        )


def lone_of(data: Scores | Counts, cluster: Mapping[str, ArrayLike] | None, seed: int) -> Scores | Counts:
    """The records of which numbers are stated that do not allow for clusters: all, where none were named."""
    if cluster is None:
        return data
    lone = lone_rows(require_scores(data), cluster, seed)
    require_one_number(lone, data)
    return lone


def submitted_scores(body: DecodedBody, data: Scores) -> ArgumentScores:
    """The scores of all records of a single sample, members first, those left out because of units included."""
    sample = body.samples[""]
    return np.concatenate(of_one_type(np.asarray(sample.members), np.asarray(sample.nonmembers), data.query))


def require_query_acts(query: str, *samples: Scores | Counts) -> None:
    """Refuse to say how scores are read where there are none."""
    if query != "auto" and all(isinstance(data, Counts) for data in samples):
        detail = "counts are sorted into cells already, so it says nothing; remove it"
        raise fault("bad-option", "query", detail)


def stand_for(body: DecodedBody, data: Scores | Counts, question: SampleQuestion) -> NDArray[np.int64] | None:
    """Of vectors of which one a unit was kept: for each record posted, the place of the kept one of its unit."""
    if body.targets is not None or body.units is None or isinstance(data, Counts) or data.dimension == 1:
        return None
    units = np.asarray(body.units)
    keep = kept_rows(body, question)
    _, code = np.unique(units, return_inverse=True)
    place = np.empty(len(keep), dtype=np.int64)
    place[code.reshape(-1)[keep]] = np.arange(len(keep))
    return place[code.reshape(-1)]


def queries_of(body: DecodedBody, query: str) -> dict[str, Scores | Counts]:
    """Several queries by name."""
    if len(body.samples) < 2 or "" in body.samples:
        raise fault("missing-field", "queries", "need at least 2, by name; estimate and gate take one")
    if body.units is not None:
        detail = (
            "several queries are stated of all records; say whose each is by cluster instead, or ask about each "
            "query by itself"
        )
        raise fault("bad-option", "units", detail)
    samples: dict[str, Scores | Counts] = {}
    for place, (name, sample) in enumerate(body.samples.items()):
        try:
            samples[name] = each = data_of(sample, query, body.cautions)
            if isinstance(each, Scores) and each.query is Query.DISCRETE and _seem_all_different(each.members):
                by_category(each)  # which refuses labels that no two records share
        except (Problem, MaceError) as error:
            raise _of_query(Problem.of(error), place, name) from None
    require_query_acts(query, *samples.values())
    if any(isinstance(each, LearnedCounts) for each in samples.values()):
        raise fault(
            "bad-option",
            "queries",
            "one is counts of a learned score, which is answered by itself; give the records of each query",
        )
    return samples


def _seem_all_different(labels: NDArray[Any]) -> bool:
    """Whether no two of the first labels are the same."""
    first = labels[:4096]
    return len(np.unique(first)) == len(first)


def _of_query(problem: Problem, place: int, name: str) -> Problem:
    """The same with the number of the query, and with its name for whoever has the data."""
    slug, local = problem.kind.slug, f"query '{printable(name)}': {problem.local}"
    return Problem(slug, f"query {place}: {problem.detail}", field=problem.field, index=problem.index, local=local)


def by_release(samples: Mapping[str, Scores | Counts]) -> dict[str, dict[str, Scores | Counts]]:
    """Queries of each release, in the order of the first of each: ``model/loss`` is ``loss`` of ``model``."""
    releases: dict[str, dict[str, Scores | Counts]] = {}
    for name, data in samples.items():
        release, stroke, query = name.partition("/")
        owner, own = (release, query) if release and stroke and query else (name, name)
        if own in releases.setdefault(owner, {}):
            raise fault("bad-option", "queries", f"{name!r} has the name of another one")
        releases[owner][own] = data
    if len(releases) < 2:
        raise fault("missing-field", "queries", f"all are of one, {next(iter(releases))!r}; need at least 2")
    return releases


def data_of(sample: Sample, query: str, said: tuple[Caution, ...] = ()) -> Scores | Counts:
    """One query's scores or counts; of counts ``said`` may have doubts from where they were counted."""
    if sample.counts is not None:
        if sample.members is not None or sample.nonmembers is not None:
            detail = "counts: were sent together with scores; send one or the other"
            raise Problem("bad-option", detail, field="counts")
        doubts = tuple(each for each in said if each.code in DOUBTS)
        return counts_of(sample.counts).doubted(doubts or None if sample.signs is None else sample.signs)
    if sample.members is None or sample.nonmembers is None:
        name, whose = (
            ("members", "the model was trained on") if sample.members is None else ("nonmembers", "it has never seen")
        )
        detail = f"{name}: is required and missing; give the scores of records that {whose}"
        raise Problem("missing-field", detail, field=name)
    return Scores.of(sample.members, sample.nonmembers, query)


def counts_of(value: dict[str, object], where: str = "") -> Counts:
    """Counts as they were posted."""
    if set(value) - {"members", "nonmembers", "edges", "cells", "by_group", "learned"}:
        detail = f"{where}counts: known are members, nonmembers, edges, cells, by_group, learned"
        raise Problem("unknown-field", detail, field="counts")
    there = {name: content for name, content in value.items() if content is not None}
    if "cells" in there:
        if "edges" in there:
            words = f"{where}counts: edges were sent together with cells; send one"
            raise Problem("bad-option", words, field="counts")
        require_cells(there["cells"], where)
    counts = LearnedCounts.from_dict(there) if "learned" in there else Counts.from_dict(there)
    groups_of(value, counts, where)  # whoever takes no notice of them still says what is wrong with them
    return counts


def groups_of_counts(body: DecodedBody, counts: Counts) -> GroupTable | None:
    """The groups that counts were posted with; None if there are none."""
    return groups_of(body.samples[""].counts or {}, counts)


def groups_of_records(body: DecodedBody, data: Scores, counts: Counts) -> GroupTable | None:
    """The records of each group in the cells of all."""
    if body.groups is None:
        return None
    if body.units is not None:
        detail = "do not go with units, of which one record each is kept; name one of them"
        raise fault("bad-option", "groups", detail)
    labels, n = np.asarray(body.groups), data.n_members
    require_labels("groups", len(labels), n + data.n_nonmembers)
    return GroupTable.of_scores(data, labels[:n], labels[n:], counts.cells)


def counts_by_type(data: Scores, sample: Sample) -> Counts:
    """Integers, booleans and text by value, all else on the grid: what a score is typed as decides, never how many
    values it has, so that shards of one column always merge, however they were sent."""
    sides = [np.asarray(side) for side in (sample.members, sample.nonmembers)]
    if all(side.dtype.kind == "f" for side in sides):
        return by_grid(data)
    if data.dimension > 1 or any(side.dtype.kind not in "biufUO" for side in sides):
        return by_category(data) if data.query is Query.DISCRETE else by_grid(data)
    return CountStream().plus(*sides).counts()


def groups_of(value: Mapping[str, object], counts: Counts, where: str = "") -> GroupTable | None:
    """The groups of counts, if they were posted with some."""
    groups = value.get("by_group")
    if groups is None:
        return None
    keys = {"label", "members", "nonmembers"}
    if not isinstance(groups, list) or not all(
        isinstance(each, dict) and set(each) == keys and isinstance(each["label"], str | int | float) for each in groups
    ):
        detail = f"{where}counts: by_group needs to be a list of label, members and nonmembers"
        raise Problem("wrong-type", detail, field="counts")
    columns = ([each[key] for each in groups] for key in ("label", "members", "nonmembers"))
    return GroupTable.of(counts, *columns)


def with_counts(data: Scores | Counts) -> Scores | Counts:
    """Counts where counts are enough, so that a sample asked about often is counted once."""
    return finest(data) if isinstance(data, Scores) and data.dimension == 1 else data


def one_score(data: Scores | Counts, question: PriorQuestion) -> tuple[Counts, LearnedScore | None]:
    """What a question about one score a record is asked of: of vectors a learned score, on records it has not seen."""
    if isinstance(data, Scores) and data.dimension > 1:
        learned = learn_score(data, question.prior, question.seed)
        return learned.counts, learned
    return data if isinstance(data, Counts) else finest(data), None


WHOLE = frozenset({"exponent", "bins"})  # fields that are an integer

DTYPES = {"keys": "iu", "exponents": "iu", "axes": "iu", "cuts": "iuf", "low": "iuf", "high": "iuf"}
"""Fields that are a list of numbers: what NumPy calls those allowed."""


def require_cells(value: object, where: str) -> None:
    """Refuse what the library would read as something else: ``2.7`` as 2, ``"3"`` as 3, a field of another kind."""
    field = f"{where}counts.cells"
    if not isinstance(value, dict):
        raise fault("wrong-type", field, "need an object")
    kind = value.get("kind")
    if not isinstance(kind, str) or kind not in CELLS:
        raise fault("unknown-name", f"{field}.kind", f"need {', '.join(CELLS)}")
    fields = CELLS[kind].model_fields
    for name in value:
        if name not in fields:
            raise unknown_field(name, fields, field)
    for name, about in fields.items():
        if name not in value:
            if not about.is_required():
                continue
            raise fault("missing-field", f"{field}.{name}", "is required and missing")
        if not _fits(name, value[name]):
            need = "an integer" if name in WHOLE else "a list of integers" if DTYPES[name] == "iu" else "numbers"
            raise fault("wrong-type", f"{field}.{name}", f"need {need}")


def _fits(name: str, value: object) -> bool:
    if name in WHOLE:
        return type(value) is int
    if name not in DTYPES:
        return True
    if not isinstance(value, list | np.ndarray):
        return False
    try:
        array = np.asarray(value)
    except ValueError:  # rows of different length
        return False
    return array.ndim == 1 and (not array.size or array.dtype.kind in DTYPES[name])
