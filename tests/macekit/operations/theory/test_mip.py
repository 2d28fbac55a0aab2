"""/v1/theory/mip and /v1/theory/mip-finite: the library's numbers, side by side, and never the data."""

from typing import Any

import numpy as np
import pytest

from estimators.theory import mip
from estimators.theory.mip.privatize import grid_of
from tests.macekit import asking
from tests.macekit.operations.theory.given import AFTER, BEFORE, DRAWS, RECORD, TELLING

SWAPS = {"before": BEFORE, "after": AFTER, "record": RECORD}
ROWS = {"draws": np.random.default_rng(0).normal(size=(300, 3)).tolist()}


def asked(body: object, operation: str = "theory/mip") -> Any:
    return asking.asked(operation, body)


def test_the_scale_is_the_librarys() -> None:
    answer = asked({**SWAPS, "eta": 0.2, "noise": "laplace", "confidence": 0.9})

    sizes = mip.Sizes.of_swaps(mip.KNorm(mip.Norm.moment([1.0])), BEFORE, AFTER, RECORD)
    assert answer["noise"]["scale"] == sizes.scale(0.2, 0.9)
    assert (answer["method"], answer["certified"], answer["confidence"]) == ("swaps", True, 0.9)
    assert (answer["swaps"], answer["draws"], answer["records"]) == (len(BEFORE), 0, 8)
    assert answer["baseline"] == 0.5
    assert answer["guarantee"]["finite_sample"]


def test_the_sentence_names_noise_accuracy_and_what_guessing_has() -> None:
    answer = asked({**SWAPS, "eta": 0.2})

    assert answer["sentence"].startswith("Gaussian noise of scale 0.")
    said = "each of the 8 records swapped at an accuracy of at most 0.700, where guessing has 0.5"
    assert said in answer["sentence"]


def test_draws_alone_certify_every_record_and_carry_the_papers_scales_as_estimates() -> None:
    answer = asked({**ROWS, "eta": 0.2, "noise": "laplace"})

    assert answer["method"] == "draws"
    assert answer["records"] is None
    named = {each["name"]: each for each in answer["calibrations"] if each["noise"] == "laplace_moment"}
    assert named["corollary_10"]["scale"] == pytest.approx((6.16 / 0.2) ** 2, rel=0.2)  # sigma about 1
    assert named["draws"]["certified"]
    assert not named["theorem_9"]["certified"]
    printed = [each for each in answer["bounds"] if not each["proven"]]
    assert [each["name"] for each in printed] == ["corollary_10_printed_laplace_moment"]
    assert not printed[0]["tightest"]


def test_with_both_the_draws_shape_the_noise_and_the_swaps_certify_it() -> None:
    answer = asked({**SWAPS, "draws": DRAWS, "eta": 0.2, "records": 8})

    assert answer["method"] == "swaps"
    assert [each["code"] for each in answer["warnings"]] == ["round_to_grid"]
    assert answer["noise"]["spread"] == pytest.approx([np.std(DRAWS)])
    noise = answer["noise"]
    assert noise["deviation"] == pytest.approx([noise["scale"] * noise["spread"][0]])
    # a unit changes nothing on the line
    alone = asked({**SWAPS, "eta": 0.2})
    assert answer["noise"]["deviation"] == pytest.approx(alone["noise"]["deviation"], rel=1e-5)


@pytest.mark.parametrize("norm", ["moment", "euclid", "max", "one"])
def test_every_norm_is_answered(norm: str) -> None:
    answer = asked({**ROWS, "eta": 0.2, "noise": "laplace", "norm": norm})

    assert answer["noise"]["norm"] == norm
    assert answer["noise"]["scale"] > 0
    noises = {each["noise"] for each in answer["calibrations"]}
    assert noises == {"gaussian", "laplace_moment", f"laplace_{norm}"}


def test_the_curve_has_the_eta_asked_for_and_columns_of_one_length() -> None:
    answer = asked({**SWAPS, "draws": DRAWS, "eta": 0.123, "records": 8})

    eta, scale = answer["curve"]["eta"], answer["curve"]["scale"]
    assert 0.123 in eta
    assert set(scale) == {"swaps", "draws", "moment", "moment_linear"}  # gaussian has no tanh
    for column in scale.values():
        assert len(column) == len(eta)
        known = [value for value in column if value is not None]
        assert known == sorted(known, reverse=True)
    assert scale["swaps"][eta.index(0.123)] == answer["noise"]["scale"]


def test_too_few_pairs_give_no_scale_and_say_what_it_takes() -> None:
    few = {"before": BEFORE[:16], "after": AFTER[:16], "record": [i % 8 for i in range(16)]}

    answer = asked({**few, "records": 8, "eta": 0.05})

    assert answer["noise"]["scale"] is None
    assert answer["noise"]["deviation"] is None
    assert answer["noise"]["grid"] is None
    assert "No scale" in answer["sentence"]
    assert [each["code"] for each in answer["warnings"]] == ["few_pairs"]
    assert not any(each["tightest"] for each in answer["bounds"])


