"""Vectors by a learned score: how often an answer sees a leak where there is none, and how often its limits hold.

    python -m benchmarks.vectors               # the tables of docs/methods.md, section 2, about a quarter of an hour
    python -m benchmarks.vectors --runs 0.1    # a tenth of the runs
    python -m benchmarks.vectors --only pilots # the table of docs/scale.md

Without a leak, no lower end may lie above its value without the score in more than 2.5% of the samples, and no record
be flagged in more than 5%. Beside it stands what is done instead where out-of-fold scores are pooled: the folds' errors
go together, and limits for independent records miss far more often than they say.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from estimators.advantage import advantage
from estimators.adversary.learned import Learner, boosting, boxes, learn_score, logistic, quadratic
from estimators.adversary.pilot import Pilot, PilotDraw
from estimators.adversary.tree import IN_ENGINES, between_rows
from estimators.audit.epsilon import epsilon_lower_bound
from estimators.audit.exposure import exposure
from estimators.audit.roc import auc
from estimators.metric.estimate import metric_optimum
from estimators.metric.presets import preset
from estimators.risk.individual import individual_risk
from estimators.sample.cells import Halves
from estimators.sample.counting import by_rank
from estimators.sample.counts import Counts
from estimators.sample.learned import LearnedCounts
from estimators.sample.scores import Query, Scores
from estimators.sample.stream import CountStream

Floats = NDArray[np.float64]

QUICK = (quadratic(), logistic(), boxes())
EVERY = (*QUICK, boosting())

ALARMS = (
    ("advantage", "2.5%"),
    ("balanced accuracy", "2.5%"),
    ("precision", "2.5%"),
    ("AUC", "2.5%"),
    ("epsilon", "2.5%"),
    ("exposure", "2.5%"),
    ("risk, one record", "2.5%"),
    ("risk, all records", "2.5%"),
    ("any flag", "5%"),
)


def no_leak(
    dimension: int, n: int, runs: int, learners: tuple[Learner, ...], prior: float = 0.5
) -> list[float]:
    """Shares of samples without a leak in which each statement sees one."""
    seen = np.zeros((runs, len(ALARMS)))
    for run in range(runs):
        rng = np.random.default_rng([run, dimension, n])
        vectors = Scores.of(rng.normal(size=(n, dimension)), rng.normal(size=(n, dimension)))
        learned = learn_score(vectors, prior, run, learners)
        counts = learned.counts
        risks = individual_risk(vectors, prior, seed=run, learners=learners)
        zero = 2.0 * prior - 1.0
        signed, every = risks.cells.signed, risks.cells.signed_simultaneous
        alarms: list[float] = [
            advantage(counts, prior, seed=run).lower > abs(zero) + 1e-12,
            metric_optimum(counts, preset("balanced_accuracy", prior), prior, seed=run).interval.lower
            > 0.5 + 1e-12,
            metric_optimum(counts, preset("precision", prior), prior, seed=run).interval.lower
            > prior + 1e-12,
            auc(counts).estimate.lower > 0.5,
            epsilon_lower_bound(counts, seed=run).value > 0.0,
            exposure(counts, prior=prior).score_epsilon > 0.0,
            float(np.mean(signed.lower[risks.cell] > zero + 1e-12)),
            bool((every.lower > zero + 1e-12).any()),
            risks.n_flagged > 0,
        ]
        seen[run] = alarms
    return [float(share) for share in seen.mean(axis=0)]


def false_alarms(share: float) -> Iterator[str]:
    """A row for each kind of sample."""
    yield (
        "| dimensions | n a side | learners | runs | "
        + " | ".join(f"{name} (at most {most})" for name, most in ALARMS)
        + " |"
    )
    yield "| ---: | ---: | --- | ---: |" + " ---: |" * len(ALARMS)
    cases = ((2, 60, QUICK, 1500), (2, 300, QUICK, 1000), (20, 100, QUICK, 1000), (4, 150, EVERY, 300))
    for dimension, n, learners, most in cases:
        runs = max(10, round(share * most))
        shares = " | ".join(f"{100 * each:.2g}%" for each in no_leak(dimension, n, runs, learners))
        names = "all four" if learners is EVERY else "all but boosting"
        yield f"| {dimension} | {n} | {names} | {runs} | {shares} |"


# --- pooled -------------------------------------------------------------------------------------------------
# What is not done here, and why: scores of all folds in one list, as if they were one sample.


def pooled_folds(vectors: Scores, folds: int, learner: Learner, seed: int) -> Scores:
    """Out-of-fold scores of a classifier, all folds in one list: as a share of the ranks of their own fold."""
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
        scores[0][fold_of[0] == fold], scores[1][fold_of[1] == fold] = (
            order[: len(here[0])],
            order[len(here[0]) :],
        )
    return Scores(scores[0], scores[1], Query.CONTINUOUS, "out-of-fold scores")


def pooled_alarms(share: float) -> Iterator[str]:
    """How often the AUC's lower end is above one half without a leak: all folds pooled, and one learned score."""
    yield "| dimensions | n a side | runs | 2 folds pooled | 5 folds pooled | one learned score |"
    yield "| ---: | ---: | ---: | ---: | ---: | ---: |"
    runs, learner = max(20, round(share * 2000)), logistic()
    for dimension, n in ((2, 100), (20, 100)):
        alarms = np.zeros(3)
        for run in range(runs):
            rng = np.random.default_rng([run, dimension, n])
            vectors = Scores.of(rng.normal(size=(n, dimension)), rng.normal(size=(n, dimension)))
            samples = (
                *(by_rank(pooled_folds(vectors, folds, learner, run)) for folds in (2, 5)),
                learn_score(vectors, seed=run, learners=[learner]).counts,
            )
            alarms += [auc(each).estimate.lower > 0.5 for each in samples]
        row = " | ".join(f"{100 * each:.2g}%" for each in alarms / runs)
        yield f"| {dimension} | {n} | {runs} | {row} |"


