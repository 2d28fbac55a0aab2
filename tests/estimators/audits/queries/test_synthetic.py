"""Queries of a released table: each against its formula, both sides alike, and no leak where there is none."""

from itertools import combinations
from math import exp, log
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from estimators.audits.queries import synthetic as module
from estimators.audits.queries.synthetic import CATALOGUE, Release, synthetic_scores
from estimators.audits.queries.table import Encoding, encode, encode_points
from estimators.errors import OptionError, OutOfRange, UnknownName
from estimators.optimum.advantage import advantage
from estimators.sample.scores import Scores
from tests.cases import each_case, refusals

Floats = NDArray[np.float64]


def people(rng: np.random.Generator, n: int) -> dict[str, Any]:
    """A table of mixed columns that hang together."""
    age = rng.integers(18, 80, n)
    job = rng.choice(["baker", "nurse", "judge", "cook"], n, p=[0.4, 0.3, 0.2, 0.1])
    wage = np.round(rng.lognormal(2 + age / 80, 0.5), 1)
    wage[rng.random(n) < 0.05] = np.nan
    return {"age": age, "job": job, "wage": wage, "part_time": rng.random(n) < 0.3}


def stacked(*tables: dict[str, Any]) -> dict[str, Any]:
    return {name: np.concatenate([table[name] for table in tables]) for name in tables[0]}


def part(table: dict[str, Any], which: Any) -> dict[str, Any]:
    return {name: column[which] for name, column in table.items()}


def drawn(seed: int, sizes: tuple[int, int, int, int] = (30, 25, 40, 35), copies: int = 4) -> Encoding:
    rng = np.random.default_rng(seed)
    a, b, s, r = (people(rng, n) for n in sizes)
    if copies:
        s = stacked(s, part(a, slice(copies)), part(a, slice(1)))
    return encode(a, b, s, r)


# --- formulas, one record after another -------------------------------------------------------------------------


def to_all(point: Floats, rows: Floats) -> list[float]:
    return sorted(float(each) for each in np.abs(point - rows).sum(axis=1))


def median(values: list[float]) -> float:
    middle = float(np.median(values))
    return middle or float(np.mean([each for each in values if each] or [1.0]))


def by_hand(tables: Encoding, index: int, people: int = 32) -> dict[str, float]:
    """Every query for one member, as its authors write it, over all rows and without any library."""
    x, s = tables.members.points[index], tables.synthetic.points
    r = tables.reference.points
    n, m = len(s), len(r)
    ds, dr = to_all(x, s), to_all(x, r)
    radius = median([to_all(each, s)[0] for each in r])
    width = median([to_all(each, r)[4] for each in s])
    same = int((tables.synthetic.values == tables.members.values[index]).all(axis=1).sum())
    mean_log = -sum(log(d / radius) for d in ds if 0 < d <= radius) / n
    likely = sum(exp(-d / width) for d in ds) / n, sum(exp(-d / width) for d in dr) / m
    around = np.argsort(np.abs(x - r).sum(axis=1), kind="stable")[:people]
    theirs = [to_all(r[each], s)[0] for each in around]
    near = np.argsort(np.abs(x - s).sum(axis=1), kind="stable")[:10]
    gains = []
    for row in s[near]:
        without = sum(exp(-d / width) for d in to_all(row, r)) / m
        beside = (m * without + exp(-float(np.abs(row - x).sum()) / width)) / (m + 1)
        gains.append(log(beside) - log(without))
    return {
        "exact_copy": float(same > 0),
        "near_copy": float(ds[0] <= 0.01),
        "closeness": -ds[0],
        "kth_closeness": -ds[4],
        "closeness_ratio": -ds[0] / ds[1] if ds[0] else 0.0,
        "ball": mean_log + 2048.0 * ds.count(0.0),
        "calibrated_closeness": dr[0] / (dr[0] + ds[0]) if dr[0] + ds[0] else 0.5,
        "density_ratio": log(likely[0] / likely[1]),
        "local_rank": float(np.mean([(d > ds[0]) + (d == ds[0]) / 2 for d in theirs])),
        "local_likelihood": sum(gains),
        "rare_values": rarity(tables, index, 1),
        "rare_pairs": rarity(tables, index, 2),
    }


def rarity(tables: Encoding, index: int, together: int) -> float:
    own, s, r = tables.members.values[index], tables.synthetic.values, tables.reference.values
    total = 0.0
    for columns in combinations(range(len(own)), together):
        which = list(columns)
        released = int((s[:, which] == own[which]).all(axis=1).sum())
        among = int((r[:, which] == own[which]).all(axis=1).sum())
        if released and among <= 0.01 * len(r):
            share = (released + 0.5) / (len(s) + 1), (among + 0.5) / (len(r) + 1)
            total += max(0.0, log(share[0]) - log(share[1]))
    return total


