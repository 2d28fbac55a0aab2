"""What OpenAPI says of ``/v1/theory/dp``, and examples that run as they stand."""

from __future__ import annotations

from app.openapi.example import Example

SUMMARIES: dict[str, str] = {
    "theory/dp": "What a promise of differential privacy allows, every bound side by side"
}
ABOUT: dict[str, str] = {
    "theory/dp": "The promise is `epsilon` with `delta`, `mu`, `rdp` or `noise_multiplier` with `steps` and "
    "`sampling_rate`; the last two need the optional accountant."
}
EXAMPLES: dict[str, dict[str, Example]] = {
    "theory/dp": {
        "pure": Example("Epsilon 1 at a prior of 0.2", {"epsilon": 1.0, "prior": 0.2}),
        "accountant": Example(
            "An accountant's epsilon, which is about adding or removing a record",
            {"epsilon": 2.0, "delta": 1e-5, "adjacency": "add_remove", "member_weight": 2.0},
        ),
        "gaussian": Example("mu-GDP, also read as (epsilon, delta)", {"mu": 1.0, "delta": 1e-5}),
        "keeping": Example("Which epsilon keeps an advantage of 0.1", {"advantage": 0.1, "delta": 1e-5}),
        "rdp": Example(
            "A Renyi curve: epsilon by order",
            {"rdp": [[2, 0.1], [4, 0.2], [8, 0.4], [16, 0.8], [32, 1.6]], "delta": 1e-5},
        ),
        "noise": Example(
            "DP-SGD: noise, steps and sampling rate",
            {"noise_multiplier": 1.0, "steps": 1000, "sampling_rate": 0.01, "delta": 1e-5},
        ),
    }
}
