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
    members, nonmembers = _demo_scores()
    print("Example: 400 v 400 Gaussian scores whose true advantage is 0.2")
    print(f"  members     {members.size:>5} scores, mean {members.mean():+.3f}")
    print(f"  nonmembers  {nonmembers.size:>5} scores, mean {nonmembers.mean():+.3f}")
    # --- the call of `estimators` goes here, imported in this function: `mace --version` stays fast ---
    return 0


def _demo_scores() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return scores with known truth: members N(0.5067, 1), nonmembers N(0, 1).

    The best adversary's advantage is the total variation 2 Phi(0.5067 / 2) - 1 = 0.2000.
    """
    generator = np.random.default_rng(20_240)
    return generator.normal(0.5067, 1.0, 400), generator.normal(0.0, 1.0, 400)


if __name__ == "__main__":
    sys.exit(main())
