"""``/v1/report`` is the answers it is made of, and what its pictures are drawn from."""

from typing import Any

import numpy as np
import pytest
from pydantic import TypeAdapter

from app.cli.parsing import status_of
from macekit.call import CSV, HTML, MARKDOWN, PNG, SVG
from macekit.questions.report import ReportAnswer
from macekit.reports.rendering import render
from macekit.reports.saved import BrokenAnswerError, validate_answer
from tests.app.http.asked import as_csv, as_json, table, world
from tests.cases import each_case
from tests.macekit.asking import ask, asked, post, refused
from tests.macekit.operations.test_options_act import SAMPLES

pytestmark = pytest.mark.usefixtures("quick")

GROUPS = ["a", "b", "ä, =1+1"]
OPTIONS: dict[str, Any] = {
    "prior": 0.3, "confidence": 0.9, "max_advantage": 0.1, "seed": 3, "claimed_epsilon": 1.0,
}  # fmt: skip


def test_scores_farther_apart_than_a_float_reaches_are_answered_without_a_word_of_numpy() -> None:
    sides = 5e307 * np.random.default_rng(0).normal(size=(2, 100))
    far = dict(zip(("members", "nonmembers"), sides.tolist(), strict=True))

    assert asked("report", far)["posterior"] == []
    assert asked("gate", {**far, "max_advantage": 0.5, "anytime": True})["decision"] == "pass"


@pytest.mark.parametrize(("threshold", "warned"), [(0.1, True), (0.9, False)])
def test_a_threshold_that_is_exceeded_without_any_leak_is_warned_of(threshold: float, warned: bool) -> None:
    body = {**SAMPLES["scores"], "prior": 0.1, "max_advantage": threshold}

    for found in (asked("advantage", body), asked("report", body)["result"]):
        assert ("limit_below_baseline" in {each["code"] for each in found["warnings"]}) is warned


@pytest.mark.parametrize("kind", SAMPLES)
def test_the_result_is_the_answer_of_advantage_and_the_whole_is_as_described(kind: str) -> None:
    body = {**SAMPLES[kind], **OPTIONS}

    found = asked("report", body)

    TypeAdapter(ReportAnswer).validate_python(found, strict=True)
    assert found["result"] == asked("advantage", body)
    assert found["provenance"] == found["result"]["provenance"]
    assert found["sentence"] == found["result"]["sentence"]