@pytest.mark.slow
@each_case("seed", range(3))
def test_every_query_equals_its_formula(seed, monkeypatch) -> None:
    # as many as there are rows: the densities are over all of them
    monkeypatch.setattr(module, "KERNELS", 50)
    tables = drawn(seed)
    scores = synthetic_scores(tables).members

    assert list(scores) == list(CATALOGUE)
    for index in range(len(tables.members)):
        expected = by_hand(tables, index, people=50)
        for name, values in scores.items():
            assert values[index] == pytest.approx(expected[name], rel=1e-9, abs=1e-12), name


def test_local_rank_looks_at_the_nearest_people_only(rng) -> None:
    tables = encode_points(*rng.normal(size=(4, 90, 2)))  # no ties
    ranks = synthetic_scores(tables, ["local_rank"]).members["local_rank"]

    assert ranks[::6] == pytest.approx([by_hand(tables, index)["local_rank"] for index in range(0, 90, 6)])


def test_the_ball_holds_all_rows_within_it_however_many(monkeypatch) -> None:
    monkeypatch.setattr(module, "KERNELS", 3)
    monkeypatch.setattr(module, "AT_ONCE", 40)
    tables = drawn(3)
    radius = 1.2
    scores = synthetic_scores(tables, ["ball"], radius=radius).members["ball"]

    for index, x in enumerate(tables.members.points):
        far = to_all(x, tables.synthetic.points)
        inside = [d for d in far if 0 < d <= radius]
        expected = -sum(log(d / radius) for d in inside) / len(far) + 2048 * far.count(0.0)
        assert scores[index] == pytest.approx(expected)


# --- what a score may know --------------------------------------------------------------------------------------


@each_case("reference", [True, False])
def test_exchanging_the_sides_exchanges_the_scores(reference) -> None:
    rng = np.random.default_rng(11)
    a, b, s, r = people(rng, 60), people(rng, 45), people(rng, 70), people(rng, 50)
    s = stacked(s, part(a, slice(9)))
    beside = r if reference else None
    one_way, other_way = synthetic_scores(encode(a, b, s, beside)), synthetic_scores(encode(b, a, s, beside))

    alone = {name for name, query in CATALOGUE.items() if "reference" not in query.needs}
    assert set(one_way.members) == (set(CATALOGUE) if reference else alone)
    for name in one_way.members:
        np.testing.assert_array_equal(one_way.members[name], other_way.nonmembers[name])
        np.testing.assert_array_equal(one_way.nonmembers[name], other_way.members[name])


def test_a_score_does_not_depend_on_who_else_is_asked_about() -> None:
    tables = drawn(4)
    together = Release(tables.synthetic, tables.reference).scores(tables.members)

    for index in range(len(tables.members)):
        alone = Release(tables.synthetic, tables.reference).scores(tables.members.part([index]))
        for name, values in together.items():
            assert alone[name][0] == values[index], name


def test_records_that_others_bring_along_do_not_move_a_score(rng) -> None:
    a, b, s, r = people(rng, 40), people(rng, 40), people(rng, 50), people(rng, 50)
    odd = {
        "age": np.array([10**6]), "job": np.array(["astronaut"]), "wage": np.array([-1e12]), "part_time": [True],
    }  # fmt: skip
    usual = synthetic_scores(encode(a, b, s, r))
    beside = synthetic_scores(encode(a, stacked(b, odd), s, r))

    for name in CATALOGUE:
        np.testing.assert_array_equal(usual.members[name], beside.members[name])


# --- no leak, and leaks -----------------------------------------------------------------------------------------


@pytest.mark.slow
@each_case(
    "versions, blind",
    (1, {"exact_copy", "kth_closeness", "rare_values"}),
    (5, {"exact_copy", "closeness_ratio", "rare_values"}),
)
def test_a_release_of_noisy_members_is_seen(versions, blind) -> None:
    """One version of each member hides from who looks at the fifth, several from who looks at the first two."""
    rng = np.random.default_rng(0)
    a, b, r = people(rng, 300), people(rng, 300), people(rng, 300)
    s = stacked(*[part(a, rng.permutation(300)) for _ in range(versions)])
    s["wage"] = s["wage"] * np.exp(rng.normal(scale=0.01, size=300 * versions))
    scores = synthetic_scores(encode(a, b, s, r))

    for name in CATALOGUE.keys() - blind:
        assert advantage(Scores.of(scores.members[name], scores.nonmembers[name])).lower > 0.0, name
        assert np.mean(scores.members[name]) > np.mean(scores.nonmembers[name]), name


def test_rare_values_that_stand_in_the_release_are_seen_where_no_distance_sees_them(rng) -> None:
    """Columns of members shuffled each for itself: no row is near, every value is a member's."""

    def draw(n: int) -> dict[str, Any]:
        return {name: rng.lognormal(sigma=1, size=n).round(3) for name in "abcde"}

    a, b, r = draw(400), draw(400), draw(400)
    s = {name: rng.permutation(column) for name, column in a.items()}
    scores = synthetic_scores(encode(a, b, s, r))

    sides = {name: (scores.members[name], scores.nonmembers[name]) for name in ("closeness", "rare_values")}
    leak = {name: advantage(Scores.of(*each)).lower for name, each in sides.items()}
    assert leak["rare_values"] > 0.4
    assert leak["closeness"] < 0.1


