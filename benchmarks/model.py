"""From a model to a verdict: what queries find with and without shadows, and what it costs.

    python -m benchmarks.model               # the tables of docs/models.md, some 4 minutes
    python -m benchmarks.model --runs 0.1    # a tenth of the runs without a leak

Models of the two sides of one random split of scikit-learn's digits and diabetes. CPU seconds are those of
`macekit.audit_model` alone, on one thread, with everything imported; the model is fitted before.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.datasets import load_diabetes, load_digits
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier

import macekit

MODELS: tuple[tuple[str, Any, Any], ...] = (
    ("digits, random forest", RandomForestClassifier(100, random_state=0), load_digits),
    ("digits, forest, leaves of 20", RandomForestClassifier(100, min_samples_leaf=20, random_state=0), load_digits),
    ("digits, nearest neighbours", KNeighborsClassifier(5), load_digits),
    ("digits, logistic", LogisticRegression(max_iter=500), load_digits),
    ("digits, logistic, C = 0.001", LogisticRegression(C=0.001, max_iter=500), load_digits),
    ("diabetes, random forest", RandomForestRegressor(100, random_state=0), load_diabetes),
    ("diabetes, ridge", Ridge(), load_diabetes),
)  # fmt: skip


def split(load: Any) -> tuple[Any, Any, Any, Any]:
    X, y = load(return_X_y=True)
    scale = 16.0 if load is load_digits else 1.0
    X_train, X_test, y_train, y_test = train_test_split(X / scale, y, test_size=0.5, random_state=0)
    return X_train, y_train, X_test, y_test


def of_models() -> Iterator[str]:
    """A row for each model and number of shadows."""
    yield "| model | shadows | train, test | riskiest query | advantage | interval of all | at 0.1 | exposed | CPU s |"
    yield "| --- | ---: | --- | --- | ---: | --- | --- | ---: | ---: |"
    for name, model, load in MODELS:
        sides = split(load)
        model.fit(*sides[:2])
        macekit.audit_model(model, *sides)  # imports
        for shadows in (0, 16):
            start = time.process_time()
            audit = macekit.audit_model(model, *sides, shadows=shadows, max_advantage=0.1)
            seconds = time.process_time() - start
            first, whole = audit.comparison.ranking[0], audit.comparison.maximum
            decision = audit.decision
            tail = audit.most_exposed[1].tail if audit.most_exposed[1].alarm else None
            fit = [
                f"{each:.1%}" if audit.fit.measure == "accuracy" else f"{each:.0f}"
                for each in (audit.fit.members, audit.fit.nonmembers)
            ]
            yield (
                f"| {name} | {shadows} | {', '.join(fit)} | `{first.name}` | {first.advantage.value:.3f} | "
                f"[{whole.lower:.3f}, {whole.upper:.3f}] | {decision.value if decision else '-'} | "
                f"{tail.members if tail else 0} | {seconds:.1f} |"
            )


def without_a_leak(share: float) -> Iterator[str]:
    """How often something is found of rows that the model has not seen."""
    runs = max(10, round(200 * share))
    yield f"| model of other rows ({runs} runs each) | shadows | lower end above 0 | fails at 0 |"
    yield "| --- | ---: | ---: | ---: |"
    X, y = load_digits(return_X_y=True)
    for name, model in (
        ("logistic", LogisticRegression(max_iter=300)),
        ("random forest", RandomForestClassifier(10, random_state=0)),
    ):
        for shadows in (0, 4):
            above = fails = 0
            for run in range(runs):
                order = np.random.default_rng([run, shadows]).permutation(len(y))
                taught, ours, theirs = order[:300], order[300:600], order[600:900]
                model.fit(X[taught] / 16, y[taught])
                audit = macekit.audit_model(
                    model, X[ours] / 16, y[ours], X[theirs] / 16, y[theirs], shadows=shadows,
                    max_advantage=0.0, seed=run,
                )  # fmt: skip
                above += audit.comparison.maximum.lower > 0.0
                fails += audit.decision is not None and audit.decision.value == "fail"
            yield f"| {name} | {shadows} | {above / runs:.1%} | {fails / runs:.1%} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=float, default=1.0, help="share of the runs without a leak")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    for line in of_models():
        print(line, flush=True)
    print()
    for line in without_a_leak(options.runs):
        print(line, flush=True)


if __name__ == "__main__":
    main()
