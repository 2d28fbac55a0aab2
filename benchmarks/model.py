"""From a model to a verdict: what queries find with and without shadows, and what it costs.

Models of the two sides of one random split of scikit-learn's digits and diabetes. CPU seconds are those of
`macekit.audit_model` alone, on one thread, with everything imported; the model is fitted before.
"""

import time
import warnings
from itertools import product

import numpy as np
from sklearn.datasets import load_diabetes, load_digits
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier

import macekit
from benchmarks.harness import Run, table

QUICK = 0.001
MODELS = {
    "digits, random forest": RandomForestClassifier(100, random_state=0),
    "digits, forest, leaves of 20": RandomForestClassifier(100, min_samples_leaf=20, random_state=0),
    "digits, nearest neighbours": KNeighborsClassifier(5),
    "digits, logistic": LogisticRegression(max_iter=500),
    "digits, logistic, C = 0.001": LogisticRegression(C=0.001, max_iter=500),
    "diabetes, random forest": RandomForestRegressor(100, random_state=0),
    "diabetes, ridge": Ridge(),
}
UNSEEN = {"logistic": LogisticRegression(max_iter=300), "random forest": RandomForestClassifier(10, random_state=0)}


def split(name: str) -> tuple[np.ndarray, ...]:
    """Both halves of the data a model is named after: records and answers, members' first."""
    digits = name.startswith("digits")
    X, y = (load_digits if digits else load_diabetes)(return_X_y=True)
    parts = train_test_split(X / (16.0 if digits else 1.0), y, test_size=0.5, random_state=0)
    return parts[0], parts[2], parts[1], parts[3]


@table
def found(run: Run):
    warnings.simplefilter("ignore")
    yield "model | shadows | train, test | riskiest query | advantage | interval of all | at 0.1 | exposed | CPU s"
    for name in ("diabetes, ridge",) if run.quick else MODELS:
        model, sides = MODELS[name], split(name)
        model.fit(*sides[:2])
        macekit.audit_model(model, *sides)  # imports
        for shadows in (0, 16):
            start = time.process_time()
            audit = macekit.audit_model(model, *sides, shadows=shadows, max_advantage=0.1)
            seconds = time.process_time() - start
            first, whole = audit.comparison.ranking[0], audit.comparison.maximum
            exposed = audit.most_exposed[1]
            members = exposed.tail.members if exposed.alarm and exposed.tail else 0
            form = ".1%" if audit.fit.measure == "accuracy" else ".0f"
            yield (
                f"{name} | {shadows} | {audit.fit.members:{form}}, {audit.fit.nonmembers:{form}} | `{first.name}` | "
                f"{first.advantage.value:.3f} | [{whole.lower:.3f}, {whole.upper:.3f}] | "
                f"{audit.decision.value if audit.decision else '-'} | {members} | {seconds:.1f}"
            )


@table
def unseen(run: Run):
    """How often something is found of rows that the model has not seen."""
    warnings.simplefilter("ignore")
    runs = run.times(200, 1 if run.quick else 10)
    yield f"model of other rows ({runs} runs each) | shadows | lower end above 0 | fails at 0"
    X, y = load_digits(return_X_y=True)
    for (name, model), shadows in product(UNSEEN.items(), (0, 4)):
        above = fails = 0
        for seed in range(runs):
            order = np.random.default_rng([seed, shadows]).permutation(len(y))
            taught, ours, theirs = order[:300], order[300:600], order[600:900]
            model.fit(X[taught] / 16, y[taught])
            sides = X[ours] / 16, y[ours], X[theirs] / 16, y[theirs]
            audit = macekit.audit_model(model, *sides, shadows=shadows, max_advantage=0.0, seed=seed)
            above += audit.comparison.maximum.lower > 0.0
            fails += audit.decision is not None and audit.decision.value == "fail"
        yield f"{name} | {shadows} | {above / runs:.1%} | {fails / runs:.1%}"