# --- copies, ties, and tables that are odd ----------------------------------------------------------------------


def test_copies_rank_above_everything_and_every_score_is_finite(rng) -> None:
    a, b, s, r = rng.normal(size=(4, 50, 3))
    a[0], a[1] = s[0], s[1]
    s[2] = s[1]
    a[2] = s[0] + 1e-300  # the same float but for nothing
    a[3] = s[3] * (1 + 1e-15)
    scores = synthetic_scores(encode_points(a, b, s, r))

    for name in ("closeness", "closeness_ratio", "ball", "calibrated_closeness", "exact_copy", "near_copy"):
        members, nonmembers = scores.members[name], scores.nonmembers[name]
        assert np.isfinite(members).all()
        assert members[0] >= nonmembers.max()
        assert members[0] == members.max() or name == "ball"
    ball = scores.members["ball"]
    assert ball[1] > ball[0] > ball[3] > 0  # two copies, one, none but very near
    assert ball[0] >= 2048 > np.delete(ball, [0, 1, 2]).max()
    assert scores.members["near_copy"][:4].tolist() == [1, 1, 1, 1]
    assert scores.members["exact_copy"][:4].tolist() == [1, 1, 1, 0]


@each_case(
    "members, nonmembers, released, reference",
    ((1, 3), (1, 3), (1, 3), (1, 3)),
    ((1, 3), (2, 3), (1, 3), None),
    ((5, 1), (4, 1), (3, 1), (2, 1)),
    ((40, 2), (40, 2), (3, 2), (1, 2)),
)
def test_fewer_rows_than_k(members, nonmembers, released, reference) -> None:
    rng = np.random.default_rng(9)
    three = [rng.random(each) for each in (members, nonmembers, released)]
    tables = encode_points(*three, None if reference is None else rng.random(reference))
    scores = synthetic_scores(tables, k=50)

    for values in (*scores.members.values(), *scores.nonmembers.values()):
        assert np.isfinite(values).all()
    far = [to_all(x, tables.synthetic.points)[-1] for x in tables.members.points]
    np.testing.assert_array_equal(scores.members["kth_closeness"], -np.array(far))


def test_rows_that_are_all_equal_tie_and_values_may_be_missing_but_one() -> None:
    hole, same = {"x": [None] * 9 + [1.0], "y": ["a", None] * 5}, np.ones((20, 3))
    holes = synthetic_scores(encode(hole, hole, hole, hole))
    equal = synthetic_scores(encode_points(same, same, same, same))

    for name in CATALOGUE:
        assert np.isfinite(holes.members[name]).all()
        np.testing.assert_array_equal(holes.members[name], holes.nonmembers[name])
        every = np.concatenate([equal.members[name], equal.nonmembers[name]])
        assert np.isfinite(every).all()
        assert len(np.unique(every)) == 1, name
    assert (holes.members["exact_copy"] == 1).all()


def test_euclidean_distances_of_raw_numbers(rng) -> None:
    a, b, s = rng.integers(0, 256, (3, 40, 64)).astype(np.float64)
    s[:5] = a[:5]
    s[5:10] = np.clip(a[5:10] + rng.integers(-1, 2, (5, 64)) * (rng.random((5, 64)) < 0.1), 0, 255)
    scores = synthetic_scores(encode_points(a, b, s), metric="l2")

    expected = -np.sqrt(((a[:, None] - s[None]) ** 2).sum(axis=2)).min(axis=1)
    np.testing.assert_array_equal(scores.members["closeness"], expected)
    assert scores.members["near_copy"][:5].all()


NINE = encode_points(*np.random.default_rng(0).random((3, 9, 2)))


test_what_is_wrong_is_named = refusals(
    "tables, names, options, error, words",
    (NINE, ["rare_values"], {}, OptionError, "'rare_values' needs a reference: rows like the others"),
    (NINE, ["closenes"], {}, UnknownName, "did you mean 'closeness'"),
    (drawn(0), None, {"metric": "l2"}, OptionError, "l2 is for numbers, and the tables have categories"),
    (NINE, None, {"radius": 0.0}, OutOfRange, "radius"),
    (NINE, None, {"near": -1.0}, OutOfRange, "near"),
    (NINE, None, {"k": 0}, OutOfRange, "k"),
    ask=lambda tables, names, options: synthetic_scores(tables, names, **options),
)


def test_the_catalogue_says_what_each_query_is() -> None:
    for name, query in CATALOGUE.items():
        assert name == query.name
        assert query.direction == "higher is more like a member"
        assert all((query.paper, query.says, query.cost, query.ties))
        assert set(query.needs) <= {"synthetic", "reference"}
    assert set(CATALOGUE) == set(module._FORMULAS)
