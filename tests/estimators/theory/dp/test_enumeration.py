"""Every bound of the table against exact enumeration of small mechanisms, for either adjacency and inclusion."""

from itertools import combinations

import numpy as np
import pytest

from estimators.errors import OptionError
from estimators.theory.dp import ApproximateDp, bounds
from tests.cases import each_case

RECORDS, OUTCOMES = 5, 5
RATES = (0.01, 0.1, 0.4)


def mechanism(seed, sharpness):
    """A law over outcomes for every training set; some records weigh much more than others."""
    rng = np.random.default_rng(seed)
    pull = sharpness * rng.normal(size=(RECORDS, OUTCOMES)) * rng.choice([0.1, 1.0], (RECORDS, 1))
    jitter = 0.1 * sharpness * rng.normal(size=(2**RECORDS, OUTCOMES))
    laws = {}
    for size in range(RECORDS + 1):
        for members in combinations(range(RECORDS), size):
            at = frozenset(members)
            raw = np.exp(sum((pull[x] for x in at), np.zeros(OUTCOMES)) + jitter[sum(1 << x for x in at)])
            laws[at] = raw / raw.sum()
    return laws


def one_replaced(laws, size):
    for at in laws:
        for gone in at if len(at) == size else ():
            for new in set(range(RECORDS)) - at:
                yield laws[at], laws[at - {gone} | {new}]


def one_added_or_removed(laws):
    for at in laws:
        for gone in at:
            yield laws[at], laws[at - {gone}]
            yield laws[at - {gone}], laws[at]


def promised(pairs, delta):
    """The least epsilon of a finite mechanism at ``delta``, by bisection of the hockey stick."""
    pairs = list(pairs)
    if delta == 0.0:
        return max(float(np.log(p / q).max()) for p, q in pairs)
    low, high = 0.0, 60.0
    for _ in range(100):
        middle = (low + high) / 2.0
        worst = max(float(np.maximum(p - np.exp(middle) * q, 0.0).sum()) for p, q in pairs)
        low, high = (low, middle) if worst <= delta else (middle, high)
    return high


def truth(inside, out, prior, weight):
    """Every quantity of the table for one record, by going through all sets of outcomes."""
    sets = (np.arange(2**OUTCOMES)[:, None] >> np.arange(OUTCOMES)) & 1
    tpr, fpr = sets @ inside, sets @ out
    a, b = weight * prior, 1.0 - prior
    success = (prior * tpr + (1.0 - prior) * (1.0 - fpr)).max()
    best = (a * tpr + b * (1.0 - fpr)).max()
    ratio = prior * inside / ((1.0 - prior) * out)
    found = {
        "advantage": 2.0 * success - 1.0,
        "success": success,
        "mip_eta": success - max(prior, 1.0 - prior),
        "mis_delta": (best - max(a, b)) / min(a, b),
        "individual_risk": np.abs((ratio - 1.0) / (ratio + 1.0)).max(),
    }
    order = np.argsort(-inside / out)
    x, y = np.cumsum(out[order]), np.cumsum(inside[order])
    for rate in RATES:
        found[f"tpr_at_fpr_{rate:g}"] = np.interp(rate, np.append(0.0, x), np.append(0.0, y))
    return found


def laws_of_a_record(laws, size, record):
    inside = np.mean([law for at, law in laws.items() if len(at) == size and record in at], axis=0)
    out = np.mean([law for at, law in laws.items() if len(at) == size and record not in at], axis=0)
    return inside, out


def coins(laws, record, odds):
    """The two laws where every record is included by a coin of its own."""

    def weight(at):
        return np.prod([odds[x] if x in at else 1.0 - odds[x] for x in range(RECORDS) if x != record])

    inside = sum(weight(at) * law for at, law in laws.items() if record in at)
    return inside, sum(weight(at) * law for at, law in laws.items() if record not in at)


def exceeded(table, true):
    """Names of the proven bounds that the truth is above."""
    known = (b for b in table if b.proven and b.quantity in true)
    return [(b.quantity, b.name) for b in known if true[b.quantity] > b.value + 1e-12]


