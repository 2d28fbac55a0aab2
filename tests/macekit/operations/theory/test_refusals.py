"""What no question of theory can be: refused by its field, as its schema documents where a schema can say it."""

from typing import Any

import jsonschema_rs
import pytest

from macekit.schemas.by_operation import QUESTIONS
from tests.cases import each_case
from tests.macekit.asking import refused
from tests.macekit.operations.theory.given import AFTER, BEFORE, COUNTS, DRAWS, LOSSES, POINTS, RECORD

Refusals = list[tuple[dict[str, Any], str]]

NOISE = {"noise_multiplier": 1.0, "steps": 10}
SWAPS = {"before": BEFORE, "after": AFTER, "record": RECORD}
ASKED = {"losses": LOSSES, "sensitivity": 1.0, "epsilon": 4.0}
CLAIMED = {"counts": COUNTS, "claimed_epsilon": 1.0}
CANARIES = {"counts": COUNTS, "draw": "coin"}
CLIPPED = {"points": POINTS, "clip": 1.0, "delta": 0.01}

DOCUMENTED: dict[str, Refusals] = {
    "theory/dp": [
        ({}, "epsilon"), ({"epsilon": 1.0, "mu": 1.0}, "mu"), ({"rdp": [[2, 0.1]]}, "delta"),
        ({"noise_multiplier": 1.0, "delta": 1e-5}, "steps"), (NOISE, "delta"),
        ({"epsilon": 1.0, "steps": 10}, "steps"), ({"epsilon": 1.0, "sampling_rate": 0.1}, "sampling_rate"),
        ({**NOISE, "delta": 1e-5, "adjacency": "replace"}, "adjacency"),
        ({"epsilon": 1.0, "adjacency": "replace", "inclusion": "independent"}, "adjacency"),
        ({"epsilon": -1.0}, "epsilon"), ({"epsilon": 1.0, "delta": 1.1}, "delta"),
        ({"epsilon": 1.0, "prior": 0.0}, "prior"), ({"advantage": 1.0}, "advantage"),
    ],
    "theory/convert": [
        ({}, "advantage"), ({"delta": 0.1}, "advantage"), ({"advantage": 0.1, "eta": 0.1}, "eta"),
        ({"epsilon": 1.0, "mu": 1.0}, "mu"), ({"advantage": 1.0}, "advantage"), ({"eta": 0.5}, "eta"),
        ({"epsilon": 2e6}, "epsilon"), ({"mu": -1.0}, "mu"), ({"mu": 1.0, "delta": 1.1}, "delta"),
        ({"mu": 1.0, "prior": 0.0}, "prior"),
        ({"mu": 1.0, "false_positive_rates": [1.0]}, "false_positive_rates"),
        ({"mu": 1.0, "adjacency": "replace", "inclusion": "independent"}, "adjacency"),
    ],
    "theory/one-run": [
        ({"counts": COUNTS}, "draw"), ({"draw": "coin"}, "members"), ({**CANARIES, "draw": "dice"}, "draw"),
        ({**CANARIES, "mu": 1.0, "epsilon": 1.0}, "mu"),
        ({**CANARIES, "noise_multiplier": 1.0, "steps": 2}, "delta"), ({**CANARIES, "steps": 2}, "steps"),
        ({**CANARIES, "mu": 1.0, "adjacency": "replace"}, "adjacency"),
        ({**CANARIES, "curve": [[-1.0, 0.1]]}, "curve"),
    ],
    "theory/together": [
        ({"counts": COUNTS}, "claimed_epsilon"),
        ({"claimed_epsilon": 1.0}, "members"),
        ({**CLAIMED, "claimed_epsilon": -1.0}, "claimed_epsilon"),
        ({**CLAIMED, "claimed_delta": 1.0}, "claimed_delta"),
        ({**CLAIMED, "inclusion": "independent", "adjacency": "replace"}, "adjacency"),
    ],
}  # fmt: skip
"""What the schema forbids, too."""

