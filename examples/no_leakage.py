"""What each interval says when nothing leaks: the published one misses the truth, the certified one does not.

    .venv/bin/python examples/no_leakage.py

Members and nonmembers are drawn from one distribution, so the optimal advantage is 0. MACE's Theorem 5 bounds W_N
around its expectation; with 100 cells that expectation lies far above 0, at every sample size (docs/methods.md).
"""

import numpy as np

from estimators import Scores, advantage
from estimators.paper import EqualWidth, algorithm_1

SAMPLES = 100


def main() -> None:
    """Print how often each interval contains the truth."""
    print(f"{SAMPLES} samples of each size, truth 0\n")
    print(f"{'records':>9}  {'W_N covers':>10}  {'mean interval':>16}  {'certified':>10}  {'mean interval':>16}")
    for n in (1_000, 10_000, 100_000):
        paper, certified = [], []
        for seed in range(SAMPLES):
            rng = np.random.default_rng([n, seed])
            scores = Scores.of(rng.normal(size=n), rng.normal(size=n))
            published = algorithm_1(scores, 0.5, reading=EqualWidth(100)).interval
            ours = advantage(scores, 0.5, seed=seed).estimate.interval
            paper.append((0.0 in published, published.lower, published.upper))
            certified.append((0.0 in ours, ours.lower, ours.upper))
        cells = [f"{100 * m[0]:.0f}%" for m in (np.mean(paper, axis=0), np.mean(certified, axis=0))]
        spans = [f"[{m[1]:.3f}, {m[2]:.3f}]" for m in (np.mean(paper, axis=0), np.mean(certified, axis=0))]
        print(f"{n:>9}  {cells[0]:>10}  {spans[0]:>16}  {cells[1]:>10}  {spans[1]:>16}")


if __name__ == "__main__":
    main()
