"""/v1/theory/dp: the library's table, one clear problem for whatever does not go together."""

from functools import partial

import pytest

from estimators.theory.dp import ApproximateDp, GaussianDp, bounds
from tests.macekit import asking

post, asked = partial(asking.post, "theory/dp"), partial(asking.asked, "theory/dp")


def test_the_answer_is_the_librarys() -> None:
    promise = {"epsilon": 1.0, "delta": 0.01, "adjacency": "add_remove"}
    found = asked({**promise, "prior": 0.3, "member_weight": 2.0})

    table = bounds(ApproximateDp(1.0, 0.01), 0.3, 2.0, (0.001, 0.01, 0.1), "add_remove")
    assert [(b["quantity"], b["name"], b["value"], b["tightest"]) for b in found["bounds"]] == [
        (b.quantity, b.name, b.value, b.tightest) for b in table
    ]
    assert found["stated"][0]["epsilon"] == 1.0
    assert found["baseline"] == pytest.approx(0.4)


def test_a_promise_taken_to_be_about_replacing_says_so() -> None:
    assumed, said = asked({"epsilon": 1.0}), asked({"epsilon": 1.0, "adjacency": "replace"})

    assert "adjacency_assumed" in [w["code"] for w in assumed["warnings"]]
    assert "adjacency_assumed" not in [w["code"] for w in said["warnings"]]
    assert assumed["bounds"] == said["bounds"]


def test_a_gaussian_promise_comes_with_its_curve() -> None:
    found = asked({"mu": 1.0, "delta": 1e-5})

    pair = GaussianDp(1.0).pair(1e-5)
    assert pair is not None
    said = "as promised, for adjacency replace"
    assert found["stated"] == [{"epsilon": pair[0], "delta": 1e-5, "says": said}]
    assert len(found["curve"]["epsilon"]) == len(found["curve"]["delta"])
    assert found["curve"]["delta"][0] == pytest.approx(0.38292492)
    assert found["roc"]["tpr"][-1] == 1.0


def test_noise_is_stated_for_both_adjacencies_and_bounds_are_of_the_one_needed() -> None:
    noise = {"noise_multiplier": 2.0, "steps": 100, "delta": 1e-5}

    fixed, coins = asked(noise), asked({**noise, "inclusion": "independent"})

    assert fixed["stated"] == coins["stated"]
    assert fixed["bounds"] == asked({"mu": 10.0, "delta": 1e-5})["bounds"]
    assert coins["bounds"] == asked({"mu": 5.0, "delta": 1e-5, "inclusion": "independent"})["bounds"]


def test_an_infinite_bound_is_null() -> None:
    found = asked({"epsilon": 700.0, "adjacency": "add_remove"})

    assert [b["value"] for b in found["bounds"] if b["name"] == "mis_equation_9"] == [None]


@pytest.mark.parametrize("advantage", [0.1, 0.5])
def test_the_epsilon_that_keeps_an_advantage_keeps_it(advantage: float) -> None:
    kept = asked({"advantage": advantage, "prior": 0.45})["keeping"]

    again = asked({"epsilon": kept["epsilon"], "prior": 0.45})

    envelope = next(b for b in again["bounds"] if b["name"] == "envelope")
    assert envelope["value"] == pytest.approx(advantage, abs=1e-12)


def test_the_sentence_says_the_promise_as_it_was_given_or_nothing_of_it() -> None:
    stated, curve = asked({"epsilon": 1.0, "delta": 1.2345649e-5}), asked({"mu": 1.0})

    assert stated["sentence"].startswith("The promise, epsilon 1 at delta 1.2345649e-05, allows")
    assert curve["sentence"].startswith("The promise allows")


@pytest.mark.parametrize("least", [1e-17, 1e-300, 5e-324])
def test_numbers_next_to_nothing_are_answered_or_refused(least: float) -> None:
    for order in (1.0, 1.0 + 1e-12, 2.0, 1e300):
        assert asked({"rdp": [[order, least]], "delta": 1e-5})["baseline"] == 0.0
    assert asked({"noise_multiplier": 1.0, "steps": 10, "sampling_rate": least, "delta": 1e-5})["bounds"]
    for promise in ({"epsilon": 1.0}, {"mu": 1.0, "delta": 1e-5}):
        assert post({**promise, "member_weight": least}).status == 422
