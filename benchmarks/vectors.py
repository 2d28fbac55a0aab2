"""Vectors by a learned score: how often an answer sees a leak where there is none, and how often its limits hold.

Without a leak, no lower end may lie above its value without the score in more than 2.5% of the samples, and no record
be flagged in more than 5%. Beside it stands what is done instead where out-of-fold scores are pooled: the folds' errors
go together, and limits for independent records miss far more often than they say. About a quarter of an hour.
"""

from collections.abc import Callable, Sequence
from itertools import product

import numpy as np
from scipy.special import ndtr

from benchmarks.harness import Run, table
from benchmarks.worlds import Floats, Rng
from estimators import Counts, Query, Scores, advantage, exposure, individual_risk, metric_optimum, preset
from estimators.adversary.learned import Learner, boosting, boxes, learn_score, logistic, quadratic
from estimators.adversary.pilot import IN_ENGINES, Pilot, PilotDraw, between_rows
from estimators.privacy.auc import auc
from estimators.privacy.epsilon import epsilon_lower_bound
from estimators.sample.counting import by_rank
from estimators.sample.learned import LearnedCounts
from estimators.sample.stream import CountStream

ALL_BUT_BOOSTING = (quadratic(), logistic(), boxes())
EVERY = (*ALL_BUT_BOOSTING, boosting())
STATEMENTS = ("advantage", "balanced accuracy", "precision", "AUC", "epsilon", "exposure")
STATEMENTS += ("risk, one record", "risk, all records", "any flag")
Pair = tuple[Floats, Floats]


def normal(rng: Rng, n: int, dimension: int, by: float = 0.0) -> Scores:
    return Scores.of(rng.normal(by, 1, (n, dimension)), rng.normal(size=(n, dimension)))


def sees(vectors: Scores, seed: int, learners: tuple[Learner, ...], prior: float = 0.5) -> list[float]:
    counts, zero = learn_score(vectors, prior, seed, learners).counts, 2.0 * prior - 1.0
    risks = individual_risk(vectors, prior, seed=seed, learners=learners)
    names = ("balanced_accuracy", "precision")
    best = [metric_optimum(counts, preset(name, prior), prior, seed=seed).interval.lower for name in names]
    signed, every = risks.cells.signed, risks.cells.signed_simultaneous
    return [
        advantage(counts, prior, seed=seed).lower > abs(zero) + 1e-12,
        best[0] > 0.5 + 1e-12,
        best[1] > prior + 1e-12,
        auc(counts).estimate.lower > 0.5,
        epsilon_lower_bound(counts, seed=seed).value > 0.0,
        exposure(counts, prior=prior).score_epsilon > 0.0,
        float(np.mean(signed.lower[risks.cell] > zero + 1e-12)),
        bool((every.lower > zero + 1e-12).any()),
        risks.n_flagged > 0,
    ]


@table
def alarms(run: Run):
    heads = [f"{name} (at most {'5%' if name == 'any flag' else '2.5%'})" for name in STATEMENTS]
    yield f"dimensions | n a side | learners | runs | {' | '.join(heads)}"
    cases = (
        (2, 60, ALL_BUT_BOOSTING, 1500),
        (2, 300, ALL_BUT_BOOSTING, 1000),
        (20, 100, ALL_BUT_BOOSTING, 1000),
        (4, 150, EVERY, 300),
    )
    for dimension, n, learners, most in run.few(cases, 2):
        runs = run.times(most, 2 if run.quick else 10)
        rngs = (np.random.default_rng([seed, dimension, n]) for seed in range(runs))
        seen = [sees(normal(rng, n, dimension), at, learners) for at, rng in enumerate(rngs)]
        names = "all four" if learners is EVERY else "all but boosting"
        cells = " | ".join(f"{100 * each:.2g}%" for each in np.mean(seen, axis=0))
        yield f"{dimension} | {n} | {names} | {runs} | {cells}"