def test_records_never_swapped_are_pointed_out() -> None:
    answer = asked({**SWAPS, "eta": 0.2, "records": 20})

    assert "records_without_swaps" in [each["code"] for each in answer["warnings"]]
    assert "12 records" in " ".join(each["message"] for each in answer["warnings"])


@pytest.mark.slow
def test_swaps_of_one_record_neither_displace_draws_nor_pass_for_all() -> None:
    one = [i for i, record in enumerate(RECORD) if record == 0]
    pairs = {name: [column[i] for i in one] for name, column in SWAPS.items()}

    both, alone = asked({**pairs, "draws": DRAWS, "eta": 0.2}), asked({**pairs, "eta": 0.2})

    assert (both["method"], both["records"]) == ("draws", None)
    assert both["noise"]["scale"] == asked({"draws": DRAWS, "eta": 0.2})["noise"]["scale"]
    assert "swaps_not_used" in [each["code"] for each in both["warnings"]]
    assert (alone["method"], alone["records"]) == ("swaps", 1)
    assert "swapped_records_only" in [each["code"] for each in alone["warnings"]]
    # with the number of records given, all of them must have been swapped
    assert asked({**pairs, "draws": DRAWS, "eta": 0.2, "records": 8})["method"] == "draws"


def test_draws_too_few_to_certify_only_shape_the_noise_that_swaps_certify() -> None:
    answer = asked({**SWAPS, "draws": DRAWS[:8], "eta": 0.2})

    assert answer["method"] == "swaps"
    assert answer["noise"]["scale"] > 0


def test_an_odd_number_of_records_has_its_own_baseline_and_an_unknown_one_is_said_to_be_even() -> None:
    odd = asked({"draws": DRAWS, "eta": 0.2, "records": 9})
    unknown = asked({"draws": DRAWS, "eta": 0.2})

    assert odd["baseline"] == pytest.approx(5 / 9)
    assert "at most 0.756, where guessing has 0.556" in odd["sentence"]
    assert "even number" not in odd["guarantee"]["assumes"]
    assert unknown["baseline"] == 0.5
    assert "an even number of records" in unknown["guarantee"]["assumes"]


def test_whoever_adds_the_noise_is_told_to_round_and_to_what() -> None:
    answer = asked({**ROWS, "eta": 0.2, "noise": "laplace"})

    assert "noise.grid" in " ".join(each["message"] for each in answer["warnings"])
    chosen = mip.moment_laplace(np.array(answer["noise"]["spread"]))
    assert answer["noise"]["grid"] == grid_of(chosen, answer["noise"]["scale"]).tolist()


def test_of_several_certificates_the_one_asked_for_is_marked() -> None:
    answer = asked({**SWAPS, "draws": DRAWS, "eta": 0.2, "noise": "laplace", "records": 8})

    certified = [each["name"] for each in answer["bounds"] if "certified" in each["quantity"]]
    assert len(certified) == 4
    marked = [each["name"] for each in answer["bounds"] if each["tightest"] and each["name"] in certified]
    assert marked == ["swaps_laplace_moment"]


def test_an_algorithm_that_leaks_nothing_is_said_to_and_not_the_rounding() -> None:
    law = np.random.default_rng(3).dirichlet(np.ones(7)).tolist()

    answer = asked({"laws": [law] * 20, "n": 6}, "theory/mip-finite")

    assert answer["sentence"] == ("No attack beats guessing (right with probability 0.5): eta is 0, up to rounding.")


def test_labels_of_text_are_never_repeated() -> None:
    reply = asking.post("theory/mip", {**SWAPS, "record": [f"patient-{r}" for r in RECORD], "eta": 0.2})

    assert reply.status == 200
    assert b"patient" not in bytes(reply.body)


def test_a_finite_algorithm_has_the_exact_eta_of_the_library_and_the_best_attack_itself() -> None:
    answer = asked({"laws": TELLING, "n": 4}, "theory/mip-finite")

    assert answer["eta"] == pytest.approx(0.1)
    assert answer["accuracy"] == pytest.approx(0.6)
    assert answer["worst_record"] == 0
    assert answer["records"]["eta"] == pytest.approx([0.1, 1 / 30, 1 / 30, 1 / 30])
    assert answer["records"]["says_in"] == [[0], [1], [1], [1]]
    said = "right with probability 0.6; guessing alone is right with probability 0.5. Eta is 0.1"
    assert said in answer["sentence"]
    exact, swaps = answer["bounds"]
    assert swaps["value"] >= exact["value"]


def test_other_sizes_have_another_baseline() -> None:
    laws = [[1.0, 0.0], [0.0, 1.0], [0.0, 1.0], [0.0, 1.0]]
    answer = asked({"laws": laws, "n": 4, "k": 1}, "theory/mip-finite")

    assert answer["baseline"] == 0.75
    assert answer["eta"] == pytest.approx(0.25)