# --- covered ------------------------------------------------------------------------------------------------


def covered(share: float) -> Iterator[str]:
    """How often risk's limits hold the risk of the learned score in a record's cell, where half a deviation leaks."""
    yield "| dimensions | n a side | runs | one record | all records | false among flagged, at f = 0.5 |"
    yield "| ---: | ---: | ---: | ---: | ---: | ---: |"
    fresh = 20_000
    for dimension, n, most in ((2, 200, 300), (8, 400, 200)):
        runs = max(10, round(share * most))
        one, every, false = np.zeros(runs), np.zeros(runs), np.zeros(runs)
        shift = 1.0 / np.sqrt(dimension)
        for run in range(runs):
            rng = np.random.default_rng([run, dimension, n])
            vectors = Scores.of(rng.normal(shift, 1, (n, dimension)), rng.normal(0, 1, (n, dimension)))
            risks = individual_risk(vectors, seed=run, learners=QUICK, threshold=0.5)
            further = rng.normal(shift, 1, (fresh, dimension)), rng.normal(0, 1, (fresh, dimension))
            assert risks.learned is not None
            cells = risks.cells.counts.cells
            assert isinstance(cells, Halves)
            laws = []
            for part, learned in zip(cells.parts, risks.learned, strict=True):
                r, q = (
                    np.bincount(part.locate(learned.score(side)), minlength=part.size) + 0.5
                    for side in further
                )
                laws.append((r - q) / (r + q))
            truth = np.concatenate(laws)
            signed, together = risks.cells.signed, risks.cells.signed_simultaneous
            inside = (signed.lower <= truth) & (truth <= signed.upper)
            one[run] = inside[risks.cell].mean()
            every[run] = ((together.lower <= truth) & (truth <= together.upper)).all()
            flagged = risks.flagged
            false[run] = (truth[risks.cell] <= 0.5)[flagged].mean() if flagged.any() else 0.0
        yield (
            f"| {dimension} | {n} | {runs} | {100 * one.mean():.1f}% | {100 * every.mean():.1f}% | "
            f"{100 * false.mean():.2g}% |"
        )


# --- pilot --------------------------------------------------------------------------------------------------
# Vectors of more records than memory: a pilot chooses the score, and only the other records are counted.

Pair = tuple[Floats, Floats]


def independent(rng: np.random.Generator, n: int) -> Pair:
    """No leak."""
    return rng.normal(size=(n, 2)), rng.normal(size=(n, 2))


def shifted(rng: np.random.Generator, n: int) -> Pair:
    """Both coordinates of members are larger by 0.2."""
    return rng.normal(0.2, 1.0, (n, 2)), rng.normal(size=(n, 2))


def crossed(rng: np.random.Generator, n: int) -> Pair:
    """The coordinates of a fifth of the members have equal signs; neither by itself tells anything."""
    members, nonmembers = independent(rng, n)
    of_them = rng.random(n) < 0.2
    members[of_them, 1] = np.abs(members[of_them, 1]) * np.sign(members[of_them, 0])
    return members, nonmembers


