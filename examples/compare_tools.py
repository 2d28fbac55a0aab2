"""Synthesizers of a public table, and what four tools say of what they release: mace beside its neighbours.

    python examples/compare_tools.py                        # mace alone
    python examples/compare_tools.py --splits 10            # and ten random halves, each with releases of its own
    python examples/compare_tools.py --peers OTHER_PYTHON   # beside Anonymeter, SDMetrics and SynthEval
    python examples/compare_tools.py --splits 10 --peers OTHER_PYTHON --page examples/compare_tools.md

The table is scikit-learn's breast cancer: 569 rows, 30 measurements and a diagnosis. Half of the rows, drawn at random,
are what each synthesizer is given; the others are the hold-out. The neighbours run in an environment of their own
(`compare_tools_peers.py`).
"""

import argparse
import csv
import json
import subprocess
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy.stats import norm
from sklearn.datasets import load_breast_cancer
from sklearn.neighbors import NearestNeighbors

import macekit

Rows = np.ndarray
SHARED = 0.05
LIMITS = {"max_advantage": 0.25, "max_copies_over_holdout": 0}


def independent(rng: np.random.Generator, rows: Rows) -> Rows:
    """Each column by itself: what hangs together is lost."""
    return np.column_stack([smooth(rng.random(len(rows)), column) for column in rows.T])


def copula(rng: np.random.Generator, rows: Rows) -> Rows:
    """A Gaussian copula: ranks that hang together as the table's do, and each column's own values, interpolated."""
    ranks = rows.argsort(axis=0).argsort(axis=0)
    normal = norm.ppf((ranks + 0.5) / len(rows))
    drawn = rng.multivariate_normal(np.zeros(rows.shape[1]), np.corrcoef(normal.T), len(rows), method="cholesky")
    return np.column_stack([smooth(norm.cdf(one), column) for one, column in zip(drawn.T, rows.T, strict=True)])


def between(rng: np.random.Generator, rows: Rows) -> Rows:
    """As SMOTE does: somewhere between a row and one of the five that are nearest to it."""
    scaled = (rows - rows.mean(axis=0)) / rows.std(axis=0)
    near = NearestNeighbors(n_neighbors=6).fit(scaled).kneighbors(scaled, return_distance=False)[:, 1:]
    first = rng.integers(len(rows), size=len(rows))
    second = near[first, rng.integers(5, size=len(rows))]
    return rows[first] + rng.random((len(rows), 1)) * (rows[second] - rows[first])


def blurred(rng: np.random.Generator, rows: Rows) -> Rows:
    """Training rows drawn again and again, with noise of a fifth of each column's deviation."""
    return rows[rng.integers(len(rows), size=len(rows))] + rng.normal(0, 0.2, rows.shape) * rows.std(axis=0)


def leaky(rng: np.random.Generator, rows: Rows) -> Rows:
    """The copula, in which one row of twenty is a training row, word for word."""
    released = copula(rng, rows)
    count = int(SHARED * len(rows))
    released[:count] = rows[rng.choice(len(rows), count, replace=False)]
    return released


def bootstrap(rng: np.random.Generator, rows: Rows) -> Rows:
    """Training rows, drawn with replacement, as they are."""
    return rows[rng.integers(len(rows), size=len(rows))]


SYNTHESIZERS: dict[str, Callable[[np.random.Generator, Rows], Rows]] = {
    "independent columns": independent,
    "Gaussian copula": copula,
    "copula, 5% copied": leaky,
    "blurred rows": blurred,
    "between neighbours": between,
    "bootstrap": bootstrap,
}


def smooth(shares: Rows, column: Rows) -> Rows:
    """Quantiles of a column, interpolated between its values."""
    return np.quantile(column, shares)


