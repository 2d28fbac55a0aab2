"""The methods behind the numbers: what each states, under which guarantee, and where it comes from."""

from __future__ import annotations

from typing_extensions import TypedDict

from estimators.audit.epsilon import EMPIRICAL
from estimators.statement import IID, MLR, UNIMODAL


class MethodAnswer(TypedDict):
    """One method."""

    name: str
    asked_by: str
    states: str
    assumes: str
    guarantee: str
    reference: str


class MethodsAnswer(TypedDict):
    """Every method, and the version of them all."""

    version: str
    methods: list[MethodAnswer]


class PresetAnswer(TypedDict):
    """One named metric."""

    name: str
    formula: str
    description: str
    parameters: dict[str, float]
    depends_on_prior: bool


class PresetsAnswer(TypedDict):
    """Every named metric."""

    presets: list[PresetAnswer]


SIMULATED = "holds in simulation at every size and world tried (docs/coverage.md)"
PUBLISHED = (
    "as published: covers the expectation of the statistic, not the advantage (docs/methods.md, section 7)"
)

METHODS: list[MethodAnswer] = [
    {
        "name": "cells",
        "asked_by": "/v1/advantage, estimator auto or histogram",
        "states": "the optimal advantage of adversaries that see the score at a stated resolution",
        "assumes": IID,
        "guarantee": SIMULATED,
        "reference": "lower end: rules judged on records they have not seen; upper end: MACE, section 5.1, made exact "
        "(docs/methods.md, section 2)",
    },
    {
        "name": "threshold",
        "asked_by": "/v1/advantage, estimator threshold",
        "states": "the optimal advantage, if the best adversary is a threshold",
        "assumes": MLR,
        "guarantee": SIMULATED,
        "reference": "docs/methods.md, section 2",
    },
    {
        "name": "two_sided",
        "asked_by": "/v1/advantage, estimator two_sided",
        "states": "the optimal advantage, if the best adversary is an interval or its complement",
        "assumes": UNIMODAL,
        "guarantee": SIMULATED,
        "reference": "docs/methods.md, section 2",
    },
    {
        "name": "learned",
        "asked_by": "/v1/advantage, estimator learned; vectors",
        "states": "below: the optimal advantage of any adversary that sees the vector; above: of adversaries that see "
        "one learned score",
        "assumes": IID,
        "guarantee": SIMULATED,
        "reference": "docs/methods.md, section 2",
    },
    {
        "name": "W_N",
        "asked_by": "/v1/advantage, estimator histogram, or a discrete query",
        "states": "the plug-in of a discrete query",
        "assumes": IID,
        "guarantee": PUBLISHED,
        "reference": "MACE, Theorem 5 and Algorithm 1",
    },
    {
        "name": "U_N",
        "asked_by": "/v1/advantage, estimator kde, or a continuous query",
        "states": "the plug-in of a continuous query, by kernel densities",
        "assumes": IID + "; a bandwidth fixed in advance",
        "guarantee": PUBLISHED,
        "reference": "MACE, Theorem 6 and Algorithm 1",
    },
    {
        "name": "metric optimum",
        "asked_by": "/v1/metrics, metric in /v1/advantage",
        "states": "the largest value of an accuracy-like metric",
        "assumes": IID,
        "guarantee": SIMULATED,
        "reference": "MACE, section 5.2, Algorithms 2 and 3; Koyejo et al. 2014",
    },
    {
        "name": "individual risk",
        "asked_by": "/v1/individual-risk",
        "states": "what a record's own score betrays of its membership, at the resolution of the cells",
        "assumes": IID,
        "guarantee": "exact limits, at every confidence",
        "reference": "MACE, section 4, Theorems 1 and 2",
    },
    {
        "name": "AUC",
        "asked_by": "/v1/advantage",
        "states": "the probability that a member outscores a nonmember",
        "assumes": IID,
        "guarantee": SIMULATED,
        "reference": "DeLong, DeLong and Clarke-Pearson 1988, on the logit scale",
    },
    {
        "name": "TPR at FPR",
        "asked_by": "/v1/advantage, operating_points",
        "states": "the true positive rate of the threshold of a given false positive rate",
        "assumes": IID,
        "guarantee": SIMULATED,
        "reference": "Carlini et al. 2022; limits by order statistics (docs/methods.md, section 5)",
    },
    {
        "name": "exposure",
        "asked_by": "/v1/advantage, /v1/gate",
        "states": "whether an end of the score holds members that almost no nonmember reaches, and what the epsilon of "
        "the score's two distributions is at least; no mechanism's",
        "assumes": IID,
        "guarantee": "exact at every sample size; of labels without an order simulated",
        "reference": "order statistics of both sides, error shared by fixed tails (docs/methods.md, section 5)",
    },
    {
        "name": "epsilon lower bound",
        "asked_by": "/v1/audit, /v1/advantage",
        "states": "what the epsilon of the mechanism must be at least",
        "assumes": EMPIRICAL,
        "guarantee": "exact at every sample size",
        "reference": "Steinke, Nasr and Jagielski 2023",
    },
    {
        "name": "epsilon upper end",
        "asked_by": "/v1/gate, max_epsilon",
        "states": "the epsilon, at a delta, of this score's two distributions over cells, from above; no mechanism's",
        "assumes": IID,
        "guarantee": "exact limits of every set of cells; simulated in docs/gate.md",
        "reference": "docs/gate.md; the advantage at prior 1/(1+e^epsilon)",
    },
    {
        "name": "gate",
        "asked_by": "/v1/gate",
        "states": "pass, fail or inconclusive over several limits",
        "assumes": IID,
        "guarantee": "a wrong pass and a wrong fail have at most (1 - confidence)/2 each",
        "reference": "Berger 1982 for the pass, Bonferroni for the fail (docs/gate.md)",
    },
    {
        "name": "comparison",
        "asked_by": "/v1/compare",
        "states": "a ranking, the largest advantage, and differences",
        "assumes": IID,
        "guarantee": "corrected for the number of statements (Bonferroni, MOVER)",
        "reference": "MACE, Remark 1; Zou and Donner 2008",
    },
    {
        "name": "differential privacy",
        "asked_by": "/v1/theory/dp",
        "states": "what a promise allows an adversary at most: advantage, risk, MIP's eta, MIS's Delta, TPR at FPR",
        "assumes": "membership is random; the promise is about the adjacency that is stated",
        "guarantee": "proven; an accountant's numbers as far as its convolution is exact",
        "reference": "Kairouz et al. 2015; Dong, Roth and Su 2022; docs/methods.md, section 8",
    },
    {
        "name": "agreement",
        "asked_by": "/v1/theory/together",
        "states": "what a claim allows beside what was measured",
        "assumes": IID,
        "guarantee": "all intervals hold together (Bonferroni); simulated",
        "reference": "docs/methods.md, section 8",
    },
    {
        "name": "membership inference privacy",
        "asked_by": "/v1/theory/mip, /v1/theory/mip-finite",
        "states": "noise that keeps every attack within eta of guessing; the eta of a finite algorithm",
        "assumes": "fits to random halves of one data set, drawn independently",
        "guarantee": "from swaps and draws: exact at every sample size; from a moment: an estimate",
        "reference": "Izzo et al. 2024, mended (docs/methods.md, section 9)",
    },
    {
        "name": "membership inference security",
        "asked_by": "/v1/theory/mis, /v1/theory/mis-overfitting",
        "states": "what any algorithm may give away of categorical data; how secure overfitting leaves it at most",
        "assumes": "records are independent draws",
        "guarantee": "exact where the distribution is given, at every sample size where it is sampled",
        "reference": "Aubinais, Gassiat and Piantanida 2025 (docs/methods.md, section 10)",
    },
    {
        "name": "practical membership privacy",
        "asked_by": "/v1/theory/pmp-exponential, /v1/theory/pmp-gaussian",
        "states": "what a mechanism gives away to who knows the records it may have used, but not which it did",
        "assumes": "half of the records are used, each half equally likely",
        "guarantee": "exact, or an upper bound; from random training sets: at every number of draws",
        "reference": "Lowy et al. 2024 (docs/methods.md, section 11)",
    },
]
"""One entry a method, in the order of docs/methods.md."""
