"""The `mace` command."""

import argparse
import sys
from collections.abc import Sequence
from importlib.metadata import version

import numpy as np
from numpy.typing import NDArray


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; its exit status."""
    options = parser().parse_args(arguments)
    status: int = options.run(options)
    return status


def parser() -> argparse.ArgumentParser:
    """Every command, with its options and its function (`run`)."""
    top = argparse.ArgumentParser(prog="mace", description="Certify membership leakage from scores.")
    top.add_argument("--version", action="version", version=f"mace {version('mace')}")
    commands = top.add_subparsers(title="commands", metavar="COMMAND", required=True)

    command = commands.add_parser("demo", help="a first answer, on built-in example scores")
    command.set_defaults(run=demo)
    return top


def demo(_options: argparse.Namespace) -> int:
    """Print a first answer on built-in example scores."""
    from estimators import Ask, Scores, assess  # imported here: `mace --version` stays fast

    members, nonmembers = _demo_scores()
    answer = assess(Scores.of(members, nonmembers), Ask(threshold=0.1))
    found, paper, metric = answer.advantage.estimate, answer.paper, answer.metric
    rows = [("optimal advantage", found.value, found.interval, "the truth at this resolution")]
    if paper is not None:
        rows.append(
            (f"  the paper's {paper.statistic}", paper.value, paper.interval, "the statistic's expectation")
        )
    if metric is not None:
        rows.append((f"best {metric.name}", metric.value, metric.interval, ""))
    if answer.auc is not None:
        rows.append(("AUC", answer.auc.estimate.value, answer.auc.estimate.interval, ""))
    rows += [
        (f"TPR at FPR {point.fpr:g}", point.estimate.value, point.estimate.interval, "")
        for point in answer.operating_points
    ]
    print(f"{members.size} member and {nonmembers.size} nonmember scores whose true advantage is 0.200\n")
    print(f"{'':<22}{'estimate':>9}{'lower':>9}{'upper':>9}   covers")
    for name, value, interval, covers in rows:
        print(f"{name:<22}{value:>9.3f}{interval.lower:>9.3f}{interval.upper:>9.3f}   {covers}".rstrip())
    if answer.epsilon is not None:
        print(f"{'epsilon at least':<22}{'':>9}{answer.epsilon.value:>9.3f}")
    print(f"\n{answer.sentence}")
    for caution in answer.cautions:
        print(f"note: {caution.message}")
    return 0


def _demo_scores() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return scores with known truth: members N(0.5067, 1), nonmembers N(0, 1).

    The best adversary's advantage is the total variation 2 Phi(0.5067 / 2) - 1 = 0.2000.
    """
    generator = np.random.default_rng(20_240)
    return generator.normal(0.5067, 1.0, 400), generator.normal(0.0, 1.0, 400)


if __name__ == "__main__":
    sys.exit(main())
