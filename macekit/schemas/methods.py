"""The methods behind the numbers: what is told of each, and those of the core, in the order of docs/methods.md."""

from typing import Annotated, Any

from typing_extensions import TypedDict

from estimators.privacy.epsilon import EMPIRICAL
from estimators.statement import IID, MLR, UNIMODAL
from macekit.schemas.records import about


class AskAnswer(TypedDict):
    """One way to ask for a method's number."""

    question: Annotated[str, about("address of the question")]
    options: Annotated[dict[str, Any], about("what to send beside the records or arrays")]
    field: Annotated[str, about("where in the answer the number stands, names joined by dots")]


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
PUBLISHED = "as published: covers the expectation of the statistic, not the advantage (docs/methods.md, section 7)"


def ask(question: str, field: str, **options: object) -> AskAnswer:
    """What is to be asked, and where in the answer it stands."""
    return {"question": f"/v1/{question}", "options": options, "field": field}


OF_CORE: list[MethodAnswer] = [
    {
        "name": "cells",
        "asks": [ask("advantage", "advantage"), ask("advantage", "advantage", estimator={"kind": "histogram"})],
        "states": "the optimal advantage of adversaries that see the score at a stated resolution",
        "assumes": IID,
        "guarantee": SIMULATED,
        "reference": "lower end: rules judged on records they have not seen; upper end: MACE, section 5.1, made exact "
        "(docs/methods.md, section 2)",
    },
    {
        "name": "threshold",
        "asks": [ask("advantage", "advantage", estimator={"kind": "threshold"})],
        "states": "the optimal advantage, if the best adversary is a threshold",
        "assumes": MLR,
        "guarantee": SIMULATED,
        "reference": "docs/methods.md, section 2",
    },
    {
        "name": "two_sided",
        "asks": [ask("advantage", "advantage", estimator={"kind": "two_sided"})],
        "states": "the optimal advantage, if the best adversary is an interval or its complement",
        "assumes": UNIMODAL,
        "guarantee": SIMULATED,
        "reference": "docs/methods.md, section 2",
    },
    {
        "name": "learned",
        "asks": [ask("advantage", "advantage", estimator={"kind": "learned"})],
        "states": "below: the optimal advantage of any adversary that sees the vector; above: of adversaries that see "
        "one learned score, which answers for vectors whatever is asked of one number a record",
        "assumes": IID,
        "guarantee": SIMULATED,
        "reference": "docs/methods.md, section 2",
    },
    {
        "name": "W_N",
        "asks": [ask("advantage", "paper", estimator={"kind": "histogram"})],
        "states": "the plug-in of a discrete query, or of bins^d equal-width cells of numbers and vectors",
        "assumes": IID,
        "guarantee": PUBLISHED,
        "reference": "MACE, Theorem 5 and Algorithm 1",
    },
    {
        "name": "U_N",
        "asks": [ask("advantage", "paper", estimator={"kind": "kde"})],
        "states": "the plug-in of a continuous query, by kernel densities",
        "assumes": IID + "; a bandwidth fixed in advance",
        "guarantee": PUBLISHED,
        "reference": "MACE, Theorem 6 and Algorithm 1",
    },
    {
        "name": "metric optimum",
        "asks": [ask("metrics", "metrics"), ask("advantage", "metric", metric="precision")],
        "states": "the largest value of an accuracy-like metric",
        "assumes": IID,
        "guarantee": SIMULATED,
        "reference": "MACE, section 5.2, Algorithms 2 and 3; Koyejo et al. 2014",
    },
    {
        "name": "given attack",
        "asks": [ask("attack", "attack")],
        "states": "one attack's own advantage, rates and metrics, and how far it is from the optimum",
        "assumes": IID
        + "; the attack, or how many records it accuses, was fixed in advance, unless the rule says that "
        "its threshold was chosen here",
        "guarantee": "exact limits of the attack's own numbers; the gap "
        + SIMULATED.removesuffix(" (docs/coverage.md)"),
        "reference": "MACE, Definitions 1 and 4; Cornfield 1956, Massart 1990 (docs/methods.md, section 4)",
    },
    {
        "name": "individual risk",
        "asks": [ask("individual-risk", "records.risk")],
        "states": "what a record's own score betrays of its membership, at the resolution of the cells",
        "assumes": IID,
        "guarantee": "exact limits, at every confidence",
        "reference": "MACE, section 4, Theorems 1 and 2",
    },
    {
        "name": "Theorems 2 and 3",
        "asks": [
            ask("individual-risk", "records.paper_signed_risk", estimator={"kind": "histogram"}),
            ask("individual-risk", "records.paper_signed_risk", estimator={"kind": "kde", "bandwidth": 0.1}),
        ],
        "states": "the signed risk of a record in its cell, or by kernel densities at its score",
        "assumes": IID + "; cells, or a bandwidth, fixed in advance",
        "guarantee": "as published: of a cell, exact; of kernel densities, about the smoothed ones (docs/paper.md)",
        "reference": "MACE, Theorems 2 and 3 with Lemma 4",
    },
    {
        "name": "Algorithms 2 and 3",
        "asks": [
            ask("metrics", "metrics", estimator={"kind": "histogram"}),
            ask("metrics", "metrics", estimator={"kind": "kde"}),
        ],
        "states": "a metric's largest value as the paper estimates it, on records the rule was not learned from",
        "assumes": IID,
        "guarantee": "as published: no interval (docs/paper.md)",
        "reference": "MACE, section 5.2",
    },
    {
        "name": "individual metric",
        "asks": [ask("individual-risk", "records.metric", metric="accuracy")],
        "states": "a metric of one record under the optimal rule, over the interval of its cell's risk",
        "assumes": IID,
        "guarantee": "exact limits where the threshold is known, else simulated",
        "reference": "MACE, Definition 6 and Theorem 4",
    },
    {
        "name": "Theorem 4",
        "asks": [ask("individual-risk", "records.paper_metric", metric="accuracy", estimator={"kind": "kde"})],
        "states": "the same over the interval of Theorem 2 or 3",
        "assumes": IID + "; cells, or a bandwidth, fixed in advance",
        "guarantee": "as published: as that of Theorem 2 or 3 (docs/paper.md)",
        "reference": "MACE, Theorem 4 (docs/methods.md, section 4)",
    },
    {
        "name": "AUC",
        "asks": [ask("advantage", "roc.auc"), ask("report", "result.roc.auc")],
        "states": "the probability that a member outscores a nonmember",
        "assumes": IID,
        "guarantee": SIMULATED,
        "reference": "DeLong, DeLong and Clarke-Pearson 1988, on the logit scale",
    },
    {
        "name": "TPR at FPR",
        "asks": [ask("advantage", "roc.operating_points", operating_points=[0.1])],
        "states": "the true positive rate of the threshold of a given false positive rate",
        "assumes": IID,
        "guarantee": SIMULATED,
        "reference": "Carlini et al. 2022; limits by order statistics (docs/methods.md, section 5)",
    },
    {
        "name": "exposure",
        "asks": [ask("advantage", "exposure"), ask("gate", "exposure", max_tpr=0.5, at_fpr=0.1)],
        "states": "whether an end of the score holds members that almost no nonmember reaches, and what the epsilon of "
        "the score's two distributions is at least, by both sides and both ends; no mechanism's",
        "assumes": IID,
        "guarantee": "exact at every sample size; of labels without an order simulated",
        "reference": "order statistics of both sides, error shared by fixed tails (docs/methods.md, section 5)",
    },
    {
        "name": "epsilon lower bound",
        "asks": [ask("audit", "epsilon"), ask("advantage", "epsilon")],
        "states": "what the epsilon of the mechanism must be at least",
        "assumes": EMPIRICAL,
        "guarantee": "exact at every sample size",
        "reference": "Steinke, Nasr and Jagielski 2023; delta by Markov (docs/methods.md, section 5)",
    },
    {
        "name": "epsilon upper end",
        "asks": [ask("gate", "limits", max_epsilon=3)],
        "states": "the epsilon, at a delta, of this score's two distributions over cells, from above; no mechanism's",
        "assumes": IID,
        "guarantee": "exact limits of every set of cells; simulated in docs/gate.md",
        "reference": "docs/gate.md; the advantage at prior 1/(1+e^epsilon)",
    },
    {
        "name": "gate",
        "asks": [ask("gate", "decision", max_advantage=0.9)],
        "states": "pass, fail or undecided over several limits",
        "assumes": IID,
        "guarantee": "a wrong pass and a wrong fail have at most (1 - confidence)/2 each",
        "reference": "Berger 1982 for the pass, Bonferroni for the fail (docs/gate.md)",
    },
    {
        "name": "comparison",
        "asks": [ask("compare", "differences")],
        "states": "a ranking, the largest advantage, and differences",
        "assumes": IID,
        "guarantee": "corrected for the number of statements (Bonferroni, MOVER)",
        "reference": "MACE, Remark 1; Zou and Donner 2008",
    },
]
