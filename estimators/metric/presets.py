"""The metrics that have a name, each as a metric at a prior."""

from collections.abc import Callable, Mapping

from estimators.errors import UnknownName, require_open_unit, require_positive
from estimators.metric.definition import Metric
from estimators.python.dataclass import dataclass, field


@dataclass(frozen=True, slots=True)
class Preset:
    """A named metric: what it is in words and symbols, and how to make it at a prior."""

    formula: str
    description: str
    make: Callable[..., dict[str, float]]
    parameters: Mapping[str, float] = field(default_factory=dict)
    by_prior: bool = False
    case_of: str | None = None
    """The preset that it is with its usual parameters: who asks for every metric gets that one."""


def preset(name: str, prior: float, **parameters: float) -> Metric:
    """The named metric at ``prior`` (only balanced accuracy has coefficients that depend on it).

    Args:
        name: A key of ``PRESETS``.
        prior: Probability that a record is a member before its score is seen, strictly between 0 and 1.
        parameters: What the metric needs besides, above 0: ``beta`` of ``f_beta`` (the weight of recall), ``w1`` to
            ``w4`` of ``weighted_accuracy`` (the weights of TP, TN, FP and FN). Each is 1 by default.

    Raises:
        UnknownName: a name or a parameter that is none; the text names the nearest.

    Example:
        >>> from estimators import preset
        >>> round(float(preset("precision", prior=0.5).value(tpr=0.3, fpr=0.1, prior=0.5)), 2)
        0.75
        >>> preset("f_beta", prior=0.5, beta=2.0).coefficients["b01"]
        4.0
    """
    prior = require_open_unit("prior", prior)
    if str(name) not in PRESETS:
        raise UnknownName.among("metric", name, PRESETS)
    entry = PRESETS[name]
    for key, value in parameters.items():
        if not entry.parameters:
            raise UnknownName.about(key, f"{name} takes no parameter; remove it")
        if key not in entry.parameters:
            raise UnknownName.among(f"parameter of {name}", key, entry.parameters)
        require_positive(key, value)
    settings = {**entry.parameters, **parameters}
    coefficients = entry.make(prior, **settings) if entry.by_prior else entry.make(**settings)
    return Metric(name, **coefficients, at_prior=prior if entry.by_prior else None)


def _linear(a11: float, a10: float, a01: float, a00: float) -> Callable[[], dict[str, float]]:
    return lambda: {"a11": a11, "a10": a10, "a01": a01, "a00": a00, "b0": 1.0}


def every_metric() -> list[str]:
    """The presets that are metrics of their own: what is stated where no metric is named."""
    return [name for name, entry in PRESETS.items() if entry.case_of is None]


PRESETS: Mapping[str, Preset] = {
    "accuracy": Preset("TP + TN", "share of right guesses", _linear(1, 0, 0, 1)),
    "advantage": Preset("TP + TN - FP - FN", "2 accuracy - 1 (MACE, Definition 1)", _linear(1, -1, -1, 1)),
    "balanced_accuracy": Preset(
        "TP/(2p) + TN/(2(1-p))",
        "mean of TPR and TNR (AM); its threshold is the prior",
        lambda prior: {"a11": 0.5 / prior, "a00": 0.5 / (1.0 - prior), "b0": 1.0},
        by_prior=True,
    ),
    "precision": Preset(
        "TP/(TP + FP)",
        "share of members among those guessed member (PPV); needs a least share of member guesses",
        lambda: {"a11": 1.0, "b11": 1.0, "b10": 1.0},
    ),
    "recall": Preset(
        "TP/(TP + FN)",
        "share of members found (TPR); always guessing member gives 1; "
        "for one record this form is at most 1, where TP/p can exceed it",
        lambda: {"a11": 1.0, "b11": 1.0, "b01": 1.0},
    ),
    "specificity": Preset(
        "TN/(TN + FP)",
        "share of nonmembers recognised (TNR); never guessing member gives 1",
        lambda: {"a00": 1.0, "b00": 1.0, "b10": 1.0},
    ),
    "npv": Preset(
        "TN/(TN + FN)",
        "share of nonmembers among those guessed nonmember; needs a least share of nonmember guesses",
        lambda: {"a00": 1.0, "b00": 1.0, "b01": 1.0},
    ),
    "f1": Preset(
        "2 TP/(2 TP + FN + FP)",
        "harmonic mean of precision and recall",
        lambda: {"a11": 2.0, "b11": 2.0, "b01": 1.0, "b10": 1.0},
        case_of="f_beta",
    ),
    "f_beta": Preset(
        "(1 + beta^2) TP/((1 + beta^2) TP + beta^2 FN + FP)",
        "weighted harmonic mean of precision and recall; beta = 1 is F1",
        lambda beta: {"a11": 1.0 + beta**2, "b11": 1.0 + beta**2, "b01": beta**2, "b10": 1.0},
        {"beta": 1.0},
    ),
    "jaccard": Preset(
        "TP/(TP + FP + FN)",
        "overlap of the records guessed member with the members",
        lambda: {"a11": 1.0, "b11": 1.0, "b10": 1.0, "b01": 1.0},
    ),
    "weighted_accuracy": Preset(
        "(w1 TP + w2 TN)/(w1 TP + w2 TN + w3 FP + w4 FN)",
        "accuracy with a weight for each outcome (Koyejo et al. 2014)",
        lambda w1, w2, w3, w4: {"a11": w1, "a00": w2, "b11": w1, "b00": w2, "b10": w3, "b01": w4},
        {"w1": 1.0, "w2": 1.0, "w3": 1.0, "w4": 1.0},
    ),
}
"""Every named metric: its formula, what it is in words, and its parameters (docs/methods.md prints the table).

Example:
    >>> from estimators import PRESETS
    >>> list(PRESETS)
    ['accuracy', 'advantage', 'balanced_accuracy', 'precision', 'recall', 'specificity', 'npv', 'f1', 'f_beta',
    'jaccard', 'weighted_accuracy']
    >>> print(PRESETS["precision"].formula, "-", PRESETS["precision"].description)
    TP/(TP + FP) - share of members among those guessed member (PPV); needs a least share of member guesses
"""
