"""How much to release, and what: rows of a table that resembles its training rows, beside a model of them.

    .venv/bin/python examples/releases.py

A release that blurs training rows gives away more with every row. A histogram of each column, and rows drawn from it,
give away next to nothing, however many they are (docs/releases.md).
"""

import numpy as np

import macekit
from estimators import release_queries


def people(rng: np.random.Generator, n: int) -> dict[str, np.ndarray]:
    """Three columns that hang together."""
    age = rng.integers(18, 80, n)
    wage = np.round(rng.lognormal(2 + age / 80, 0.5), 2)
    return {"age": age, "wage": wage, "hours": np.round(rng.normal(38, 6, n), 1)}


def blurred(rng: np.random.Generator, table: dict[str, np.ndarray], n: int) -> dict[str, np.ndarray]:
    """Rows of a table, drawn again and again, with a little noise in each column."""
    rows = rng.integers(len(table["age"]), size=n)
    return {name: column[rows] + rng.normal(0, 0.01 * column.std(), n) for name, column in table.items()}


def drawn_by_column(rng: np.random.Generator, table: dict[str, np.ndarray], n: int) -> dict[str, np.ndarray]:
    """Each column from a histogram of its own."""
    drawn = {}
    for name, column in table.items():
        counts, edges = np.histogram(column, 20)
        cell = rng.choice(20, n, p=counts / counts.sum())
        drawn[name] = rng.uniform(edges[cell], edges[cell + 1])
    return drawn


def main() -> None:
    """Print how many rows may go out, and three releases side by side."""
    rng = np.random.default_rng(0)
    train, holdout = people(rng, 2000), people(rng, 2000)
    released = blurred(rng, train, 2000)

    answer = macekit.release_size(train, holdout, released, max_advantage=0.1)
    for step in answer.steps:
        print(f"{step.size:5,} rows: {step.lower:.3f} to {step.upper:.3f}  {step.decision}")
    print(answer.sentence, "\n")

    few = {name: column[answer.rows] for name, column in released.items()}
    mean = np.column_stack(list(train.values())).mean(axis=0)
    loss = [np.abs(np.column_stack(list(side.values())) - mean).sum(axis=1) for side in (train, holdout)]
    releases = {
        "all rows": release_queries(train, holdout, released),
        "few rows": release_queries(train, holdout, few),
        "by column": release_queries(train, holdout, drawn_by_column(rng, train, 2000)),
        "means": (-loss[0], -loss[1]),
    }
    side_by_side = macekit.compare_releases(releases)
    print(side_by_side.sentence)
    for each in side_by_side.differences:
        print(f"{each.first}, minus {each.second}: {each.lower:.3f} to {each.upper:.3f}")


if __name__ == "__main__":
    main()
