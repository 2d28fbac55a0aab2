"""What each chart is drawn from: the numbers of the answer, and no others."""

import json
import math
import re
from copy import deepcopy
from typing import Any

import numpy as np
import pytest
from scipy.special import expit

import macekit
from estimators.statement import at_least, percent
from macekit.reports.charts import forest
from macekit.reports.content import figures
from macekit.reports.drawing import inline_svg, png, svg
from macekit.reports.formatting import between, distinct, ends, short_label, three
from macekit.reports.model import MOST_ROWS, AnswerPath, Figure
from tests.cases import each_case
from tests.macekit.reports.asked import answered
from tests.macekit.reports.charts.worlds import world


def figure(name: str, which: str) -> Figure:
    return next(each for each in figures(*world(name)) if each.name == which)


def data(spec: Any) -> list[dict[str, Any]]:
    """Every row of a specification, in the order of its layers."""
    own = list(spec.get("data", {}).get("values", []))
    return own + [row for part in (*spec.get("layer", ()), *spec.get("vconcat", ())) for row in data(part)]


def column(spec: Any, field: str) -> list[float]:
    return [row[field] for row in data(spec) if field in row]


def near(value: float) -> Any:
    return pytest.approx(value, rel=1e-5, abs=1e-9)


def test_the_interval_stands_between_baseline_and_threshold() -> None:
    _, answer = world("prior of a tenth")
    found = answer["result"]

    drawn = figure("prior of a tenth", "interval")

    for name in ("lower", "upper", "estimate"):
        assert column(drawn.spec, name)[0] == near(found["advantage"][name])
    assert set(column(drawn.spec, "at")) == {0.8, 0.85}
    assert "0.800" in drawn.description
    assert "The limit is 0.85: " in drawn.description
    assert found["verdict"]["decision"] in drawn.description


def test_a_confidence_just_below_one_is_not_described_as_certain() -> None:
    operation, answer = deepcopy(world("prior of a tenth"))
    answer["result"]["advantage"]["confidence"] = 0.99999999

    described = next(each for each in figures(operation, answer) if each.name == "interval").description

    assert "With 99.999999% confidence" in described


@each_case("name", ["prior of a tenth", "far from zero", "eight records a side"])
def test_areas_of_a_distribution_are_shares_of_the_records(name: str) -> None:
    _, answer = world(name)
    found = answer["distribution"]

    rows = data(figure(name, "distribution").spec)

    for side in ("members", "nonmembers"):
        bars = [row for row in rows if row["side"] == side]
        ends = zip(bars[::2], bars[1::2], strict=True)
        area = sum((right["score"] - left["score"]) * left["share"] for left, right in ends)
        width = (found["edges"][-1] - found["edges"][0]) / (len(found["edges"]) - 1)
        inside = sum(found[side])
        assert area / width == pytest.approx(inside / (inside + found[f"outside_{side}"]), rel=1e-3)


@each_case("anchor", [0, 1])
def test_scores_that_crowd_are_drawn_by_powers_of_ten(anchor: int) -> None:
    """From the left to the right along the axis, each bin as high as its share, the risk of each cell in its place."""
    rng = np.random.default_rng(0)
    sides = [expit(rng.normal(by, 3.0, 2000)) for by in (7.0, 5.0)]
    answer = macekit.report(*(side if anchor else 1.0 - side for side in sides)).answer
    distribution, risk = (
        next(each for each in figures("report", answer) if each.name == name) for name in ("distribution", "risk")
    )

    for drawn in (distribution, risk):
        axis = drawn.spec["layer"][0]["encoding"]["x"]
        places = [row["score"] for row in data(drawn.spec) if "score" in row]
        assert axis["scale"]["type"] == "log"
        assert (axis["scale"]["domain"][0] > axis["scale"]["domain"][1]) == bool(anchor)
        assert min(axis["scale"]["domain"]) <= min(places) <= max(places) <= max(axis["scale"]["domain"])
    members = [row for row in data(distribution.spec) if row.get("side") == "members"]
    lengths = [abs(math.log(b["score"] / a["score"])) for a, b in zip(members[::2], members[1::2], strict=True)]
    mean = sum(lengths) / len(lengths)
    areas = [row["share"] * length / mean for row, length in zip(members[::2], lengths, strict=True)]
    found = answer["distribution"]
    shares = [count / 2000 for count in found["members"]]
    assert areas == near(shares[::-1] if anchor else shares)
    assert [row["score"] for row in members] == sorted(row["score"] for row in members)
    assert f"powers of ten of the distance to {anchor}" in distribution.description
    assert svg([distribution]).startswith(b"<svg")