def pooled_folds(vectors: Scores, folds: int, learner: Learner, seed: int) -> Scores:
    """What is not done here: a classifier's out-of-fold scores, as shares of the ranks of their fold, in one list."""
    rng = np.random.default_rng(seed)
    sides = [np.asarray(side, dtype=np.float64) for side in (vectors.members, vectors.nonmembers)]
    fold_of = [rng.permutation(np.arange(len(side)) % folds) for side in sides]
    scores = [np.empty(len(side)) for side in sides]
    for fold in range(folds):
        model = learner.build(seed)
        past = [side[of != fold] for side, of in zip(sides, fold_of, strict=True)]
        model.fit(np.concatenate(past), np.repeat([1, 0], [len(each) for each in past]))
        here = [model.predict_proba(side[of == fold])[:, 1] for side, of in zip(sides, fold_of, strict=True)]
        order = np.concatenate(here).argsort().argsort() / (len(here[0]) + len(here[1]))
        scores[0][fold_of[0] == fold] = order[: len(here[0])]
        scores[1][fold_of[1] == fold] = order[len(here[0]) :]
    return Scores(scores[0], scores[1], Query.CONTINUOUS, "out-of-fold scores")


@table
def pooled(run: Run):
    """How often the AUC's lower end is above one half without a leak: all folds pooled, and one learned score."""
    yield "dimensions | n a side | runs | 2 folds pooled | 5 folds pooled | one learned score"
    runs, learner = run.times(2000, 20), logistic()
    for dimension, n in ((2, 100), (20, 100)):
        above = np.zeros(3)
        for seed in range(runs):
            vectors = normal(np.random.default_rng([seed, dimension, n]), n, dimension)
            samples = [by_rank(pooled_folds(vectors, folds, learner, seed)) for folds in (2, 5)]
            samples.append(learn_score(vectors, seed=seed, learners=[learner]).counts)
            above += [auc(each).estimate.lower > 0.5 for each in samples]
        yield f"{dimension} | {n} | {runs} | {' | '.join(f'{100 * each:.2g}%' for each in above / runs)}"


@table
def covered(run: Run):
    """How often risk's limits hold the risk of the learned score in a record's cell, where half a deviation leaks."""
    yield "dimensions | n a side | runs | one record | all records | false among flagged, at f = 0.5"
    for dimension, n, most in ((2, 200, 300), (8, 400, 200)):
        runs, rows, by = run.times(most, 2 if run.quick else 10), [], 1.0 / np.sqrt(dimension)
        for seed in range(runs):
            rng = np.random.default_rng([seed, dimension, n])
            vectors = normal(rng, n, dimension, by)
            risks = individual_risk(vectors, seed=seed, learners=ALL_BUT_BOOSTING, threshold=0.5)
            further = rng.normal(by, 1, (20_000, dimension)), rng.normal(0, 1, (20_000, dimension))
            laws = []
            for half, learned in zip(risks.cells.counts.cells.parts, risks.learned, strict=True):
                placed = (half.locate(learned.score(side)) for side in further)
                r, q = (np.bincount(each, minlength=half.size) + 0.5 for each in placed)
                laws.append((r - q) / (r + q))
            truth = np.concatenate(laws)
            signed, together = risks.cells.signed, risks.cells.signed_simultaneous
            inside = (signed.lower <= truth) & (truth <= signed.upper)
            every = ((together.lower <= truth) & (truth <= together.upper)).all()
            false = (truth[risks.cell] <= 0.5)[risks.flagged]
            rows.append((inside[risks.cell].mean(), every, false.mean() if false.size else 0.0))
        one, every, false = 100 * np.mean(rows, axis=0)
        yield f"{dimension} | {n} | {runs} | {one:.1f}% | {every:.1f}% | {false:.2g}%"


def same_signs(rng: Rng, n: int) -> Pair:
    """The coordinates of a fifth of the members have equal signs; neither by itself tells anything."""
    members, nonmembers = rng.normal(size=(n, 2)), rng.normal(size=(n, 2))
    of_them = rng.random(n) < 0.2
    members[of_them, 1] = np.abs(members[of_them, 1]) * np.sign(members[of_them, 0])
    return members, nonmembers


