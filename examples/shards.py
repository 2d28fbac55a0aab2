"""Scores that stay where they are: shards are counted apart, merged in any order, and answered once.

    .venv/bin/python examples/shards.py

Only counts leave a shard. The grid needs no agreed range and no first pass: its step is a power of two and it halves
its resolution when a shard reaches further, so the merged counts equal those of one pass exactly.
"""

import json
from functools import reduce

import numpy as np

from estimators import Counts, Scores, advantage
from estimators.sample.counting import by_grid


def main() -> None:
    """Count eight shards, post them as JSON, merge them out of order, and ask."""
    rng = np.random.default_rng(1)
    shards = [(rng.normal(0.5, 1 + k, size=20_000), rng.normal(0.0, 1 + k, size=20_000)) for k in range(8)]
    bodies = [json.dumps(by_grid(Scores.of(a, b)).to_dict()) for a, b in shards]
    print(f"8 shards of 40,000 scores, posted as {sum(map(len, bodies)) / 1e6:.1f} MB of counts")

    order = rng.permutation(len(bodies))
    total = reduce(Counts.merge, (Counts.from_dict(json.loads(bodies[k])) for k in order))
    whole = by_grid(Scores.of(np.concatenate([a for a, _ in shards]), np.concatenate([b for _, b in shards])))
    print(f"merged in the order {order.tolist()}: equal to one pass: {total.to_dict() == whole.to_dict()}")
    print(advantage(total).sentence)


if __name__ == "__main__":
    main()