@each_case(
    "world",
    *(("likelihoods of texts", seed) for seed in range(6)),
    *(("cells of equal mass around 1", seed) for seed in range(6)),
    *(("zeros beside every magnitude", seed) for seed in range(3)),
)
def test_scores_next_to_nothing_and_around_1_are_drawn(world: tuple[str, int]) -> None:
    """An edge that was rounded to its neighbour, or to 0, was an error of the service."""
    name, seed = world
    rng = np.random.default_rng(seed)
    if name == "likelihoods of texts":
        asked = {side: np.exp(-rng.gamma(5, 60, 400)) for side in ("members", "nonmembers")}
    elif name == "zeros beside every magnitude":
        asked = {
            side: np.where(rng.random(300) < 0.2, 0.0, 10.0 ** rng.uniform(-320, 0, 300))
            for side in ("members", "nonmembers")
        }
    else:
        sides = (rng.normal(1.0, 10.0 ** rng.uniform(-9, 0), 500) for _ in range(2))
        asked = {"counts": macekit.counts(*sides, cells="equal_mass", bins=12)}

    for drawn in figures("report", macekit.report(**asked).answer):
        assert drawn is None or b"nan" not in svg([drawn]).lower()


def test_of_many_categories_the_most_frequent_are_drawn_and_the_rest_is_counted() -> None:
    drawn = figure("ten thousand categories", "distribution")

    assert len(data(drawn.spec)) == 40
    assert "20 most frequent" in drawn.description
    assert "19,920 records" in drawn.description


def test_the_curve_begins_at_nothing_and_ends_at_everything() -> None:
    drawn = figure("prior of a tenth", "roc")

    points = [(row["fpr"], row["tpr"]) for row in data(drawn.spec) if "tpr" in row]
    assert {(0.0, 0.0), (1.0, 1.0)} <= set(points)


def test_between_two_rates_the_band_is_as_wide_as_both_limits_allow() -> None:
    _, answer = world("prior of a tenth")
    band = answer["band"]

    steps = [row for row in data(figure("prior of a tenth", "roc").spec) if "lower" in row]

    assert len(steps) == 2 * (len(band) - 1)
    for before, behind, left, right in zip(band, band[1:], steps[::2], steps[1::2], strict=False):
        assert (left["fpr"], right["fpr"]) == (near(before["fpr"]), near(behind["fpr"]))
        for step in (left, right):
            assert (step["lower"], step["upper"]) == (near(before["lower"]), near(behind["upper"]))


def test_a_point_whose_lower_end_is_nothing_reaches_the_foot_and_is_marked() -> None:
    _, answer = world("prior of a tenth")
    assert answer["result"]["roc"]["operating_points"][0]["lower"] == 0.0

    assert "lower end is 0" in inline_svg(figure("prior of a tenth", "low-fpr"), "x")


def test_nothing_of_a_logarithmic_chart_lies_below_its_floor() -> None:
    for name in ("prior of a tenth", "points far out", "eight records a side", "everything leaks"):
        spec = figure(name, "low-fpr").spec
        floor = min(column(spec, "fpr"))
        assert floor > 0
        assert min(column(spec, "tpr") + column(spec, "lower") + column(spec, "upper")) >= floor


