"""/v1/theory/mis and /v1/theory/mis-overfitting: the library's numbers, with the sample's error and the baseline."""

from typing import Any

import numpy as np
import pytest

from estimators.theory.mis.binomials import Tally
from estimators.theory.mis.certified import diversity, worst_delta_from
from estimators.theory.mis.mean import mean_delta, mean_records, proposition_25
from estimators.theory.mis.overfitting import by_mean
from estimators.theory.mis.security import c_k, divergence, records_needed, simple_delta, worst_delta
from macekit.catalogue import ARRAYS
from macekit.schemas.by_operation import QUESTIONS
from tests.macekit import asking

P = [0.4, 0.3, 0.2, 0.1]
COUNTS = [310, 240, 170, 120, 90, 70]


def asked(body: object, operation: str = "theory/mis") -> Any:
    return asking.asked(operation, body)


def test_a_known_distribution_has_theorem_14_and_no_interval() -> None:
    answer = asked({"probabilities": P, "sizes": [1000, 50], "delta": 0.01})

    assert answer["curve"]["delta"] == [worst_delta(P, 1000), worst_delta(P, 50)]
    assert answer["curve"]["delta_upper"] == answer["curve"]["delta_lower"] == answer["curve"]["delta"]
    assert answer["diversity"]["estimate"] == answer["diversity"]["upper"] == pytest.approx(c_k(P))
    assert answer["diversity"]["guarantee"] is None
    needed = answer["records_needed"]
    assert needed["exact"] == needed["certified"] == records_needed(P, 0.01)
    assert answer["records"] is None
    assert answer["n"] == 1000


@pytest.mark.slow
def test_a_sample_carries_its_error_into_security_and_into_the_records_needed() -> None:
    answer = asked({"tallies": COUNTS, "universe": 6, "sizes": [1000], "delta": 0.03})
    tally = Tally.of_counts(COUNTS, 6)

    assert answer["curve"]["delta_upper"] == [worst_delta_from(tally, 1000).upper]
    assert answer["curve"]["security_at_least"] == [1.0 - worst_delta_from(tally, 1000).upper]
    assert answer["diversity"]["upper"] == diversity(tally).upper
    assert answer["diversity"]["guarantee"]["finite_sample"]
    needed = answer["records_needed"]
    assert needed["exact"] < needed["certified"] < needed["simple"]
    assert "95% confidence" in answer["sentence"]


@pytest.mark.slow
def test_values_are_counted_and_text_numbers_and_tallies_say_the_same() -> None:
    words = ["a", "b", "b", "c", "c", "c"] * 30
    numbers = [1, 2, 2, 3, 3, 3] * 30
    given = ("values", words), ("values", numbers), ("tallies", [30, 60, 90])
    answers = [asked({field: each, "sizes": [100]}) for field, each in given]

    assert answers[0]["curve"] == answers[1]["curve"] == answers[2]["curve"]
    assert answers[0]["records"] == 180


def test_without_a_universe_c_k_has_no_upper_end_and_the_answer_says_so() -> None:
    answer = asked({"tallies": COUNTS, "sizes": [1000]})

    assert answer["diversity"]["upper"] is None
    assert answer["diversity"]["most"] is None
    assert answer["curve"]["simple"] == [None]
    assert "universe_unknown" in [each["code"] for each in answer["warnings"]]
    assert answer["curve"]["delta_upper"][0] < 0.1


def test_the_worst_share_of_nonmembers_stands_where_none_is_given() -> None:
    worst = asked({"probabilities": P, "sizes": [100]})
    balanced = asked({"probabilities": P, "sizes": [100], "nonmember_share": 0.5})
    tilted = asked({"probabilities": P, "sizes": [100], "nonmember_share": 0.2, "member_weight": 2.0})

    assert worst["gamma"] == balanced["gamma"] == 1.0
    assert worst["curve"] == balanced["curve"]
    assert tilted["gamma"] == pytest.approx(0.125)
    assert tilted["curve"]["delta"][0] < worst["curve"]["delta"][0]
    assert "worst_share" in [each["code"] for each in worst["warnings"]]