OTHERS: dict[str, Refusals] = {
    "theory/mip": [
        ({"eta": 0.2}, "draws"),
        ({"before": BEFORE, "after": AFTER, "eta": 0.2}, "before"),
        ({"draws": [[1.0], [2.0], [3.0]], "spread": [1.0, 2.0]}, "spread"),
        ({"draws": [1.0, 1.0, 1.0, 1.0]}, "draws"),
        ({"draws": DRAWS, "eta": 0.5}, "eta"),
        ({"draws": [[1.0, 2.0], [2.0, 1.0]]}, "draws"),
        ({**SWAPS, "eta": 0.2, "records": 7}, "records"),  # fewer than were swapped
    ],
    "theory/mip-finite": [({"laws": [[0.5, 0.4], [0.5, 0.5]], "n": 2}, "laws"), ({"n": 2}, "laws")],
    "theory/mis": [
        ({}, "values"), ({"tallies": [1, 2], "probabilities": [1.0]}, "probabilities"),
        ({"probabilities": [0.5, 0.6]}, "probabilities"),
        ({"probabilities": [1.0], "universe": 3}, "universe"),
        ({"tallies": [3, 4], "universe": 1}, "universe"), ({"tallies": [0, 0]}, "tallies"),
        ({"tallies": [1, 2], "coarsen_to": [2, 3]}, "coarsen_to"),
        ({"tallies": [1, 2], "nonmember_share": 1.0}, "nonmember_share"),
        ({"tallies": [1, 2], "delta": 0.0}, "delta"), ({"tallies": [1, 2], "sizes": [0]}, "sizes"),
    ],
    "theory/mis-overfitting": [
        ({"train_losses": [1.0]}, "heldout_losses"),
        ({"heldout_losses": [1.0]}, "train_losses"),
        ({"train_losses": [], "heldout_losses": [1.0]}, "train_losses"),
        ({"train_losses": ["a"], "heldout_losses": [1.0]}, "train_losses"),
        ({"train_losses": [1.0], "heldout_losses": [1.0], "losses_of": "it"}, "losses_of"),
    ],
    "theory/pmp-exponential": [
        ({**ASKED, "sensitivity": 0.0}, "sensitivity"),
        ({**ASKED, "sensitivity": 0.1}, "sensitivity"),
        ({**ASKED, "epsilon": None, "practical_epsilon": 1e-300}, "practical_epsilon"),
        ({**ASKED, "losses": [[0.0] * 30] * 2000, "draws": 100}, "losses"),
        ({**ASKED, "losses": [[0.0, 1e150]] * 4, "sensitivity": 1e-150}, "sensitivity"),
        ({**ASKED, "losses": LOSSES[:3]}, "losses"),
        ({**ASKED, "losses": LOSSES[:3], "rows": "training_sets"}, "losses"),
        ({"sensitivity": 1.0, "epsilon": 1.0}, "losses"),
    ],
    "theory/pmp-gaussian": [
        ({**CLIPPED, "clip": 1e300, "sigma": 1e-20}, "sensitivity"),
        ({**CLIPPED, "clip": 0.0, "sigma": 1.0}, "clip"),
        ({**CLIPPED, "sigma": 1.0, "delta": 1.1}, "delta"),
        ({**CLIPPED, "points": [[1.0]] * 3, "sigma": 1.0}, "points"),
        # equal points need no noise
        ({**CLIPPED, "points": [[1.0]] * 4, "practical_epsilon": 1.0}, "points"),
    ],
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("operation", DOCUMENTED | OTHERS)
def test_what_cannot_be_asked_is_refused_by_its_field(operation: str) -> None:
    schema = jsonschema_rs.Draft202012Validator(QUESTIONS[operation].model_json_schema())
    for body, field in (DOCUMENTED | OTHERS)[operation]:
        assert refused(operation, body)["field"].partition("[")[0] == field, body
        if operation in DOCUMENTED:
            assert not schema.is_valid(body), body


@each_case(
    "operation, body, field, words",
    ("convert", {"advantage": 0.5, "prior": 0.1}, "advantage", "guessing alone has an advantage of 0.8"),
    ("dp", {"rdp": [[2, 0.1], [0.5, 0.1]], "delta": 1e-5}, "rdp", ""),
    ("dp", {"rdp": [[3, 0.1], 2], "delta": 1e-5}, "rdp", "rdp: entry 1 needs to be a list"),
    ("mip-finite", {"laws": [[0.5, 0.5], [0.5, 0.5]], "n": 64}, "records", "swaps or draws"),
    ("pmp-gaussian", CLIPPED, "sigma", "sigma: give one of sigma, epsilon, practical_epsilon"),
    ("pmp-gaussian", {**CLIPPED, "sigma": 1.0, "epsilon": 1.0}, "sigma", "sigma: give one of sigma, "),
    ("pmp-exponential", {**ASKED, "epsilon": 1e-12}, "epsilon", "got 1e-12, need 0 or at least 1e-09"),
    ("pmp-gaussian", {**CLIPPED, "delta": 1, "epsilon": 1}, "delta", "give sigma"),
)
def test_a_refusal_says_what_to_do(operation: str, body: dict[str, Any], field: str, words: str) -> None:
    problem = refused(f"theory/{operation}", body)

    assert problem["field"] == field
    assert words in problem["detail"]
    assert problem.get("index") == (1 if "rdp" in body else None)