def test_risk_is_drawn_signed_in_steps_with_the_interval_of_each_cell() -> None:
    _, answer = world("counts with open ends")
    cells = answer["risk"]["cells"]

    spec = figure("counts with open ends", "risk").spec
    rows = [row for row in data(spec) if "signed_risk" in row][:6]

    assert min(cells["signed_risk"]) < 0.0
    assert [row["signed_risk"] for row in rows[::2]] == [near(value) for value in cells["signed_risk"]]
    assert [row["signed_lower"] for row in rows[1::2]] == [near(value) for value in cells["signed_lower"]]
    assert [row["signed_upper"] for row in rows[::2]] == [near(value) for value in cells["signed_upper"]]
    assert [row["score"] for row in rows] == [-3, -1, -1, 1, 1, 3]


def test_a_score_of_sure_nonmembers_does_not_look_like_one_that_exposes_members() -> None:
    _, answer = world("everything leaks")
    levels = column(figure("everything leaks", "risk").spec, "signed_risk")

    assert min(levels) < -0.9
    assert max(levels) > 0.9
    assert len({value > 0.0 for value in answer["risk"]["cells"]["signed_risk"] if value}) == 2
    assert set(column(figure("prior of a tenth", "risk").spec, "at")) == {-0.8}


def test_where_no_record_fell_the_risk_has_a_gap() -> None:
    assert set(column(figure("empty cells between", "risk").spec, "run")) == {0, 1}


def test_groups_come_with_the_highest_risk_first_and_at_most_forty() -> None:
    drawn = figure("prior of nine tenths, risk", "groups")

    estimates = column(drawn.spec, "estimate")
    assert len(estimates) == 40
    assert estimates == sorted(estimates, reverse=True)
    assert len(drawn.table.rows) == 80
    assert "40 first of 80 groups" in drawn.description


def test_queries_are_drawn_over_the_baseline_of_their_prior() -> None:
    drawn = figure("queries at a prior of a tenth", "ranking")

    assert 0.8 in column(drawn.spec, "at")
    assert "without any leakage it would be 0.800" in drawn.description


def test_each_metric_stands_beside_its_trivial_value() -> None:
    answer = world("metrics, presets")[1]

    drawn = figure("metrics, presets", "metrics")

    assert column(drawn.spec, "tick") == [near(m["trivial"]) for m in answer["metrics"]]


def test_each_limit_of_a_gate_has_a_row_and_those_open_above_an_arrow() -> None:
    _, answer = world("every limit")

    drawn = figure("every limit", "gate")

    assert len(drawn.spec["vconcat"]) == len(answer["limits"])
    assert inline_svg(drawn, "x").count("…)") == sum(limit["upper"] is None for limit in answer["limits"])


def test_a_claim_is_drawn_beside_what_epsilon_must_be_at_least() -> None:
    _, answer = world("everything leaks")

    drawn = figure("everything leaks", "epsilon")

    assert 1.0 in column(drawn.spec, "at")
    assert column(drawn.spec, "lower") == [near(answer["result"]["epsilon"]["lower_bound"])]
    assert "contradicted" in drawn.description


def test_names_that_look_alike_once_shortened_are_told_apart() -> None:
    assert distinct(["x" * 100 + "a", "x" * 100 + "b", "y"]) == ["x" * 31 + "…", "x" * 31 + "… (2)", "y"]


WIDE = {"pictures": "😀", "rare": "𠮷", "words": "𠮷野家", "wide": "Ｗ", "plain": "W"}
NAMED = {"distribution", "risk", "groups", "ranking", "differences"}
"""Figures with names in them."""