def tables(split: int = 0) -> tuple[dict[str, Rows], dict[str, Rows], dict[str, dict[str, Rows]]]:
    """Training rows, hold-out rows, and what each synthesizer makes of the former."""
    data = load_breast_cancer()
    names = [name.replace(" ", "_") for name in data.feature_names]
    table = np.column_stack([data.data, data.target])
    order = np.random.default_rng(split).permutation(len(table))
    train, holdout = table[order[: len(order) // 2]], table[order[len(order) // 2 :]]

    def columns(rows: Rows) -> dict[str, Rows]:
        by_name = dict(zip(names, rows[:, :-1].T.round(6), strict=True))
        return {**by_name, "diagnosis": np.where(rows[:, -1] > 0.5, "benign", "malignant")}

    released = {
        name: columns(make(np.random.default_rng(split * len(SYNTHESIZERS) + place), train))
        for place, (name, make) in enumerate(SYNTHESIZERS.items())
    }
    return columns(train), columns(holdout), released


def verdict(train: dict[str, Rows], holdout: dict[str, Rows], released: dict[str, Rows]) -> dict[str, str]:
    """What mace says."""
    answer = macekit.audit_synthetic(train, holdout, released, use=list(train), **LIMITS)
    first = answer.ranking[0]
    exposed = max((each.tail.members for each in answer.exposures if each.alarm), default=0)
    return {
        "verdict": answer.decision,
        "fails by": ", ".join(each.name for each in answer.limits if each.decision == "fail") or "-",
        "riskiest query": first.name,
        "advantage": f"{first.advantage.estimate:.2f} [{answer.maximum.lower:.2f}, {answer.maximum.upper:.2f}]",
        "copies, hold-out's": f"{answer.copies.members}, {answer.copies.nonmembers}",
        "exposed": str(exposed),
    }


def over_splits(splits: int) -> dict[str, dict[str, str]]:
    """What mace says of each synthesizer over several random halves: how often it decides what, and by which limits."""
    answers: dict[str, list] = {name: [] for name in SYNTHESIZERS}
    for split in range(splits):
        train, holdout, released = tables(split)
        for name, table in released.items():
            answers[name].append(macekit.audit_synthetic(train, holdout, table, use=list(train), **LIMITS))
    return {name: _counted(each) for name, each in answers.items()}


def _counted(answers: list) -> dict[str, str]:
    """Several answers as one row."""

    def times(words: list[str]) -> str:
        return ", ".join(f"{word} {count}" for word, count in Counter(words).most_common()) or "-"

    def ends(numbers: list[float], form: str) -> str:
        least, most = f"{min(numbers):{form}}", f"{max(numbers):{form}}"
        return least if least == most else f"{least} to {most}"

    return {
        "verdicts": times([each.decision for each in answers]),
        "fails by": times([limit.name for each in answers for limit in each.limits if limit.decision == "fail"]),
        "riskiest query": times([each.ranking[0].name for each in answers]),
        "advantage": ends([each.maximum.estimate for each in answers], ".2f"),
        "lower ends": ends([each.maximum.lower for each in answers], ".2f"),
        "upper ends": ends([each.maximum.upper for each in answers], ".2f"),
        "copies": ends([each.copies.members for each in answers], "d"),
        "hold-out's": ends([each.copies.nonmembers for each in answers], "d"),
    }


def peers(python: str, train: dict, holdout: dict, released: dict[str, dict]) -> dict:
    """What the others say, in their own environment."""
    with tempfile.TemporaryDirectory() as folder:
        for name, table in {"train": train, "holdout": holdout, **released}.items():
            with Path(folder, f"{name}.csv").open("w", newline="") as file:
                writer = csv.writer(file)
                writer.writerow(table)
                writer.writerows(zip(*table.values(), strict=True))
        script = Path(__file__).with_name("compare_tools_peers.py")
        done = subprocess.run([python, str(script), folder], stdout=subprocess.PIPE, check=True, text=True)
    return json.loads(done.stdout)


def markdown(rows: dict[str, dict[str, str]]) -> str:
    """A table with a row for each synthesizer."""
    head = ["synthesizer", *next(iter(rows.values()))]
    lines = [f"| {' | '.join(head)} |", f"| {' | '.join('---' for _ in head)} |"]
    lines += [f"| {' | '.join([name, *said.values()])} |" for name, said in rows.items()]
    return "\n".join(lines)


def main() -> None:
    """Print a table for each tool, and write them down if asked."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--peers", metavar="PYTHON", help="Python of an environment with the other tools")
    parser.add_argument("--splits", type=int, default=0, help="random halves for a table of mace's own")
    parser.add_argument("--page", metavar="FILE", help="replace the tables of this page")
    options = parser.parse_args()
    train, holdout, released = tables()
    sections = {"mace": {name: verdict(train, holdout, table) for name, table in released.items()}}
    if options.splits:
        sections[f"mace, {options.splits} random halves"] = over_splits(options.splits)
    if options.peers:
        answer = peers(options.peers, train, holdout, released)
        for tool, number in answer["versions"].items():
            sections[f"{tool} {number}"] = {name: answer["said"][name][tool] for name in released}
    text = "\n\n".join(f"### {tool}\n\n{markdown(rows)}" for tool, rows in sections.items())
    print(text)
    if options.page:
        page = Path(options.page)
        before, _, after = page.read_text().partition("<!-- tables -->")
        page.write_text(f"{before}<!-- tables -->\n\n{text}\n\n<!-- end -->{after.partition('<!-- end -->')[2]}")


if __name__ == "__main__":
    main()
