"""What OpenAPI says of ``/v1/theory/together``, and examples that run as they stand."""

from __future__ import annotations

from app.openapi.example import Example

COUNTS = {"members": [120, 300, 580], "nonmembers": [310, 420, 270], "edges": [0.4, 0.7]}

SUMMARIES: dict[str, str] = {
    "theory/together": "What a claimed epsilon and delta allow, beside what the records say"
}
ABOUT: dict[str, str] = {
    "theory/together": "Intervals hold for all rows together. That nothing is contradicted does not prove the claim."
}
EXAMPLES: dict[str, dict[str, Example]] = {
    "theory/together": {
        "contradicted": Example(
            "A claim of epsilon 0.2, which 1,000 records a side contradict",
            {"counts": COUNTS, "claimed_epsilon": 0.2},
        ),
        "rare": Example(
            "Rare members, with a delta, by an accountant that adds or removes records",
            {
                "counts": COUNTS,
                "claimed_epsilon": 1.0,
                "claimed_delta": 1e-5,
                "prior": 0.3,
                "adjacency": "add_remove",
            },
        ),
    }
}