@pytest.mark.slow
@each_case("delta", [0.0, 1e-3, 0.05])
@each_case("size", [1, 2, 4])
@each_case(
    "adjacency, neighbours, weight",
    [("replace", one_replaced, 2.5), ("add_remove", lambda laws, size: one_added_or_removed(laws), 0.4)],
)
def test_no_record_beats_a_promise_about(adjacency, neighbours, weight, size, delta):
    for seed in range(3):
        laws, prior = mechanism(seed, 0.3 + seed % 3), size / RECORDS

        promise = ApproximateDp(promised(neighbours(laws, size), delta), delta)

        table = bounds(promise, prior, weight, RATES, adjacency)
        for record in range(RECORDS):
            assert exceeded(table, truth(*laws_of_a_record(laws, size, record), prior, weight)) == []


@pytest.mark.slow
@each_case("delta", [0.0, 0.02])
@each_case("seed", range(4))
def test_where_each_record_has_a_coin_of_its_own_adding_and_removing_is_enough(seed, delta):
    laws, rng = mechanism(seed, 0.3 + seed % 3), np.random.default_rng(seed)
    promise = ApproximateDp(promised(one_added_or_removed(laws), delta), delta)
    table = bounds(promise, 0.3, 1.0, RATES, "add_remove", "independent")

    for record in range(RECORDS):
        assert exceeded(table, truth(*coins(laws, record, rng.random(RECORDS)), 0.3, 1.0)) == []


@each_case("prior", [0.3, 0.5])
@each_case("seed", range(6))
def test_no_attack_on_iid_records_beats_what_they_allow(seed, prior):
    """MACE's and MIS's game, gone through: three letters, two draws, a mechanism on multisets, a fresh nonmember."""
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.ones(3))
    some = rng.dirichlet(np.full(4, 0.5 + seed % 3), (3, 3)) + 0.02
    pairs = {(a, b): some[min(a, b), max(a, b)] for a in range(3) for b in range(3)}
    laws = {pair: each / each.sum() for pair, each in pairs.items()}
    epsilon = promised(((laws[a, b], laws[c, b]) for a in range(3) for b in range(3) for c in range(3)), 0.0)
    # given that the record is a
    inside = np.array([sum(p[b] * laws[a, b] for b in range(3)) for a in range(3)])
    out = p @ inside

    table = bounds(ApproximateDp(epsilon), prior, 3.0)
    found = {b.quantity: b.value for b in table if b.name in ("iid", "envelope")}

    success = p @ np.maximum(prior * inside, (1 - prior) * out).sum(axis=1)
    weighted = p @ np.maximum(3 * prior * inside, (1 - prior) * out).sum(axis=1)
    gained = (weighted - max(3 * prior, 1 - prior)) / min(3 * prior, 1 - prior)
    assert 2 * success - 1 <= found["advantage_iid"] + 1e-12 <= found["advantage"] + 2e-12
    assert gained <= found["mis_delta_iid"] + 1e-12 <= found["mis_delta"] + 2e-12


@each_case("epsilon", [0.2, 1.0, 3.0])
def test_an_add_remove_epsilon_taken_for_one_about_replacing_is_exceeded(epsilon):
    """One record of two, three outcomes: A({x}), A({}), A({y}) are neighbours in a row."""
    s, k = 1.0 / (np.exp(epsilon) + 1.0), np.exp(epsilon)
    rest = 1.0 - s * (k + 1.0 / k)
    with_x, with_y = np.array([s * k, s / k, rest]), np.array([s / k, s * k, rest])
    empty = np.array([s, s, 1.0 - 2.0 * s])
    pairs = [(with_x, empty), (empty, with_x), (with_y, empty), (empty, with_y)]
    assert promised(pairs, 0.0) <= epsilon + 1e-12

    advantage = 0.5 * np.abs(with_x - with_y).sum()

    told = [bounds(ApproximateDp(epsilon), adjacency=each) for each in ("replace", "add_remove")]
    taken_for, right = ({b.name: b.value for b in of if b.quantity == "advantage"} for of in told)
    assert advantage > taken_for["envelope"] + 0.01
    assert advantage == pytest.approx(right["envelope"], abs=1e-12)  # 1 - e^-epsilon: attained
    assert right["envelope"] < right["epsilon_delta"]  # the usual group argument, tanh(epsilon)


def test_a_promise_about_replacing_says_nothing_of_a_number_that_varies():
    """To print how many records there are is 0-DP under replacement, and tells the last one's coin."""
    with pytest.raises(OptionError, match="training sets of one size") as caught:
        bounds(ApproximateDp(0.0), adjacency="replace", inclusion="independent")

    assert caught.value.field == "adjacency"
