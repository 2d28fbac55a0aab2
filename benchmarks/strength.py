"""How strong the queries of a model's audit are: what they see of a leak that is known to be there.

Models of one half of scikit-learn's digits and breast cancer, split at random. Four twins each hold a tenth as many
planted rows as training rows, four times each. CPU seconds are those of the twins and of what is asked of them.
"""

import time
import warnings
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import macekit
from benchmarks.harness import Note, Run, Title, table
from estimators import Scores, advantage
from estimators.audits.model import MOST_PLANTED, planting, query_strength, shadow_scores
from estimators.audits.queries.shadows import random_halves
from estimators.sample.scores import Query

QUICK = 0.01
TWINS = 4
COPIES = 4
LIMIT = 0.2
ALTERED = 30
"""Altered copies of a record, whose labels are asked for."""
NOISE = 0.8
"""Standard deviation of what is added to each number of a copy, as a share of that of all numbers."""
MODELS = {
    "nearest neighbour": KNeighborsClassifier(1),
    "random forest": RandomForestClassifier(100, random_state=0),
    "forest, leaves of 20": RandomForestClassifier(100, min_samples_leaf=20, random_state=0),
    "logistic": LogisticRegression(max_iter=500),
    "logistic, C = 0.001": LogisticRegression(C=0.001, max_iter=500),
    "boosting": GradientBoostingClassifier(n_estimators=30, random_state=0),
    "network": make_pipeline(StandardScaler(), MLPClassifier((64,), max_iter=200, random_state=0)),
}
DATA = {"digits": load_digits, "cancer": load_breast_cancer}

Sides = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def split(name: str) -> Sides:
    """Both halves: rows and labels of the training side, then of the other."""
    X, y = DATA[name](return_X_y=True)
    X = X / 16.0 if name == "digits" else StandardScaler().fit_transform(X)
    a, b, ya, yb = train_test_split(X, y, test_size=0.5, random_state=0)
    return a, ya, b, yb


def ends(result: Any) -> str:
    return f"[{result.lower:.3f}, {result.upper:.3f}]"


def word(strength: Any) -> str:
    return "strong" if strength.strong else "weak" if strength.weak else "open"


def altered_and_mislabelled(model: Any, sides: Sides) -> tuple[Any, Any]:
    """What labels of altered copies tell of planted records, and what queries tell of those with a wrong label."""
    X, y, others, labels = sides
    classes, rng = np.unique(y), np.random.default_rng(0)
    wrong = np.array([rng.choice(classes[classes != own]) for own in labels])
    shares: tuple[list[Any], list[Any]] = ([], [])
    answers: tuple[list[Any], list[Any]] = ([], [])
    parts = planting(TWINS, len(labels), int(MOST_PLANTED * len(y)))
    for pair in parts:
        repeated = np.repeat(pair[0], COPIES)
        of_own, of_wrong = (
            clone(model).fit(np.concatenate([X, others[repeated]]), np.concatenate([y, truth[repeated]]))
            for truth in (labels, wrong)
        )
        for side, rows in enumerate(pair):
            copies = others[rows] + NOISE * X.std() * rng.normal(size=(ALTERED, *others[rows].shape))
            guesses = of_own.predict(copies.reshape(-1, X.shape[1])).reshape(ALTERED, -1)
            shares[side].append((guesses == labels[rows]).mean(axis=0))
            answers[side].append(of_wrong.predict_proba(others[rows]))
    planted, spared = (np.concatenate([pair[side] for pair in parts]) for side in (0, 1))
    labels_of = wrong[planted], wrong[spared]
    of_wrong = query_strength(*map(np.concatenate, answers), *labels_of, classes=classes, copies=COPIES)
    return advantage(Scores.of(*map(np.concatenate, shares))), of_wrong.interval


@table
def found(run: Run):
    """A row for each model: the audit, and what its queries and others see of planted records."""
    warnings.simplefilter("ignore")
    yield (
        f"model | audit | at {LIMIT} | planted | they see | queries are | beside the model | altered copies | "
        "wrong labels | CPU s"
    )
    for data in ("cancer",) if run.quick else DATA:
        sides = split(data)
        for name, model in list(MODELS.items())[: 2 if run.quick else None]:
            fitted = clone(model).fit(*sides[:2])
            macekit.audit_model(fitted, *sides)  # imports
            asked = partial(macekit.audit_model, fitted, *sides, max_advantage=LIMIT, check_sides=False)
            start = time.process_time()
            asked()
            middle = time.process_time()
            audit = asked(twins=TWINS, copies=COPIES)
            seconds = time.process_time() - middle - (middle - start)
            strength = audit.strength
            altered, wrong = altered_and_mislabelled(fitted, sides)
            yield (
                f"{data}, {name} | {ends(audit.comparison.maximum)} | {audit.decision.value} | {strength.planted} | "
                f"{ends(strength.interval)} | {word(strength)} | {ends(strength.beside)} | {ends(altered)} | "
                f"{ends(wrong)} | {seconds:.1f}"
            )