def spread_out(rng: np.random.Generator, n: int) -> Pair:
    """Ten coordinates of members are larger, each by little."""
    return rng.normal(0.09, 1.0, (n, 10)), rng.normal(size=(n, 10))


WORLDS: dict[str, tuple[Callable[[np.random.Generator, int], Pair], float]] = {
    "no leak": (independent, 0.0),
    "shift": (shifted, 2.0 * float(ndtr(0.1 * np.sqrt(2.0))) - 1.0),
    "xor": (crossed, 0.1),
    "shift of ten": (spread_out, 2.0 * float(ndtr(0.045 * np.sqrt(10.0))) - 1.0),
}
"""How both sides are drawn, and the advantage of the best attacker."""


def by_stream(sides: Pair, seed: int, learners: Sequence[Learner]) -> Counts:
    """As a source that is read twice: a pilot of all rows, and then the others, by blocks."""
    draw, stream, start = PilotDraw(seed, len(sides[0]) // 5), CountStream.on_grid(), 0
    member = np.repeat([True, False], [len(side) for side in sides])
    order = np.random.default_rng(seed).permutation(len(member))
    rows, member = np.concatenate(sides)[order], member[order]
    draw.add(rows, member)
    pilot = draw.pilot()
    rule = pilot.teach(seed=seed, learners=learners)
    for start in range(0, len(rows), 1000):
        block, of_members = rows[start : start + 1000], member[start : start + 1000]
        others = pilot.others(start, len(block))
        scores = rule.score(block)
        stream = stream.plus(scores[others & of_members], scores[others & ~of_members])
    counts = stream.counts()
    return LearnedCounts(counts.members, counts.nonmembers, counts.cells, rule.learner, rule.n_taught)


def by_engine(sides: Pair, seed: int, learners: Sequence[Learner]) -> Counts:
    """As a frame of an engine: the first rows of either side choose boxes, and the others are counted."""
    pilot = Pilot.of(*(side[: len(side) // 5] for side in sides), seed)
    rule = pilot.teach_boxes(seed=seed, learners=learners)
    boxes = between_rows(rule.boxes, pilot.rows)
    columns = [np.bincount(boxes.locate(side[len(side) // 5 :]), minlength=boxes.size) for side in sides]
    return rule.counts(*columns)


def by_boxes(sides: Pair, seed: int, _learners: Sequence[Learner]) -> Counts:
    """The same with boxes of equal mass, each a cell."""
    pilot = Pilot.of(*(side[: len(side) // 5] for side in sides), seed)
    boxes = pilot.boxes(None, 2 * len(sides[0]))
    columns = [np.bincount(boxes.locate(side[len(side) // 5 :]), minlength=boxes.size) for side in sides]
    return Counts(columns[0], columns[1], boxes)


WAYS: dict[str, tuple[Callable[[Pair, int, Sequence[Learner]], Counts], Sequence[Learner]]] = {
    "stream, all but boosting": (by_stream, QUICK),
    "stream, all four": (by_stream, EVERY),
    "engine: boxes and tree": (by_engine, IN_ENGINES),
    "engine, histogram": (by_boxes, ()),
}


def pilots(share: float) -> Iterator[str]:
    """How often the lower end of a pilot's score is above the truth, and how near it comes to it."""
    yield "| world | counted by | n a side | runs | truth | mean lower end | above the truth (at most 2.5%) |"
    yield "| --- | --- | ---: | ---: | ---: | ---: | ---: |"
    for world, (drawing, truth) in WORLDS.items():
        for way, (counting, learners) in WAYS.items():
            n = 1000 if world == "no leak" else 20_000
            most = (200 if learners is EVERY else 1000) if world == "no leak" else 20
            runs = max(10, round(share * most))
            lower = np.zeros(runs)
            for run in range(runs):
                sides = drawing(np.random.default_rng([run, n]), n)
                lower[run] = advantage(counting(sides, run, learners), seed=run).lower
            above = np.mean(lower > truth + 1e-12)
            yield f"| {world} | {way} | {n:,} | {runs} | {truth:.3f} | {lower.mean():.3f} | {100 * above:.2g}% |"


def main() -> None:
    """Print the four tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--runs", type=float, default=1.0, help="share of the full number of runs")
    parser.add_argument("--only", default="alarms,pooled,covered,pilots")
    given = parser.parse_args()
    share, parts = given.runs, given.only.split(",")
    tables = {"alarms": false_alarms, "pooled": pooled_alarms, "covered": covered, "pilots": pilots}
    for table in (tables[part] for part in parts):
        for row in table(share):
            print(row, flush=True)
        print()


if __name__ == "__main__":
    main()