def test_an_accuracy_is_said_at_its_share_and_security_at_every_share() -> None:
    plain = asked({"probabilities": P, "sizes": [100]})["sentence"]
    weighed = asked({"probabilities": P, "sizes": [100], "member_weight": 3.0})["sentence"]
    given = asked({"probabilities": P, "sizes": [100], "nonmember_share": 0.9})["sentence"]

    assert "whatever the share of nonmembers. With as many nonmembers as members, no attack has an acc" in plain
    said = "whatever the share of nonmembers. With a share of nonmembers of 0.75, no attack has an acc"
    assert said in weighed
    assert "at this share of nonmembers: no attack has an accuracy above 0.9" in given


def test_both_losses_are_asked_for_by_the_schema() -> None:
    assert set(ARRAYS["theory/mis-overfitting"]) == set(
        QUESTIONS["theory/mis-overfitting"].model_json_schema()["required"]
    )


def test_averages_over_training_sets_are_pointed_out_in_the_same_words() -> None:
    losses = {"train_losses": [0.0], "heldout_losses": [1.0], "losses_of": "independent_trainings"}
    found = (asked({"probabilities": P}), asked(losses, "theory/mis-overfitting"))
    warnings = (each for answer in found for each in answer["warnings"])
    said = [each["message"] for each in warnings if each["code"] == "averages_over_training_sets"]

    assert len(said) == 2
    assert said[0] == said[1]


def test_bounds_from_a_sample_name_their_confidence_and_none_is_marked() -> None:
    found = asked({"tallies": COUNTS, "universe": 6, "sizes": [1000], "nonmember_share": 0.3})["bounds"]

    assert not any(each["tightest"] for each in found)
    assert "95% confidence, each on its own" in found[0]["assumes"]


def test_an_accuracy_never_comes_without_its_baseline() -> None:
    answer = asked({"probabilities": P, "sizes": [100], "nonmember_share": 0.3, "member_weight": 2.0})
    losses = asked({"train_losses": [0.0] * 99, "heldout_losses": [1.0] * 99}, "theory/mis-overfitting")

    assert answer["baseline"] == pytest.approx(1.4)
    assert answer["baseline"] <= answer["accuracy_at_most"] <= 1.7
    for sentence in (answer["sentence"], losses["sentence"]):
        assert "against a baseline of" in sentence
    assert "a true positive counts 2 times" in answer["sentence"]


def test_bounds_stand_side_by_side_and_theorem_14_is_the_tightest() -> None:
    found = asked({"probabilities": P, "sizes": [1000]})["bounds"]

    assert [each["name"] for each in found if each["tightest"]] == ["theorem_14"]
    names = {each["name"] for each in found}
    assert {"simple", "corollary_15", "gini_simpson", "shannon", "uniform"} <= names


@pytest.mark.slow
def test_coarsening_says_what_each_merge_buys_and_costs() -> None:
    answer = asked({"tallies": COUNTS, "universe": 6, "sizes": [1000], "coarsen_to": [2, 4], "delta": 0.03})
    rows = answer["coarsened"]
    upper = answer["curve"]["delta_upper"][0]

    assert rows["cells"] == [2, 2, 2, 4, 4, 4]
    assert rows["merge"] == ["frequent", "balanced", "rare"] * 2
    assert rows["kept"][0] == pytest.approx(0.31)
    assert all(each == upper for each in rows["delta_upper"])
    assert rows["cells_upper"][0] == simple_delta(1.0, 1000) < upper
    assert all(each <= answer["records_needed"]["exact"] for each in rows["records"])


@pytest.mark.slow
def test_a_curve_is_drawn_around_the_sample_when_no_sizes_are_given() -> None:
    answer = asked({"tallies": COUNTS})

    assert (answer["n"], answer["curve"]["n"][0], answer["curve"]["n"][-1]) == (1000, 10, 100_000)
    assert np.all(np.diff(answer["curve"]["delta_upper"]) <= 0)


def test_mostly_single_values_are_pointed_out() -> None:
    answer = asked({"values": list(range(200)), "sizes": [200]})

    assert "mostly_singles" in [each["code"] for each in answer["warnings"]]


