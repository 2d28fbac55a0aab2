"""What Anonymeter, SDMetrics and SynthEval say of released tables; `compare_tools.py` starts it.

    OTHER_PYTHON examples/compare_tools_peers.py FOLDER

in an environment of their own (`pip install anonymeter sdmetrics syntheval`), for two of them need an older NumPy than
mace. FOLDER has train.csv, holdout.csv and a table for each synthesizer; the answer is JSON, on standard output.
"""

import contextlib
import json
import sys
import warnings
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pandas as pd
from anonymeter.evaluators import InferenceEvaluator, LinkabilityEvaluator, SinglingOutEvaluator
from sdmetrics.single_table import DCROverfittingProtection, NewRowSynthesis
from syntheval import SynthEval

TARGET = "diagnosis"
ATTACKS = 150
ATTEMPTS = 100_000
"""Guesses at predicates that single out; without a limit there are ten million of them, which takes long."""

Table = pd.DataFrame
Says = Iterator[tuple[str, str]]


def attacks(train: Table, holdout: Table, released: Table) -> Says:
    """Risks of three attacks with their 95% intervals, as far as control rows do not share them."""
    names = [name for name in train if name != TARGET]
    half = len(names) // 2
    beside = {"ori": train, "syn": released, "control": holdout, "n_attacks": ATTACKS}
    evaluators = {
        "singling out": SinglingOutEvaluator(**beside, max_attempts=ATTEMPTS, seed=0),
        "linkability": LinkabilityEvaluator(**beside, aux_cols=(names[:half], names[half:]), n_neighbors=10),
        "inference": InferenceEvaluator(**beside, aux_cols=names, secret=TARGET),
    }
    for name, attack in evaluators.items():
        mode = {"mode": "multivariate"} if name == "singling out" else {}
        risk = attack.evaluate(**mode).risk(confidence_level=0.95)
        yield name, f"{risk.value:.2f} [{risk.ci[0]:.2f}, {risk.ci[1]:.2f}]"


def scores(train: Table, holdout: Table, released: Table) -> Says:
    """Scores from 0 to 1, of which 1 is the best."""
    kinds = {name: {"sdtype": "categorical" if name == TARGET else "numerical"} for name in train}
    metadata = {"tables": {"table": {"columns": kinds}}}
    near = DCROverfittingProtection.compute_breakdown(train, released, holdout, metadata, "table")
    yield "DCR overfitting protection", f"{near['score']:.2f}"
    new = NewRowSynthesis.compute(train, released, metadata, "table")
    yield "new rows", f"{new:.2f}"


def risks(train: Table, holdout: Table, released: Table) -> Says:
    """Risks; the losses are those of training rows beyond those of hold-out rows."""
    evaluator = SynthEval(train, holdout_dataframe=holdout, cat_cols=[TARGET], verbose=False)
    asked = {"nnaa": {}, "hit_rate": {}, "eps_risk": {}, "mia": {}}
    rows = evaluator.evaluate(released, TARGET, **asked)
    for _, row in rows[rows["dim"] == "p"].iterrows():
        yield row["metric"], f"{round(row['val'], 2) + 0.0:.2f}"  # no -0.00


TOOLS: dict[str, Callable[[Table, Table, Table], Says]] = {
    "anonymeter": attacks,
    "sdmetrics": scores,
    "syntheval": risks,
}


def main() -> None:
    """Ask every tool about every table."""
    warnings.simplefilter("ignore")
    tables = {path.stem: pd.read_csv(path) for path in sorted(Path(sys.argv[1]).glob("*.csv"))}
    train, holdout = tables.pop("train"), tables.pop("holdout")
    said: dict[str, dict[str, dict[str, str]]] = {}
    with contextlib.redirect_stdout(sys.stderr):  # some of them print as they work
        for name, released in tables.items():
            said[name] = {}
            for tool, ask in TOOLS.items():
                np.random.seed(0)  # noqa: NPY002 (what they draw from)
                print(f"{tool}: {name}", flush=True)
                said[name][tool] = dict(ask(train.copy(), holdout.copy(), released.copy()))
    print(json.dumps({"versions": {tool: version(tool) for tool in TOOLS}, "said": said}))


if __name__ == "__main__":
    main()