def apart(by: float, wide: int) -> tuple[Callable[[Rng, int], Pair], float]:
    """Each coordinate of members' vectors is shifted."""
    truth = 2.0 * float(ndtr(by / 2.0 * np.sqrt(wide))) - 1.0
    return lambda rng, n: (rng.normal(by, 1.0, (n, wide)), rng.normal(size=(n, wide))), truth


WORLDS = {"no leak": apart(0.0, 2), "shift": apart(0.2, 2), "xor": (same_signs, 0.1), "shift of ten": apart(0.09, 10)}
"""How both sides are drawn, and the advantage of the best attacker."""


def by_stream(sides: Pair, seed: int, learners: Sequence[Learner]) -> Counts:
    """As a source that is read twice: a pilot of all rows, and then the others, by blocks."""
    draw, stream = PilotDraw(seed, len(sides[0]) // 5), CountStream.on_grid()
    member = np.repeat([True, False], [len(side) for side in sides])
    order = np.random.default_rng(seed).permutation(len(member))
    rows, member = np.concatenate(sides)[order], member[order]
    draw.add(rows, member)
    pilot = draw.pilot()
    rule = pilot.teach(seed=seed, learners=learners)
    for start in range(0, len(rows), 1000):
        block, of_members = rows[start : start + 1000], member[start : start + 1000]
        others, scores = pilot.others(start, len(block)), rule.score(block)
        stream = stream.plus(scores[others & of_members], scores[others & ~of_members])
    counts = stream.counts()
    return LearnedCounts(counts.members, counts.nonmembers, counts.cells, rule.learner, rule.n_taught)


def located(sides: Pair, cells) -> list[np.ndarray]:
    """How many of either side fall into each cell, but for the pilot's."""
    rest = (side[len(side) // 5 :] for side in sides)
    return [np.bincount(cells.locate(side), minlength=cells.size) for side in rest]


def by_engine(sides: Pair, seed: int, learners: Sequence[Learner]) -> Counts:
    """As a frame of an engine: the first rows of either side choose boxes, and the others are counted."""
    pilot = Pilot.of(*(side[: len(side) // 5] for side in sides), seed)
    rule = pilot.teach_boxes(seed=seed, learners=learners)
    return rule.counts(*located(sides, between_rows(rule.boxes, pilot.rows)))


def by_boxes(sides: Pair, seed: int, _: Sequence[Learner]) -> Counts:
    """The same with boxes of equal mass, each a cell."""
    cells = Pilot.of(*(side[: len(side) // 5] for side in sides), seed).boxes(None, 2 * len(sides[0]))
    return Counts(*located(sides, cells), cells)


WAYS = {
    "stream, all but boosting": (by_stream, ALL_BUT_BOOSTING),
    "stream, all four": (by_stream, EVERY),
    "engine: boxes and tree": (by_engine, IN_ENGINES),
    "engine, histogram": (by_boxes, ()),
}


@table
def pilots(run: Run):
    """Of more records than memory: how often the lower end of a pilot's score is above the truth, and how near it."""
    yield "world | counted by | n a side | runs | truth | mean lower end | above the truth (at most 2.5%)"
    worlds = [(world, way) for world, way in product(WORLDS, WAYS) if not run.quick or world == "no leak"]
    for world, way in worlds:
        (drawing, truth), (counting, learners), n = WORLDS[world], WAYS[way], 20_000
        most = 20
        if world == "no leak":
            n, most = 1000, 200 if learners is EVERY else 1000
        runs = run.times(most, 2 if run.quick else 10)
        lower = np.empty(runs)
        for seed in range(runs):
            sides = drawing(np.random.default_rng([seed, n]), n)
            lower[seed] = advantage(counting(sides, seed, learners), seed=seed).lower
        above = f"{100 * np.mean(lower > truth + 1e-12):.2g}%"
        yield f"{world} | {way} | {n:,} | {runs} | {truth:.3f} | {lower.mean():.3f} | {above}"