def test_one_models_losses_are_not_taken_for_the_algorithms() -> None:
    losses = {"train_losses": [0.0] * 200, "heldout_losses": [1.0] * 200}
    one = asked(losses, "theory/mis-overfitting")
    many = asked({**losses, "losses_of": "independent_trainings"}, "theory/mis-overfitting")

    assert one["sentence"].startswith("This model's security is at most 0.")
    assert "one_model" in [each["code"] for each in one["warnings"]]
    assert many["sentence"].startswith("Security of the algorithm is at most 0.")
    assert one["delta_at_least"] == 1.0 - one["security"]["upper"] > 0.8


def test_losses_without_a_gap_put_no_limit_on_security() -> None:
    losses = np.linspace(0.0, 1.0, 50).tolist()
    for more, code in ((0.0, "no_gap_shown"), (1.0, "losses_turned_round")):
        train = [each + more for each in losses]
        answer = asked({"train_losses": train, "heldout_losses": losses}, "theory/mis-overfitting")
        assert answer["sentence"].startswith("The losses put no limit on security")
        assert answer["warnings"][-1]["code"] == code


def test_a_known_distribution_has_corollary_15_from_below_and_a_sample_has_not() -> None:
    known = asked({"probabilities": P, "sizes": [9, 1000]})["curve"]
    sample = asked({"tallies": COUNTS, "universe": 6, "sizes": [9, 1000]})["curve"]

    assert known["simple_lower"][0] is None  # 9 is no more than 1/0.1
    assert known["simple_lower"][1] == pytest.approx(c_k(P) / np.sqrt(8000))
    assert known["simple_lower"][1] <= known["delta"][1] <= known["simple"][1]
    assert sample["simple_lower"] == [None, None]


def test_the_mean_loss_is_answered_with_its_cut_if_alpha_is_given() -> None:
    losses = {"train_losses": [0.01] * 60, "heldout_losses": [1.0] * 60}

    plain = asked(losses, "theory/mis-overfitting")
    answer = asked({**losses, "alpha": 0.1}, "theory/mis-overfitting")
    many = asked({**losses, "alpha": 0.1, "losses_of": "independent_trainings"}, "theory/mis-overfitting")

    assert plain["by_mean"] is None
    result = by_mean(losses["train_losses"], losses["heldout_losses"], 0.1)
    assert answer["by_mean"]["epsilon"] == result.epsilon == pytest.approx(0.1)
    assert answer["by_mean"]["security_at_most"] == result.security_upper
    assert many["by_mean"]["security_at_most"] is None
    assert answer["security"] == plain["security"]


def test_two_laws_are_told_apart_by_the_attack_in_the_answer() -> None:
    laws = np.random.default_rng(2).dirichlet(np.ones(6), size=2).T

    answer = asked({"outputs": laws.tolist(), "nonmember_share": 0.3}, "theory/mis-divergence")

    rule = np.isin(np.arange(6), answer["says_member"])
    accuracy = 0.7 * laws[rule, 0].sum() + 0.3 * laws[~rule, 1].sum()
    assert accuracy == pytest.approx(answer["accuracy"], abs=1e-12)
    assert answer["delta"] == divergence(laws[:, 1], laws[:, 0], 0.3 / 0.7)
    assert answer["true_positive_rate"] == pytest.approx(laws[rule, 0].sum())
    assert answer["baseline"] == 0.7
    weighed = asked({"outputs": laws.tolist(), "member_weight": 2.0}, "theory/mis-divergence")
    assert "a true positive counts 2 times" in weighed["sentence"]


def test_the_mean_of_gaussian_records_is_the_librarys() -> None:
    answer = asked({"dimension": 3, "sizes": [100, 10], "delta": 0.02}, "theory/mis-mean")

    assert answer["curve"]["delta"] == [mean_delta(100, 3), mean_delta(10, 3)]
    assert answer["curve"]["simple"] == [proposition_25(100, 3), proposition_25(10, 3)]
    assert (answer["n"], answer["records_needed"]) == (100, mean_records(0.02, 3))
    assert answer["security"] == 1.0 - answer["delta"]
    assert "not explicit" in answer["warnings"][0]["message"]
