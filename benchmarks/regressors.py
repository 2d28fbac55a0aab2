"""Real models that remember too much, and some that do not: is a pass refuted by the records it was made from?

Models of scikit-learn on its own data sets, trained on a random half; the score is the raw prediction, or the error
with the label known. Beside the verdict stands what nearest neighbours, and the distance to a whole number, prove of
the same scores by a half split. Four minutes. ``--beside`` names a checkout of another version, whose verdicts on the
very same scores then stand beside ours.
"""

import os
import pickle
import subprocess
import sys
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_wine
from sklearn.ensemble import GradientBoostingRegressor, RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.tree import DecisionTreeClassifier

from benchmarks.changes import neighbours_lower
from benchmarks.harness import Note, Run, table
from benchmarks.worlds import Floats, Rng
from estimators import Scores, advantage, verdict

OPTIONS = {"beside": ("", "")}
LIMIT = 0.3
HALVES = 50

OTHER = f"""
import pickle, sys
from estimators import Scores, advantage, verdict
asked = pickle.load(sys.stdin.buffer)
said = [verdict(advantage(Scores.of(*sides), seed=seed), {LIMIT}).decision.value for sides, seed in asked]
pickle.dump(said, sys.stdout.buffer)
"""
"""What another checkout is asked of sides and seeds."""
SETS: dict[str, Callable[..., tuple[Floats, Floats]]] = {"diabetes": load_diabetes, "digits": load_digits}
SETS |= {"breast cancer": load_breast_cancer, "wine": load_wine}
STUMPS = GradientBoostingRegressor(max_depth=1, n_estimators=40, learning_rate=0.05)
MODELS = {
    "deep boosting": (GradientBoostingRegressor(max_depth=6, n_estimators=150, subsample=0.5), "overfit"),
    "forest without bootstrap": (RandomForestRegressor(30, bootstrap=False, max_features=0.3), "overfit"),
    "deep tree": (DecisionTreeClassifier(), "overfit"),
    "forest of classes": (RandomForestClassifier(40), "overfit"),
    "ridge": (Ridge(100.0), "regularised"),
    "shallow boosting": (STUMPS, "regularised"),
    "logistic": (LogisticRegression(C=0.01, max_iter=2000), "regularised"),
    "wide leaves": (RandomForestRegressor(20, min_samples_leaf=40), "regularised"),
}
CLASSIFIERS = DecisionTreeClassifier, RandomForestClassifier, LogisticRegression


def known_to(model: str) -> list[str]:
    """The sets a model is asked about: a regressor of two classes that remembers them answers in labels alone."""
    return [data for data in SETS if data != "breast cancer" or isinstance(MODELS[model][0], CLASSIFIERS)]


@cache
def rows_of(name: str) -> tuple[Floats, Floats]:
    inputs, target = SETS[name](return_X_y=True)
    spread = inputs.std(axis=0)
    return (inputs - inputs.mean(axis=0)) / np.where(spread > 0, spread, 1.0), target.astype(float)


