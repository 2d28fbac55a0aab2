"""White box: what a layer of the model makes of a record, as a vector or as one number."""

import numpy as np
from numpy.typing import ArrayLike

from estimators.arrays import Floats
from estimators.audits.queries import query
from estimators.errors import DimensionMismatch, InputError, TooFewRecords

CATALOGUE: dict[str, query.Query] = query.by_name(
    (
        query.Query(
            "hidden_features",
            "MACE, appendix I",
            "a vector: a layer's answer, centred and scaled by a reference; a learned adversary finds its direction",
            "one pass over the features",
            "the same answer of the layer, as of a rectifier that is 0 throughout",
            ("features",),
            vector=True,
        ),
        query.Query(
            "hidden_distance",
            "ours, of the same vector",
            "the layer's answer is near the middle of the record's class, as is usual of members: minus the distance",
            "one pass over the features",
            "equal distances",
            ("features", "reference"),
        ),
    )
)
"""Every query of a layer by name, which is that of its function."""


def hidden_features(features: ArrayLike, reference: ArrayLike | None = None) -> Floats:
    """White box: what a layer, such as the last but one, makes of a record, as a vector (MACE, appendix I).

    A vector has no direction; a learned adversary finds one. With a reference each feature is centred and scaled by the
    reference's mean and deviation (a feature that is constant there is only centred). The reference must stand on
    neither side, or the scale knows who is a member. Costs one pass. Vectors tie where the layer answers the same, as
    of a rectifier that is 0 throughout.

    Args:
        features: A row a record; further axes (channels, places) are laid out in one row.
        reference: Features of records that stand on neither side, at least two; left as they are without it.
    """
    rows = _features(features, "features")
    if reference is None:
        return rows
    others = _reference(reference, rows)
    return np.asarray((rows - others.mean(axis=0)) / _scale(others), dtype=np.float64)


def hidden_distance(
    features: ArrayLike,
    reference: ArrayLike,
    labels: ArrayLike | None = None,
    reference_labels: ArrayLike | None = None,
) -> Floats:
    """White box, as one number: minus the distance of a layer's answer from where records of its class lie.

    Training draws the records it sees to the middle of their class, so near is more like a member; of a layer for which
    that is not so the direction is the other one, and ``hidden_features`` needs none. The distance is Euclidean, each
    feature in units of the reference's deviation within classes. The white-box query of MACE (appendix I) is the whole
    vector; this is a summary of it, and ours. Costs one pass. Only equal vectors tie.

    Args:
        features: As for ``hidden_features``.
        reference: Features of records that stand on neither side, at least two.
        labels: The class of each record; all are one class without it.
        reference_labels: The class of each record of the reference; every class of the records must be among them.
    """
    rows = _features(features, "features")
    others = _reference(reference, rows)
    if (labels is None) != (reference_labels is None):
        name = "labels" if labels is None else "reference_labels"
        raise InputError.about(name, "missing; need the classes of the records and of the reference")
    if labels is None or reference_labels is None:
        own, theirs = np.zeros(len(rows), np.intp), np.zeros(len(others), np.intp)
    else:
        names = query.labels_of(reference_labels, "reference_labels")
        query.require_length(names, "reference_labels", len(others), "records of the reference")
        kinds, theirs = np.unique(names, return_inverse=True)
        own = query.places_among(
            query.labels_of(labels, "labels"), kinds, "classes of the reference; give it records of that class"
        )
        query.require_length(own, "labels", len(rows), "records")
    counts = np.bincount(theirs)
    centres = np.zeros((len(counts), rows.shape[1]))
    np.add.at(centres, theirs, others)
    centres /= counts[:, None]
    apart = (rows - centres[own]) / _scale(others - centres[theirs])
    return np.asarray(0.0 - np.sqrt((apart**2).sum(axis=1)), dtype=np.float64)


def _features(features: ArrayLike, name: str) -> Floats:
    """One row a record; further axes laid out in it."""
    array = query.plain_array(features, name)
    if array.ndim > 2 and array.size:
        array = array.reshape(len(array), -1)
    return query.numbers(array, name, (2,))


def _reference(reference: ArrayLike, rows: Floats) -> Floats:
    """The reference's features, as many as the records have."""
    others = _features(reference, "reference")
    if others.shape[1] != rows.shape[1]:
        message = f"got {others.shape[1]} features, need {rows.shape[1]}, as the records have"
        raise DimensionMismatch.about("reference", message)
    if len(others) < 2:
        raise TooFewRecords.about("reference", "got 1, need at least two records to say how they vary")
    return others


def _scale(rows: Floats) -> Floats:
    """Deviation of each feature; 1 of one that does not vary."""
    deviations = rows.std(axis=0)
    steady = deviations <= 1e-12 * np.maximum(np.abs(rows).max(axis=0), 1e-300)  # rounding alone
    return np.where(steady, 1.0, deviations)
