"""MIS, Figure 1: a network that learns its training records by heart, watched as it learns.

    OMP_NUM_THREADS=1 .venv/bin/python -m examples.theory.mis.figure1 -o examples/theory/mis/figure1.svg

The setting is the paper's (appendix D) at its size: 1000 records in 10 dimensions, 4096 hidden units, Adam at 0.1 for
2500 iterations, 10000 new records to validate. Ours beside it: what Theorem 11 certifies, at each moment for itself,
from the fractions' intervals, corrected for the choice of the threshold. It speaks of this network; what it certifies
of the learner, its Sec, needs many trainings, here of a smaller one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from estimators.statement import at_most
from examples.theory.drawing import line_chart, write_svg
from examples.theory.mis.network import Network
from examples.theory.mis.regression import THRESHOLDS, Floats, Losses, below, ceiling, draw
from examples.theory.table import arguments, table
from macekit.reports.charts.frame import Spec

SEED = 0


@dataclass(frozen=True)
class Size:
    """How large everything is."""

    records: int
    heldout: int
    width: int
    iterations: int
    every: int
    dimension: int = 10
    rate: float = 0.1


FULL = Size(records=1000, heldout=10_000, width=4096, iterations=2500, every=50)
QUICK = Size(records=100, heldout=1000, width=1024, iterations=600, every=100)


SMALL = Size(records=100, heldout=1, width=1024, iterations=600, every=600)
"""The learner that is trained anew many times."""

TRAININGS = 200

Course = dict[int, Losses]


@dataclass(frozen=True)
class Results:
    """One network's losses after so many iterations, and of many small ones a pair of losses each."""

    course: Course
    many: Losses


def measured(size: Size, trainings: int) -> Results:
    """The network of Example 1 as it learns; and the same learner, smaller, on ``trainings`` data sets of its own."""
    last = [trained(SMALL, [SEED, repeat])[SMALL.iterations] for repeat in range(trainings)]
    pairs = [(each.train, each.heldout) for each in last]
    train, heldout = (np.array([side[0] for side in sides]) for sides in zip(*pairs, strict=True))
    return Results(trained(size, [SEED]), Losses(train, heldout, of="independent_trainings"))


def trained(size: Size, seed: list[int]) -> Course:
    """One training: all losses, every so often."""
    rng = np.random.default_rng(seed)
    sample = draw(rng, size.records, size.dimension, linear=False)
    new = draw(rng, size.heldout, size.dimension, linear=False)
    x, y, new_x, new_y = (each.astype(np.float32) for each in (sample.x, sample.y, new.x, new.y))
    network = Network(rng, size.dimension, size.width, size.rate)
    course = {}
    for iteration in range(1, size.iterations + 1):
        network.step(x, y)
        if iteration % size.every == 0:
            losses = network.losses(x, y), network.losses(new_x, new_y)
            course[iteration] = Losses(*losses, of="one_model")
    return course


def markdown(results: Results) -> str:
    """At most ten moments, evenly spaced, with what the paper says of the last; and the learner's own security."""
    course = results.course
    moments = list(course)[:: -max(len(course) // 10, 1)][::-1]
    rows = [
        (
            iteration,
            *(f"{share:.3f}" for share in below(course[iteration].train)),
            *(f"{share:.4f}" for share in below(course[iteration].heldout)),
            at_most(course[iteration].security_at_most()),
        )
        for iteration in moments
    ]
    rows.append(("paper, 2500", "1", "", "", "near 0", "", "", ""))
    limits = (f"{ceiling(threshold):.4f}" for threshold in THRESHOLDS)
    rows.append(("any model", "", "", "", *limits, ""))
    size = f"{SMALL.records} records, {SMALL.width} hidden units, {SMALL.iterations} iterations"
    learner = (len(results.many.train), size, at_most(results.many.security_at_most()))
    trainings = table(("independent trainings", "of", "Sec of the learner: at most (95%)"), [learner])
    return f"{table(head(), rows)}\n\n{trainings}"


def head() -> tuple[str, ...]:
    """Of that table."""
    return (
        "iteration",
        *(f"training loss <= {threshold:g}" for threshold in THRESHOLDS),
        *(f"validation loss <= {threshold:g}" for threshold in THRESHOLDS),
        "this model, attacks on its loss: at most (95%)",
    )


def figure(results: Results) -> list[Spec]:
    """The paper's two panels, and the certified bound."""
    course = results.course
    iterations = list(course)
    train = np.array([below(each.train) for each in course.values()])
    heldout = np.array([below(each.heldout) for each in course.values()])
    limits = [each.security_at_most() for each in course.values()]

    def panel(title: str, shares: Floats) -> Spec:
        series = {f"loss <= {cut:g}": (iterations, shares[:, i]) for i, cut in enumerate(THRESHOLDS)}
        return line_chart(title, "iteration", "fraction of records", series)

    return [
        panel("Training records whose loss is at most ...", train),
        panel("New records whose loss is at most ...", heldout),
        line_chart(
            "What attacks on the loss leave of this network's security",
            "iteration",
            "upper end, 95%",
            {"Theorem 11, certified": (iterations, limits)},
        ),
    ]


def main() -> None:
    """Train, print, and draw if asked."""
    options = arguments(__doc__ or "").parse_args()
    results = measured(QUICK, 3) if options.quick else measured(FULL, TRAININGS)
    print(markdown(results))
    if options.o:
        write_svg(figure(results), options.o)


if __name__ == "__main__":
    main()