def scores_of(data: str, model: str, rng: Rng) -> dict[str, tuple[Floats, Floats]]:
    """For each score: of the rows that were trained on, and of the others."""
    inputs, target = rows_of(data)
    if isinstance(MODELS[model][0], CLASSIFIERS) and len(np.unique(target)) > 20:
        target = np.searchsorted(np.quantile(target, (0.25, 0.5, 0.75)), target)
    order = rng.permutation(len(target))
    first, second = order[: len(order) // 2], order[len(order) // 2 :]
    fitted = clone(MODELS[model][0])
    if "random_state" in fitted.get_params():
        fitted.set_params(random_state=int(rng.integers(2**31)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted.fit(inputs[first], target[first])
    if hasattr(fitted, "predict_proba"):
        chances = fitted.predict_proba(inputs)
        known = np.minimum(np.searchsorted(fitted.classes_, target), len(fitted.classes_) - 1)
        raw, error = chances.max(axis=1), 1.0 - chances[np.arange(len(target)), known]
    else:
        raw = fitted.predict(inputs)
        error = (raw - target) ** 2
    return {"prediction": (raw[first], raw[second]), "error": (error[first], error[second])}


def evenly(members: Floats, nonmembers: Floats, rng: Rng) -> tuple[Floats, Floats]:
    """As many of either side, in random order."""
    n = min(len(members), len(nonmembers))
    return rng.permutation(members)[:n], rng.permutation(nonmembers)[:n]


def judged(task: tuple[str, str, int]) -> dict[str, tuple[str, bool]]:
    data, model, seed = task
    rng, found = np.random.default_rng([seed, 33]), {}
    for score, scores in scores_of(data, model, rng).items():
        sides = evenly(*scores, rng)
        answer = advantage(Scores.of(*sides), seed=seed)
        from_whole = [np.abs(side - np.rint(side)) for side in sides]
        proven = max(neighbours_lower(*sides, rng), neighbours_lower(*from_whole, rng))
        decision = verdict(answer, LIMIT).decision.value
        found[score] = decision, decision == "pass" and proven > answer.upper + 0.01
    return found


@table
def models(run: Run):
    """Verdicts at a limit of 0.3 over random halves, and passes that are refuted."""
    yield "model | kind | data | halves | by predictions: pass, fail | by errors: pass, fail | passes that are refuted"
    halves = run.times(HALVES, 1)
    for model, (_, kind) in run.few(MODELS.items(), 2):
        for data in run.few(known_to(model), 1):
            answers = run.map(judged, [(data, model, seed) for seed in range(halves)])
            words = [[each[score][0] for each in answers] for score in ("prediction", "error")]
            counts = " | ".join(f"{each.count('pass')}, {each.count('fail')}" for each in words)
            refuted = sum(each[score][1] for each in answers for score in each)
            run.faults += refuted > 0
            yield f"{model} | {kind} | {data} | {halves} | {counts} | {refuted}"


def drawn(task: tuple[str, str, int]) -> list[tuple[tuple[Floats, Floats], int]]:
    data, model, seed = task
    rng = np.random.default_rng([seed, 33])
    return [(evenly(*scores, rng), seed) for scores in scores_of(data, model, rng).values()]


def said_by(checkout: str, asked: list[tuple[tuple[Floats, Floats], int]]) -> list[str]:
    """The decisions of another version, in a process of its own."""
    place = Path(checkout).resolve()
    command, paths = [sys.executable, "-c", OTHER], os.environ | {"PYTHONPATH": str(place)}
    said = subprocess.check_output(command, input=pickle.dumps(asked), env=paths, cwd=place)
    return list(pickle.loads(said))


@table
def paired(run: Run):
    """Passes of this checkout and of the one that ``--beside`` names, of the same scores; by predictions and errors."""
    if not run.beside:
        yield Note("--beside names no checkout of another version")
        return
    yield "model | kind | data | answers | passes there | passes here | there alone | here alone"
    for model, (_, kind) in run.few(MODELS.items(), 2):
        for data in run.few(known_to(model), 1):
            tasks = [(data, model, seed) for seed in range(run.times(HALVES, 1))]
            asked = [each for task in run.map(drawn, tasks) for each in task]
            there, here = (np.array(said_by(where, asked)) == "pass" for where in (run.beside, "."))
            counts = there.sum(), here.sum(), (there & ~here).sum(), (here & ~there).sum()
            yield f"{model} | {kind} | {data} | {len(asked)} | {' | '.join(map(str, counts))}"


def harmless(task: tuple[str, str, int]) -> int:
    """Whether a model is said to leak about rows it never saw: both sides are of the half it was not trained on."""
    data, model, seed = task
    rng, fails = np.random.default_rng([seed, 34]), 0
    for _, nonmembers in scores_of(data, model, rng).values():
        mixed = rng.permutation(nonmembers)
        half = len(mixed) // 2
        fails += advantage(Scores.of(mixed[:half], mixed[half : 2 * half]), seed=seed).lower > 0.0
    return fails


@table
def null(run: Run):
    """Models about rows that they never saw: lower ends above 0 may be 2.5%."""
    yield "answers | lower end above 0"
    seeds = range(run.times(20, 1))
    tasks = [(data, model, seed) for model in MODELS for data in known_to(model) for seed in seeds]
    fails = sum(run.map(harmless, tasks))
    yield f"{2 * len(tasks)} | {run.rate(fails, 2 * len(tasks), form='.2g')}"