@pytest.mark.slow
@each_case("kind, start", [("pictures", 17), ("pictures", 33), ("rare", 1), ("rare", 33), ("words", 17), ("words", 49)])
def test_names_of_wide_letters_are_drawn_in_every_form(kind: str, start: int) -> None:
    names = [(WIDE[kind] * k)[:k] for k in range(start, start + 16)]
    labelled = {"members": names * 2, "nonmembers": names[::-1] + names[:8] * 2, "groups": names * 4}
    sides = {"members": [0.2, 0.9, 0.8, 0.7] * 4, "nonmembers": [0.2, 0.1, 0.8, 0.3] * 4}
    compared = {"queries": dict.fromkeys(names, sides), "against": names[0]}

    asked = (("report", labelled), ("compare", compared))
    drawn = (each for of, question in asked for each in figures(of, answered(of, question)))
    found = [each for each in drawn if each.name in NAMED]

    assert {each.name for each in found} == NAMED
    for each in found:
        assert "<text" in inline_svg(each, each.name)
    if start == 49:
        assert svg(found).startswith(b"<svg")
        assert png(found).startswith(b"\x89PNG")


@each_case("letters", WIDE.values())
def test_a_name_is_as_wide_as_fits_and_no_wider(letters: str) -> None:
    for k in range(1, 65):
        name = (letters * k)[:k]
        width = sum(1 if letter in "W…" else 2 for letter in short_label(name))

        assert width <= 32
        assert short_label(name) == name or width >= 31


def test_nothing_is_left_to_the_engine_to_cut() -> None:
    limits = re.findall(r'"labelLimit": (\d+)', json.dumps([each.spec for each in figures(*world("groups"))]))

    assert set(limits) == {"0"}


def test_the_surest_cell_is_told_by_the_interval_for_all_cells_together() -> None:
    _, answer = world("counts with open ends")
    cells = answer["risk"]["cells"]

    said = figure("counts with open ends", "risk").description

    assert cells["signed_risk"][0] == max(cells["signed_risk"])
    assert between(cells["simultaneous_lower"][0], cells["simultaneous_upper"][0]) in said
    assert between(cells["lower"][0], cells["upper"][0]) not in said


def test_where_few_are_members_the_surest_cell_is_that_of_members() -> None:
    members = ["a"] * 10 + ["b"] * 60 + ["c"] * 930
    sides = {"members": members, "nonmembers": ["a"] * 900 + ["b"] * 60 + ["c"] * 40}
    answer = answered("individual-risk", {**sides, "prior": 0.2})
    cells = answer["cells"]
    assert max(cells["risk"]) == cells["risk"][0] != cells["signed_risk"][0]

    (drawn,) = figures("individual-risk", answer)

    assert f"signed risk is {three(cells['signed_risk'][2])}:" in drawn.description
    assert "without any leakage it would be 0.600 everywhere" in drawn.description.lower()


def test_ends_are_rounded_outward() -> None:
    assert ends(0.12349, 0.12341) == "[0.123, 0.124]"
    assert ends(-0.0001, 0.0) == "[-0.001, 0.000]"


def test_a_bound_on_epsilon_says_what_it_takes_for_granted() -> None:
    _, answer = world("everything leaks")
    bound = answer["result"]["epsilon"]

    said = figure("everything leaks", "epsilon").description

    assert said.startswith(
        "If each record was a member by a coin of its own, the mechanism's epsilon is at least "
        f"{at_least(bound['lower_bound'])} at delta "
    )
    assert f"with {percent(bound['confidence'])} confidence" in said


@each_case("label", ["", "  ", "\u202e", "\x00", "a\nb", "\ud800", "x" * 10_000, "👩‍👩‍👧‍👦"])
def test_a_name_is_seen_and_short_and_does_nothing(label: str) -> None:
    found = short_label(label)

    assert 0 < len(found) <= 32
    assert found.strip()
    assert found.isprintable()


def test_of_more_columns_than_a_table_shows_the_rest_is_counted() -> None:
    each = {"estimate": 0.1, "lower": 0.0, "upper": 0.2}
    many = [{"name": f"column {i}", "differs": i < 9, **each} for i in range(MOST_ROWS + 37)]

    drawn = forest.columns(AnswerPath({"advantage": each, "columns": many}))

    assert "9 of 237 columns tell the two sides apart" in drawn.description
    assert (len(drawn.table.rows), drawn.table.more) == (200, 37)