@pytest.mark.parametrize(("kind", "more"), [
    ("scores", ["groups", "units"]), ("scores", []), ("integers", ["groups"]), ("text", ["units"]),
    ("vectors", ["groups"]), ("vectors", ["units"]), ("text", ["groups", "units"]), ("integers", []),
])  # fmt: skip
def test_the_risk_is_that_of_individual_risk(kind: str, more: list[str]) -> None:
    given = SAMPLES[kind]
    n = len(given["members"]) + len(given["nonmembers"])
    labels = {"groups": (GROUPS * n)[:n], "units": [i // 2 for i in range(n)]}
    body = {**given, **{name: labels[name] for name in more}, "prior": 0.3, "confidence": 0.9, "seed": 3}

    found = asked("report", body)

    alone = asked("individual-risk", {**body, "metric": "accuracy"})
    assert found["risk"] == {name: alone[name] for name in found["risk"]}
    assert found["groups"] == alone["groups"]
    assert bool(found["groups"]) == ("groups" in more)
    codes = [each["code"] for each in found["warnings"]]
    assert {each["code"] for each in (*found["result"]["warnings"], *alone["warnings"])} == set(codes)


@pytest.mark.parametrize("ends", [(-1, 2**63), (2**64, 2**70), (-(2**70), 10**30)])
def test_integers_of_any_size_are_read_as_the_floats_near_them_where_so_asked(ends: tuple[int, int]) -> None:
    rng = np.random.default_rng(1)
    places = (rng.integers(0, 41, 60).tolist() for _ in "ab")
    steps = [[ends[0] + k * (ends[1] - ends[0]) // 40 for k in each] for each in places]
    more = {"query": "continuous", "groups": ["a", "b"] * 60, "units": [i // 2 for i in range(120)]}
    kinds = steps, [list(map(float, side)) for side in steps]
    whole, fractions = (dict(zip(("members", "nonmembers"), sides, strict=True)) for sides in kinds)

    for operation, options in (("report", {}), ("individual-risk", {}), ("gate", {"max_group_risk": 0.5})):
        of_whole, of_floats = (asked(operation, {**each, **more, **options}) for each in (whole, fractions))

        for name in ("risk", "records", "groups", "limits"):
            assert of_whole.get(name) == of_floats.get(name)


@pytest.mark.parametrize("kind", SAMPLES)
def test_every_record_is_drawn_or_said_to_lie_outside(kind: str) -> None:
    found = asked("report", SAMPLES[kind])

    drawn, source = found["distribution"], found["provenance"]
    if kind == "vectors":  # what is drawn is the learned score, of the records that did not teach it
        source = found["result"]["learned_score"]
    assert drawn["kind"] == ("categories" if kind in ("text", "integers") else "intervals")
    for side in ("members", "nonmembers"):
        assert sum(drawn[side]) + drawn[f"outside_{side}"] == source[f"n_{side}"]


@pytest.mark.parametrize("kind", SAMPLES)
def test_there_is_a_band_where_there_is_a_curve(kind: str) -> None:
    points = {} if kind == "text" else {"operating_points": [0.1]}

    found = asked("report", {**SAMPLES[kind], **points})

    has_curve = found["result"]["roc"] is not None
    assert bool(found["band"]) == has_curve == (kind in ("scores", "integers", "counts", "vectors"))
    assert bool(found["band"]) == (found["rarest_fpr"] is not None)
    for point in found["band"]:
        assert point["lower"] <= point["tpr"] <= point["upper"]
        assert point["lower"] == 0.0 or point["fpr"] >= found["rarest_fpr"]
    assert [row["share"] for row in found["precision"]] == ([0.01, 0.05, 0.1, 0.25] if found["band"] else [])
    for row in found["precision"]:
        assert found["provenance"]["options"]["prior"] <= row["lower"] <= row["estimate"] <= row["upper"]


def test_a_table_says_the_same_as_json() -> None:
    members, nonmembers = world(60)
    groups = (GROUPS * 60)[: len(members) + len(nonmembers)]
    body = as_csv(table(members, nonmembers, kind=groups))

    found = asked("report", body, CSV, group="kind", score="score", max_advantage="0.1")

    wanted = asked("report", as_json(members, nonmembers, groups=groups, max_advantage=0.1))
    for source in (wanted["provenance"], wanted["result"]["provenance"]):
        source["options"] |= {"group": "kind", "score": "score"}
    read = (found, ["score", "member", "kind"]), (wanted, ["members", "nonmembers", "groups"])
    for answer, names in read:
        for source in (answer["provenance"], answer["result"]["provenance"]):
            assert [each["name"] for each in source.pop("columns")] == names
    assert found == wanted


@each_case("kind, more", [("counts", {"groups": GROUPS}), ("text", {"operating_points": [0.1]})])
def test_what_a_kind_of_sample_has_not_is_refused(kind: str, more: dict[str, Any]) -> None:
    found = refused("report", {**SAMPLES[kind], **more})

    assert (found["kind"], found["field"]) == ("bad-option", *more)


def test_many_counts_need_no_more_than_their_cells() -> None:
    cells = {"members": [2**40, 2**41], "nonmembers": [2**41, 2**40], "edges": [0.5]}

    found = asked("report", {"counts": cells})

    assert found["distribution"]["members"] == [2**40, 2**41]
    assert found["risk"]["flags"]["records"] == 2**41 + 2**40


@pytest.mark.slow
@pytest.mark.parametrize("kind", SAMPLES)
def test_every_kind_of_sample_can_be_looked_at_in_every_form(kind: str) -> None:
    answer = asked("report", {**SAMPLES[kind], **OPTIONS})

    for form in (HTML, MARKDOWN, CSV, SVG, *([PNG] if kind == "scores" else [])):
        assert len(render("report", answer, form)) > 500


@pytest.mark.parametrize("form", [HTML, MARKDOWN, CSV])
def test_a_form_comes_as_what_it_is(form: str) -> None:
    reply = post("report", {**SAMPLES["text"], **OPTIONS}, accept=form)

    assert (reply.status, reply.media_type) == (200, form)
    assert len(reply.body) > 500


# --- a limit on each group by itself ---

RARE = np.arange(800) < 200
HIDDEN = np.random.default_rng(2).random((2, 800))
"""In a rare group members stand above nonmembers, and everywhere else among them."""
HIDDEN[0, RARE], HIDDEN[1, RARE] = HIDDEN[0, RARE] / 2.0 + 0.5, HIDDEN[1, RARE] / 2.0
OF_GROUPS: dict[str, Any] = {"members": HIDDEN[0].tolist(), "nonmembers": HIDDEN[1].tolist()}
OF_GROUPS["groups"] = np.where(np.tile(RARE, 2), "rare", "most").tolist()


def counts_by_group() -> dict[str, Any]:
    return {"counts": asked("counts", OF_GROUPS)["counts"]}


@pytest.mark.slow
@each_case("records", [OF_GROUPS, {**OF_GROUPS, "units": [*range(1600)]}, {**OF_GROUPS, "cluster": [*range(1600)]}, {}])
@each_case("limits", [{"max_group_advantage": 0.3}, {"max_group_advantage": 1.0, "max_advantage": 0.4}])
def test_a_limit_on_groups_is_judged_as_by_the_gate_with_that_on_all_records(records, limits) -> None:
    body = {**(records or counts_by_group()), **limits, "seed": 3, "changes": 4}

    found, gate = asked("report", body), asked("gate", body)

    TypeAdapter(ReportAnswer).validate_python(found, strict=True)
    assert found["gate"] == {name: gate[name] for name in found["gate"]}
    assert found["gate"]["decision"] == ("fail" if limits["max_group_advantage"] < 0.5 else "pass")
    assert found["sentence"] == f"{gate['sentence']} {found['result']['sentence']}"
    assert found["result"]["verdict"] is None
    assert status_of(found) == status_of(gate) == (1 if limits["max_group_advantage"] < 0.5 else 0)
    assert {row["label"] for row in found["gate"]["groups"]} == {row["label"] for row in found["groups"]}
    plain = asked("report", {name: body[name] for name in body if name not in limits})
    assert (plain["gate"], plain["result"]["verdict"], status_of(plain)) == (None, None, 0)
    assert {name: found[name] for name in ("risk", "groups", "band", "precision")} == {
        name: plain[name] for name in ("risk", "groups", "band", "precision")
    }
    page = ask("report", body, accept=MARKDOWN)
    assert "## Groups beside their limit" in page
    assert "the largest advantage within 2 groups" in page
    assert ("What this pass covers" in page) == (found["gate"]["decision"] == "pass")
    assert validate_answer("report", found) == found
    with pytest.raises(BrokenAnswerError, match="gate"):
        validate_answer("report", {**found, "gate": {**found["gate"], "decision": "inconclusive"}})


@pytest.mark.slow
def test_no_group_passes_beside_members_whom_the_score_exposes_unless_that_is_accepted() -> None:
    members, nonmembers = np.random.default_rng(4).normal(size=(2, 4000))
    members[:200] += 9.0
    body = {"members": members.tolist(), "nonmembers": nonmembers.tolist(), "groups": ["a", "b"] * 4000}
    body["max_group_advantage"] = 0.5

    held, accepted = asked("report", body), asked("report", {**body, "accept_exposure": True})

    assert (held["gate"]["decision"], held["gate"]["undecided_because"]) == ("inconclusive", "exposed")
    assert "exposed" in {each["code"] for each in held["warnings"]}
    assert status_of(held) == 3
    assert validate_answer("report", held) == held
    assert (accepted["gate"]["decision"], status_of(accepted)) == ("pass", 0)
    assert "Accepted by name" in accepted["sentence"]


@each_case(
    "kind, field, question",
    ("missing-field", "groups", {**OF_GROUPS, "groups": None, "max_group_advantage": 0.3}),
    ("out-of-range", "max_group_advantage", {**OF_GROUPS, "max_group_advantage": 1.5}),
    ("wrong-type", "max_group_advantage", {**OF_GROUPS, "max_group_advantage": "low"}),
    ("dimension-mismatch", "groups", {**OF_GROUPS, "groups": ["a"], "max_group_advantage": 0.3}),
    ("bad-option", "accept_exposure", {**OF_GROUPS, "accept_exposure": True}),
)
def test_a_limit_on_groups_that_cannot_be_judged_is_refused(kind, field, question) -> None:
    problem = refused("report", question)

    assert (problem["kind"], problem["field"]) == (kind, field)
