"""From the columns of a body to the library's data: scores, or counts."""

from __future__ import annotations

from typing import cast

import numpy as np
from numpy.typing import ArrayLike

from app.operations.cells import require_cells
from estimators import Counts, Scores, one_per_unit
from estimators.sample.counting import finest
from estimators.sample.scores import ArgumentScores
from macekit.decoding.body import Material, Sample
from macekit.problems import Problem
from macekit.schemas.records import Sampled


def sample_of(material: Material, question: Sampled) -> Scores | Counts:
    """The single sample of a request, one record a unit if units are named."""
    if set(material.samples) - {""}:
        raise Problem(
            "bad-option",
            "queries: this question is about one sample; post several to /v1/compare",
            field="queries",
        )
    data = data_of(material.samples.get("", Sample()), question.query, "")
    if material.units is None:
        return data
    if isinstance(data, Counts):
        raise Problem("bad-option", "units: counts hold no records, so they cannot be thinned", field="units")
    n, units = data.n_members, material.units
    if len(units) != n + data.n_nonmembers:
        raise Problem(
            "dimension-mismatch",
            f"units: got {len(units)} labels for {n + data.n_nonmembers} records, members first",
            field="units",
        )
    keep = one_per_unit(np.arange(len(units)), cast("ArrayLike", units), question.seed)
    return Scores.of(data.members[keep[keep < n]], data.nonmembers[keep[keep >= n] - n], question.query)


def posted(material: Material) -> ArgumentScores:
    """The scores of all records of a single sample, members first, those left out because of units included."""
    sample = material.samples[""]
    return np.concatenate([np.asarray(sample.members), np.asarray(sample.nonmembers)])


def data_of(sample: Sample, query: str, where: str) -> Scores | Counts:
    """One query's scores or counts; ``where`` says which, when there are several."""
    if sample.counts is not None:
        if sample.members is not None or sample.nonmembers is not None:
            raise Problem(
                "bad-option",
                f"{where}counts: came together with scores; send one or the other",
                field="counts",
            )
        return counts_of(sample.counts, where)
    if sample.members is None or sample.nonmembers is None:
        name = "members" if sample.members is None else "nonmembers"
        raise Problem("missing-field", f"{where}{name}: is needed and not there", field=name)
    return Scores.of(sample.members, sample.nonmembers, query)


def counts_of(value: dict[str, object], where: str = "") -> Counts:
    """Counts as they were posted."""
    if set(value) - {"members", "nonmembers", "edges", "cells"}:
        raise Problem(
            "unknown-field", f"{where}counts: known are members, nonmembers, edges, cells", field="counts"
        )
    there = {name: given for name, given in value.items() if given is not None}
    if "cells" in there:
        if "edges" in there:
            raise Problem(
                "bad-option", f"{where}counts: edges came together with cells; send one", field="counts"
            )
        require_cells(there["cells"], where)
    return Counts.from_dict(there)


def counted(data: Scores | Counts) -> Scores | Counts:
    """Counts where counts are enough, so that a sample asked about often is counted once."""
    return finest(data) if isinstance(data, Scores) and data.dimension == 1 else data
