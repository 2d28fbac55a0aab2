"""What OpenAPI says of membership inference privacy, and examples that run as they stand."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np

from app.openapi.example import Example

PEOPLE = (2.1, 3.4, 2.8, 5.0, 3.9, 2.5, 4.2, 3.1)
"""Eight records; the fit is their mean."""

HALVES = tuple(combinations(range(8), 4))


def _mean(half: tuple[int, ...]) -> float:
    return round(sum(PEOPLE[i] for i in half) / 4, 6)


RANDOM = np.random.default_rng(0)
DRAWS = [_mean(HALVES[i]) for i in RANDOM.integers(len(HALVES), size=120)]
SWAPS = [
    (half, x, y)
    for half, (x, y) in product(HALVES, product(range(8), repeat=2))
    if x in half and y not in half
]
PAIRS = [SWAPS[i] for i in RANDOM.integers(len(SWAPS), size=480)]
BEFORE = [_mean(half) for half, _, _ in PAIRS]
AFTER = [_mean(tuple(y if i == x else i for i in half)) for half, x, y in PAIRS]
RECORD = [x for _, x, _ in PAIRS]

TELLING = [[0.6, 0.4] if 0 in pair else [0.4, 0.6] for pair in combinations(range(4), 2)]
"""An algorithm of two outputs on halves of four records: it leans to the first if record 0 is in."""

SUMMARIES: dict[str, str] = {
    "theory/mip": "How much noise keeps every attack within eta of guessing",
    "theory/mip-finite": "What a finite algorithm leaks of every record, exactly",
}

ABOUT: dict[str, str] = {
    "theory/mip": "Takes parameters of fits to random halves of your data (`draws`), or pairs of fits that differ by "
    "one swapped record (`before`, `after`, `record`), never the data. Answers the noise to add, with eta certified at "
    "every sample size, beside the paper's own calibrations. The certificate is about this data set and this fit, "
    "over the random half and the noise. It is of noise of real numbers: round what you release to `noise.grid`.",
    "theory/mip-finite": "Takes the probabilities of every output given every training set of k records out of n (rows "
    "in lexicographic order). Answers by how much the best attack on each record beats the better constant guess.",
}

EXAMPLES: dict[str, dict[str, Example]] = {
    "theory/mip": {
        "swaps": Example(
            "Means of halves of eight records, before and after a record is swapped",
            {"before": BEFORE, "after": AFTER, "record": RECORD, "eta": 0.2},
        ),
        "draws": Example("Means of random halves alone", {"draws": DRAWS, "eta": 0.2, "noise": "laplace"}),
    },
    "theory/mip-finite": {
        "leaning": Example("Two outputs, four records, halves", {"laws": TELLING, "n": 4}),
    },
}