@table
def unplanted(run: Run):
    """How often something is found of records that no twin was trained on."""
    warnings.simplefilter("ignore")
    runs = run.times(120, 2)
    yield "twins that hold no planted record | runs | lower end above 0 | beside the model, above 0"
    X, y = load_digits(return_X_y=True)
    every = {"logistic": LogisticRegression(max_iter=300), "random forest": RandomForestClassifier(10)}
    for name, model in every.items():
        above = beside = 0
        for seed in range(runs):
            order = np.random.default_rng([seed, 5]).permutation(len(y))
            ours, theirs = order[:300], order[300:800]
            sides = X[ours] / 16, y[ours], X[theirs] / 16, y[theirs]

            def fit(rows: Any, labels: Any, own: int, sides: Any = sides, model: Any = model) -> Any:
                drawn = np.random.default_rng(own).integers(0, len(sides[1]), len(sides[1]))
                again = clone(model)
                seeds = {each: own for each in again.get_params() if each == "random_state"}
                return again.set_params(**seeds).fit(sides[0][drawn], sides[1][drawn])

            fitted = clone(model).fit(*sides[:2])
            audit = macekit.audit_model(fitted, *sides, twins=4, fit=fit, check_sides=False, seed=seed)
            above += audit.strength.interval.lower > 0.0
            beside += audit.strength.beside.lower > 0.0
        yield f"{name} | {runs} | {above / runs:.1%} | {beside / runs:.1%}"


RECORDS = 400
COLUMNS = 60
SHADOWS = 16
SPREAD = 0.5
"""Standard deviation of the logarithm of a record's length: some stand out from the others."""


def records(rng: np.random.Generator, number: int) -> np.ndarray:
    return np.exp(SPREAD * rng.normal(size=(number, 1))) * rng.normal(size=(number, COLUMNS))


def signals(models: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Minus the squared distance from each model, the mean of its training rows, less what no model changes."""
    return 2.0 * models @ rows.T - (models**2).sum(axis=1)[:, None]


def means(membership: np.ndarray, pool: np.ndarray) -> np.ndarray:
    return membership @ pool / membership.sum(axis=1)[:, None]


def scores_of(rng: np.random.Generator, seed: int, attacker: str, leaks: bool) -> dict[str, np.ndarray]:
    """Scores of all records of a pool of which the model was trained on the first half, by shadows."""
    pool, half = records(rng, RECORDS), RECORDS // 2
    target = pool[:half].mean(axis=0) if leaks else records(rng, half).mean(axis=0)
    membership = random_halves(SHADOWS, RECORDS, seed) if attacker == "pool" else None
    if membership is not None:
        shadows = means(membership, pool)
    else:
        shadows = np.stack([records(rng, half).mean(axis=0) for _ in range(SHADOWS)])
    asked = signals(target[None], pool)[0], signals(shadows, pool)
    scores, _ = shadow_scores(*asked, membership, scale="plain")
    return {name: each for name, each in scores.items() if name != "calibrated_loss"}


def best_cut(members: np.ndarray, nonmembers: np.ndarray) -> float:
    """The best threshold's advantage on scores of very many runs."""
    cuts = np.unique(np.concatenate([members, nonmembers]))
    shares = [np.searchsorted(np.sort(side), cuts, side="left") / side.size for side in (members, nonmembers)]
    return float((shares[1] - shares[0]).max())


@table
def pool(run: Run):
    """Shadows of the very pool that the model was trained on half of, and of other records; then record by record."""
    runs, half = run.times(400, 4), RECORDS // 2
    yield f"the model ({runs} runs) | shadows from | query | advantage | below the lower end | above the upper end"
    for leaks in (False, True):
        for attacker in ("pool", "others"):
            drawn: dict[str, list[np.ndarray]] = {}
            for seed in range(runs):
                rng = np.random.default_rng([seed, leaks, attacker == "pool"])
                for name, each in scores_of(rng, seed, attacker, leaks).items():
                    drawn.setdefault(name, []).append(each)
            for name, every in drawn.items():
                both, misses = np.stack(every), np.zeros(2)
                truth = best_cut(both[:, :half].ravel(), both[:, half:].ravel()) if leaks else 0.0
                for seed, each in enumerate(every):
                    scores = Scores.of(each[:half], each[half:], Query.CONTINUOUS)
                    interval = advantage(scores, seed=seed).estimate
                    misses += interval.lower > truth, interval.upper < truth
                model = "trained on half of the pool" if leaks else "trained on other records"
                source = "that pool" if attacker == "pool" else "other records"
                below, above = misses / runs
                yield f"{model} | {source} | `{name}` | {truth:.3f} | {below:.1%} | {above:.1%}"
    yield from _record_by_record(run)


def _record_by_record(run: Run):
    """What one cut for all records does to each of them."""
    rng, models = np.random.default_rng(0), run.times(2000, 100)
    about = f"One cut for all records of a pool, over {models} models of halves of it: rates of each record."
    yield Title("records", about)
    yield "query | share accused of nonmembers, all records | of a record: 5% | median | 95% | largest"
    rows = records(rng, RECORDS)
    shadow = random_halves(SHADOWS, RECORDS, 0)
    of_shadows = signals(means(shadow, rows), rows)
    membership = np.stack([rng.permutation(RECORDS) < RECORDS // 2 for _ in range(models)])
    targets = signals(means(membership, rows), rows)
    by_query: dict[str, list[np.ndarray]] = {"signal alone": list(targets)}
    for target in targets:
        for name, each in shadow_scores(target, of_shadows, shadow, scale="plain")[0].items():
            if name != "calibrated_loss":
                by_query.setdefault(name, []).append(each)
    for name, every in by_query.items():
        scores = np.stack(every)
        for rate in (0.1, 0.01):
            cut = np.quantile(scores[~membership], 1.0 - rate)
            accused = ((scores > cut) & ~membership).sum(axis=0) / (~membership).sum(axis=0)
            low, middle, high = np.quantile(accused, [0.05, 0.5, 0.95])
            yield f"`{name}` | {rate} | {low:.3f} | {middle:.3f} | {high:.3f} | {accused.max():.3f}"
    yield Note("The cut is set on these very records, so that all together are accused as often as asked.")
