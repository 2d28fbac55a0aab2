"""What OpenAPI says of the MIS operations, and examples that run as they stand."""

from __future__ import annotations

from app.openapi.example import Example

SUMMARIES: dict[str, str] = {
    "theory/mis": "What any learning algorithm may give away of data in categories",
    "theory/mis-overfitting": "How secure a learner is at most, given its losses",
}
ABOUT: dict[str, str] = {
    "theory/mis": "Membership inference security of the worst algorithm there is (Aubinais et al., Theorem 14), over "
    "sizes of the training set; how many records are enough; what merging categories buys. The distribution is "
    "given as `probabilities`, or sampled as `values` or `tallies`: then every bound carries the error of the "
    "sample, at any size. State `universe`, the number of categories there are, if it is known.",
    "theory/mis-overfitting": "Training losses far below held-out losses bound security from above (Theorem 11), at "
    "the best of many cuts, corrected for choosing it. MIS averages over training sets: one model's losses speak of "
    "that model alone, unless `losses_of` says that each loss is from a training of its own.",
}
EXAMPLES: dict[str, dict[str, Example]] = {
    "theory/mis": {
        "probabilities": Example(
            "A known distribution, three sizes, and how many records keep Delta at 0.01",
            {"probabilities": [0.4, 0.3, 0.2, 0.1], "sizes": [1000, 5000, 10000], "delta": 0.01},
        ),
        "tallies": Example(
            "Records in each of eight categories, two of them empty; what merging buys; rare nonmembers",
            {
                "tallies": [310, 240, 170, 120, 90, 70, 0, 0],
                "universe": 8,
                "coarsen_to": [2, 4],
                "nonmember_share": 0.2,
                "member_weight": 2.0,
            },
        ),
        "values": Example(
            "A column of categories, not all of which may have been seen",
            {"values": ["red", "blue", "red", "green", "blue", "red"] * 20, "sizes": [1000, 10000]},
        ),
    },
    "theory/mis-overfitting": {
        "one_model": Example(
            "One model that has overfitted",
            {
                "train_losses": [round(0.001 * i, 3) for i in range(60)],
                "heldout_losses": [round(0.05 + 0.02 * i, 2) for i in range(60)],
            },
        ),
        "trainings": Example(
            "Losses of many trainings, at thresholds chosen beforehand",
            {
                "train_losses": [0.0, 0.01, 0.0, 0.02, 0.0, 0.4, 0.01, 0.0, 0.03, 0.0] * 6,
                "heldout_losses": [0.3, 1.2, 0.7, 0.05, 2.1, 0.9, 0.6, 1.5, 0.8, 0.4] * 6,
                "losses_of": "independent_trainings",
                "thresholds": [0.01, 0.05, 0.1],
                "nonmember_share": 0.4,
            },
        ),
    },
}
