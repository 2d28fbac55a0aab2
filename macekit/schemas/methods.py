"""The methods behind the numbers: what each states, under which guarantee, and where it comes from."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field
from typing_extensions import TypedDict

from estimators.privacy.epsilon import EMPIRICAL
from estimators.runs.procedure.answer import TRAININGS
from estimators.statement import IID, MLR, UNIMODAL


class AskAnswer(TypedDict):
    """One way to ask for a method's number."""

    question: Annotated[str, Field(description="address of the question")]
    options: Annotated[dict[str, Any], Field(description="what to send beside the records or arrays")]
    field: Annotated[str, Field(description="where in the answer the number stands, names joined by dots")]


class MethodAnswer(TypedDict):
    """One method."""

    name: str
    asks: list[AskAnswer]
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


def _ask(question: str, field: str, **options: object) -> AskAnswer:
    return {"question": f"/v1/{question}", "options": options, "field": field}


METHODS: list[MethodAnswer] = [
    {
        "name": "cells",
        "asks": [
            _ask("advantage", "advantage"),
            _ask("advantage", "advantage", estimator={"kind": "histogram"}),
        ],
        "states": "the optimal advantage of adversaries that see the score at a stated resolution",
        "assumes": IID,
        "guarantee": SIMULATED,
        "reference": "lower end: rules judged on records they have not seen; upper end: MACE, section 5.1, made exact "
        "(docs/methods.md, section 2)",
    },
    {
        "name": "threshold",
        "asks": [_ask("advantage", "advantage", estimator={"kind": "threshold"})],
        "states": "the optimal advantage, if the best adversary is a threshold",
        "assumes": MLR,
        "guarantee": SIMULATED,
        "reference": "docs/methods.md, section 2",
    },
    {
        "name": "two_sided",
        "asks": [_ask("advantage", "advantage", estimator={"kind": "two_sided"})],
        "states": "the optimal advantage, if the best adversary is an interval or its complement",
        "assumes": UNIMODAL,
        "guarantee": SIMULATED,
        "reference": "docs/methods.md, section 2",
    },
    {
        "name": "learned",
        "asks": [_ask("advantage", "advantage", estimator={"kind": "learned"})],
        "states": "below: the optimal advantage of any adversary that sees the vector; above: of adversaries that see "
        "one learned score, which answers for vectors whatever is asked of one number a record",
        "assumes": IID,
        "guarantee": SIMULATED,
        "reference": "docs/methods.md, section 2",
    },
    {
        "name": "W_N",
        "asks": [_ask("advantage", "paper", estimator={"kind": "histogram"})],
        "states": "the plug-in of a discrete query, or of bins^d equal-width cells of numbers and vectors",
        "assumes": IID,
        "guarantee": PUBLISHED,
        "reference": "MACE, Theorem 5 and Algorithm 1",
    },
    {
        "name": "U_N",
        "asks": [_ask("advantage", "paper", estimator={"kind": "kde"})],
        "states": "the plug-in of a continuous query, by kernel densities",
        "assumes": IID + "; a bandwidth fixed in advance",
        "guarantee": PUBLISHED,
        "reference": "MACE, Theorem 6 and Algorithm 1",
    },
    {
        "name": "metric optimum",
        "asks": [_ask("metrics", "metrics"), _ask("advantage", "metric", metric="precision")],
        "states": "the largest value of an accuracy-like metric",
        "assumes": IID,
        "guarantee": SIMULATED,
        "reference": "MACE, section 5.2, Algorithms 2 and 3; Koyejo et al. 2014",
    },
    {
        "name": "given attack",
        "asks": [_ask("attack", "attack")],
        "states": "one attack's own advantage, rates and metrics, and how far it is from the optimum",
        "assumes": IID
        + "; the attack, or how many records it accuses, was fixed in advance, unless the rule says that "
        "its threshold was chosen here",
        "guarantee": "exact limits of the attack's own numbers; the gap "
        + SIMULATED.removesuffix(" (docs/coverage.md)"),
        "reference": "MACE, Definitions 1 and 4; Cornfield 1956, Massart 1990 (docs/methods.md, section 4)",
    },
    {
        "name": "queries of a release",
        "asks": [_ask("synthetic", "maximum"), _ask("synthetic", "copies.beyond_chance")],
        "states": "the advantage of the riskiest of several queries of a released table, and copied rows",
        "assumes": IID
        + "; training rows that were not copied stand in the release as often by chance as hold-out rows",
        "guarantee": "copies: exact; the largest advantage " + SIMULATED,
        "reference": "MACE, section 2.2; each query names its paper (docs/queries.md, docs/synthetic.md)",
    },
    {
        "name": "number of released rows",
        "asks": [_ask("release-size", "steps"), _ask("release-size", "largest")],
        "states": "the advantage of the riskiest query against the number of released rows, and how many keep a limit",
        "assumes": IID + "; the sizes were fixed in advance",
        "guarantee": SIMULATED.replace("docs/coverage.md", "docs/releases.md"),
        "reference": "MACE, appendix H; a fixed sequence of tests (docs/releases.md)",
    },
    {
        "name": "releases side by side",
        "asks": [_ask("compare-releases", "ranking"), _ask("compare-releases", "differences")],
        "states": "the advantage of each release's riskiest query, and how much more one gives away than another",
        "assumes": IID,
        "guarantee": "corrected for the number of releases, of differences and of queries (Bonferroni)",
        "reference": "MACE, section 7; docs/releases.md",
    },
    {
        "name": "series",
        "asks": [_ask("series", "steps"), _ask("series", "last_passed")],
        "states": "the advantage of the riskiest query at every step, and up to which a limit is kept",
        "assumes": IID + "; the steps and their order were fixed in advance",
        "guarantee": SIMULATED.replace("docs/coverage.md", "docs/releases.md"),
        "reference": "a fixed sequence of tests (docs/releases.md)",
    },
    {
        "name": "training procedure",
        "asks": [_ask("procedure", "advantage"), _ask("procedure", "next_model")],
        "states": "the mean advantage over trainings of several models, and that of the next one",
        "assumes": TRAININGS + "; what models give away varies without rare extremes",
        "guarantee": "holds in simulation where leaks vary as normal numbers do, not where rare trainings give away "
        "much more (docs/procedure.md)",
        "reference": "Student and Hall (1992); docs/methods.md, several models of one procedure",
    },
    {
        "name": "training procedure, however trainings vary",
        "asks": [_ask("procedure", "any_variation")],
        "states": "the mean advantage over trainings of several models",
        "assumes": TRAININGS,
        "guarantee": "proven at every number of models, of whatever law",
        "reference": "Waudby-Smith and Ramdas (2023); docs/methods.md, several models of one procedure",
    },
    {
        "name": "queries of a model",
        "asks": [_ask("model", "maximum")],
        "states": "the advantage of the riskiest of several queries of a model's predictions",
        "assumes": IID,
        "guarantee": SIMULATED,
        "reference": "MACE, section 2.2; each query names its paper (docs/queries.md, docs/models.md)",
    },
    {
        "name": "two sides of a split",
        "asks": [_ask("check", "advantage"), _ask("synthetic", "split.advantage")],
        "states": "the advantage of who reads the rows' columns and no model",
        "assumes": IID,
        "guarantee": SIMULATED,
        "reference": "docs/synthetic.md",
    },
    {
        "name": "individual risk",
        "asks": [_ask("individual-risk", "records.risk")],
        "states": "what a record's own score betrays of its membership, at the resolution of the cells",
        "assumes": IID,
        "guarantee": "exact limits, at every confidence",
        "reference": "MACE, section 4, Theorems 1 and 2",
    },
    {
        "name": "Theorems 2 and 3",
        "asks": [
            _ask("individual-risk", "records.paper_signed_risk", estimator={"kind": "histogram"}),
            _ask("individual-risk", "records.paper_signed_risk", estimator={"kind": "kde", "bandwidth": 0.1}),
        ],
        "states": "the signed risk of a record in its cell, or by kernel densities at its score",
        "assumes": IID + "; cells, or a bandwidth, fixed in advance",
        "guarantee": "as published: of a cell, exact; of kernel densities, about the smoothed ones (docs/paper.md)",
        "reference": "MACE, Theorems 2 and 3 with Lemma 4",
    },
    {
        "name": "Algorithms 2 and 3",
        "asks": [
            _ask("metrics", "metrics", estimator={"kind": "histogram"}),
            _ask("metrics", "metrics", estimator={"kind": "kde"}),
        ],
        "states": "a metric's largest value as the paper estimates it, on records the rule was not learned from",
        "assumes": IID,
        "guarantee": "as published: no interval (docs/paper.md)",
        "reference": "MACE, section 5.2",
    },
    {
        "name": "individual metric",
        "asks": [_ask("individual-risk", "records.metric", metric="accuracy")],
        "states": "a metric of one record under the optimal rule, over the interval of its cell's risk",
        "assumes": IID,
        "guarantee": "exact limits where the threshold is known, else simulated",
        "reference": "MACE, Definition 6 and Theorem 4",
    },
    {
        "name": "Theorem 4",
        "asks": [
            _ask("individual-risk", "records.paper_metric", metric="accuracy", estimator={"kind": "kde"})
        ],
        "states": "the same over the interval of Theorem 2 or 3",
        "assumes": IID + "; cells, or a bandwidth, fixed in advance",
        "guarantee": "as published: as that of Theorem 2 or 3 (docs/paper.md)",
        "reference": "MACE, Theorem 4 (docs/methods.md, section 4)",
    },
    {
        "name": "AUC",
        "asks": [_ask("advantage", "roc.auc"), _ask("report", "result.roc.auc")],
        "states": "the probability that a member outscores a nonmember",
        "assumes": IID,
        "guarantee": SIMULATED,
        "reference": "DeLong, DeLong and Clarke-Pearson 1988, on the logit scale",
    },
    {
        "name": "TPR at FPR",
        "asks": [_ask("advantage", "roc.operating_points", operating_points=[0.1])],
        "states": "the true positive rate of the threshold of a given false positive rate",
        "assumes": IID,
        "guarantee": SIMULATED,
        "reference": "Carlini et al. 2022; limits by order statistics (docs/methods.md, section 5)",
    },
    {
        "name": "exposure",
        "asks": [_ask("advantage", "exposure"), _ask("gate", "exposure", max_tpr=0.5, at_fpr=0.1)],
        "states": "whether an end of the score holds members that almost no nonmember reaches, and what the epsilon of "
        "the score's two distributions is at least, by both sides and both ends; no mechanism's",
        "assumes": IID,
        "guarantee": "exact at every sample size; of labels without an order simulated",
        "reference": "order statistics of both sides, error shared by fixed tails (docs/methods.md, section 5)",
    },
    {
        "name": "epsilon lower bound",
        "asks": [_ask("audit", "epsilon"), _ask("advantage", "epsilon")],
        "states": "what the epsilon of the mechanism must be at least",
        "assumes": EMPIRICAL,
        "guarantee": "exact at every sample size",
        "reference": "Steinke, Nasr and Jagielski 2023; delta by Markov (docs/methods.md, section 5)",
    },
    {
        "name": "epsilon upper end",
        "asks": [_ask("gate", "limits", max_epsilon=3)],
        "states": "the epsilon, at a delta, of this score's two distributions over cells, from above; no mechanism's",
        "assumes": IID,
        "guarantee": "exact limits of every set of cells; simulated in docs/gate.md",
        "reference": "docs/gate.md; the advantage at prior 1/(1+e^epsilon)",
    },
    {
        "name": "gate",
        "asks": [_ask("gate", "decision", max_advantage=0.9)],
        "states": "pass, fail or inconclusive over several limits",
        "assumes": IID,
        "guarantee": "a wrong pass and a wrong fail have at most (1 - confidence)/2 each",
        "reference": "Berger 1982 for the pass, Bonferroni for the fail (docs/gate.md)",
    },
    {
        "name": "comparison",
        "asks": [_ask("compare", "differences")],
        "states": "a ranking, the largest advantage, and differences",
        "assumes": IID,
        "guarantee": "corrected for the number of statements (Bonferroni, MOVER)",
        "reference": "MACE, Remark 1; Zou and Donner 2008",
    },
    {
        "name": "differential privacy",
        "asks": [_ask("theory/dp", "bounds")],
        "states": "what a promise allows an adversary at most: advantage, risk, MIP's eta, MIS's Delta, TPR at FPR",
        "assumes": "membership is random; the promise is about the adjacency that is stated",
        "guarantee": "proven; an accountant's numbers as far as its convolution is exact",
        "reference": "Kairouz et al. 2015; Dong, Roth and Su 2022; docs/methods.md, section 8",
    },
    {
        "name": "conversion",
        "asks": [_ask("theory/convert", "rows")],
        "states": "an advantage, eta, epsilon or mu in the units of the others, as a lower end and as an upper limit",
        "assumes": "members drawn at random",
        "guarantee": "proven; an epsilon or mu from an advantage is the smallest promise that agrees, and no guarantee",
        "reference": "MIP, Theorems 4 and 8, mended; Dong, Roth and Su 2022; docs/methods.md, section 8",
    },
    {
        "name": "agreement",
        "asks": [_ask("theory/together", "rows")],
        "states": "what a claim allows beside what was measured",
        "assumes": IID,
        "guarantee": "all intervals hold together (Bonferroni); simulated",
        "reference": "docs/methods.md, section 8",
    },
    {
        "name": "membership inference privacy",
        "asks": [_ask("theory/mip", "noise"), _ask("theory/mip-finite", "eta")],
        "states": "noise that keeps every attack within eta of guessing; the eta of a finite algorithm",
        "assumes": "fits to random halves of one data set, drawn independently",
        "guarantee": "from swaps and draws: exact at every sample size; from a moment: an estimate",
        "reference": "Izzo et al. 2024, mended (docs/methods.md, section 9)",
    },
    {
        "name": "membership inference security",
        "asks": [
            _ask("theory/mis", "bounds"),
            _ask("theory/mis-overfitting", "delta_at_least"),
            _ask("theory/mis-divergence", "delta"),
            _ask("theory/mis-mean", "delta"),
        ],
        "states": "what any algorithm may give away of categorical data; how secure overfitting leaves it at most",
        "assumes": "records are independent draws",
        "guarantee": "exact where the distribution is given, at every sample size where it is sampled",
        "reference": "Aubinais, Gassiat and Piantanida 2025 (docs/methods.md, section 10)",
    },
    {
        "name": "practical membership privacy",
        "asks": [
            _ask("theory/pmp-exponential", "epsilon"),
            _ask("theory/pmp-finite", "practical_epsilon"),
            _ask("theory/pmp-gaussian", "practical_epsilon"),
        ],
        "states": "what a mechanism gives away to who knows the records it may have used, but not which it did",
        "assumes": "half of the records are used, each half equally likely",
        "guarantee": "exact, or an upper bound; from random training sets: at every number of draws",
        "reference": "Lowy et al. 2024 (docs/methods.md, section 11)",
    },
]
"""One entry a method, in the order of docs/methods.md."""
