from itertools import chain, combinations
from math import sqrt

import mpmath as mp
import numpy as np
import pytest

from estimators.errors import DimensionMismatch, NotDistribution, NotFinite, OutOfRange, TooFewRecords
from estimators.theory.bounds import accuracy, gamma_of, guess_accuracy
from estimators.theory.mis.binomials import excess
from estimators.theory.mis.security import (
    bracket,
    c_k,
    divergence,
    records_needed,
    security_at,
    simple_delta,
    simple_records,
    worst_delta,
)
from tests.cases import each_case, refusals
from tests.estimators.theory.mis import worlds

SHARES = [(0.5, 1.0), (0.3, 1.0), (0.7, 1.0), (0.5, 3.0), (0.6, 0.4)]
WORLDS = [np.array(law) for law in ([0.5, 0.3, 0.2], [0.9, 0.07, 0.03], [1 / 3, 1 / 3, 1 / 3], [0.01, 0.99])]


@pytest.mark.slow
@each_case("nu, weight", SHARES)
@each_case("p", WORLDS)
@each_case("n", [1, 2, 4, 6])
def test_theorem_14_is_the_security_of_handing_out_the_training_set(p, n, nu, weight):
    security = 1.0 - worst_delta(p, n, gamma_of(nu, weight))

    assert security == pytest.approx(worlds.security(p, n, worlds.release, nu, weight), abs=1e-12)
    assert security == pytest.approx(worlds.security(p, n, worlds.empirical, nu, weight), abs=1e-12)


@each_case("nu, weight", SHARES)
def test_no_algorithm_is_worse_not_even_one_that_looks_at_the_order_or_tosses_coins(nu, weight):
    rng = np.random.default_rng(5)
    p, n = np.array([0.5, 0.3, 0.2]), 4
    for outcomes in (2, 5, 40):
        table: dict[tuple[int, ...], np.ndarray] = {}

        def algorithm(data, table=table, outcomes=outcomes):
            law = table.setdefault(data, rng.dirichlet(np.full(outcomes, 0.1)))
            return dict(enumerate(law))

        assert worlds.security(p, n, algorithm, nu, weight) >= 1.0 - worst_delta(p, n, gamma_of(nu, weight)) - 1e-12


@pytest.mark.slow
@each_case("n", [1, 3, 40, 400])
def test_it_is_equation_17_as_printed_at_fifty_digits(n):
    p = np.array([1e-12, 1e-6, 0.001, 0.1, 0.2, 0.698998999999])
    p = p / p.sum()
    with mp.workdps(50):
        every = [(mp.mpf(float(each)), b) for each in p for b in range(n + 1)]
        weights = [mp.binomial(n, b) * q**b * (1 - q) ** (n - b) for q, b in every]
        for g in map(mp.mpf, (0.3, 0.9, 1.0, 1.1, 4.0)):
            total = sum(w * abs(mp.mpf(b) / n - g * q) for w, (q, b) in zip(weights, every, strict=True))
            delta = max(1, g) * (total / (2 * g) - abs(1 - 1 / g) / 2)

            assert worst_delta(p, n, float(g)) == pytest.approx(float(delta), abs=1e-12)


@each_case("n", [10, 10**4, 10**6, 10**9])
@each_case("p", [1e-12, 1e-9, 1e-6, 0.01, 0.3, 0.5, 0.999, 1.0 - 1e-9])
def test_terms_are_exact_up_to_a_billion_records_and_down_to_the_rarest_category(n, p):
    with mp.workdps(60):  # De Moivre's identity (Lemma 31)
        q, size = mp.mpf(p), mp.mpf(n)
        m = int(mp.floor(size * q))
        ways = mp.loggamma(size + 1) - mp.loggamma(m + 1) - mp.loggamma(size - m)
        log_term = ways + (m + 1) * mp.log(q) + (size - m) * mp.log(1 - q)
        exact = float(mp.exp(log_term) / size)

    assert excess(np.array([p]), n)[0] == pytest.approx(exact, rel=2e-12, abs=1e-300)


@pytest.mark.slow
@each_case("gamma", [0.99, 1.01])
def test_terms_away_from_gamma_1_are_exact_at_many_records(gamma):
    n, p = 200_000, 0.003
    with mp.workdps(40):
        q, cut = mp.mpf(p), mp.mpf(gamma) * n * mp.mpf(p)
        law = [mp.binomial(n, b) * q**b * (1 - q) ** (n - b) for b in range(1200)]
        below = mp.fsum((cut - b) * w for b, w in enumerate(law) if b < cut)
        exact = (below + n * q - cut if gamma > 1 else below / mp.mpf(gamma)) / n

    assert excess(np.array([p]), n, gamma)[0] == pytest.approx(float(exact), rel=1e-9)


@each_case("p", WORLDS)
@each_case("n", [1, 5, 37, 1000])
def test_gamma_1_is_the_worst_share_of_nonmembers(p, n):
    around = [worst_delta(p, n, gamma) for gamma in (0.01, 0.5, 0.99, 1.0, 1.01, 3.0, 100.0)]

    assert max(around) == around[3]


@pytest.mark.slow
@each_case("gamma", [0.7, 1.0, 1.6])
def test_more_records_never_give_more_away(gamma):
    p = np.random.default_rng(7).dirichlet(np.ones(12))
    assert np.all(np.diff([worst_delta(p, n, gamma) for n in range(1, 400)]) <= 1e-15)


def test_the_simple_bound_and_the_bracket_of_corollary_15_hold_it(rng):
    for size in (2, 5, 30):
        p = rng.dirichlet(np.ones(size) * 3.0)
        for n in (5, 50, 500, 50_000):
            low, high = bracket(p, n)
            delta = worst_delta(p, n)

            assert low <= delta <= high + 1e-15
            assert delta <= simple_delta(c_k(p), n)


def test_table_1_is_the_simple_bound_and_three_of_its_nine_cells_are_rounded_below_it():
    printed = {1000: (0.07, 0.11, 0.15), 5000: (0.03, 0.05, 0.07), 10000: (0.02, 0.03, 0.05)}

    for n, row in printed.items():
        assert [round(simple_delta(c, n), 2) for c in (4.3, 6.74, 9.2)] == list(row)
    rows = ((n, c, said) for n, row in printed.items() for c, said in zip((4.3, 6.74, 9.2), row, strict=True))
    too_low = [(n, c) for n, c, said in rows if said < simple_delta(c, n)]
    assert too_low == [(5000, 4.3), (10000, 4.3), (10000, 6.74)]


@each_case("gamma", [1.0, 0.6, 1.5])
def test_records_needed_is_the_least_number_that_suffices(gamma):
    p = np.random.default_rng(9).dirichlet(np.ones(20))
    for wanted in (0.3, 0.05, 0.004):
        n = int(records_needed(p, wanted, gamma))

        assert worst_delta(p, n, gamma) <= wanted
        assert n == 1 or worst_delta(p, n - 1, gamma) > wanted
        assert n <= simple_records(c_k(p), wanted)


test_bad_input_is_refused = refusals(
    "ask, error",
    (lambda: worst_delta([0.5, 0.6], 10), NotDistribution),
    *((lambda n=n: worst_delta([0.5, 0.5], n), OutOfRange) for n in (0, 2.5, 10**16)),
    *((lambda gamma=gamma: worst_delta([0.5, 0.5], 10, gamma), OutOfRange) for gamma in (0.0, -1.0, np.inf)),
    (lambda: records_needed([0.5, 0.5], 1.1), OutOfRange),
    (lambda: divergence([0.5, 0.5], [0.5, 0.4]), NotDistribution),
    (lambda: divergence([0.5, 0.5], [1.5, -0.5]), NotDistribution),
    (lambda: divergence([0.5, 0.5], [np.nan, 1.0]), NotFinite),
    (lambda: divergence([0.5, 0.5], []), TooFewRecords),
    (lambda: divergence([0.5, 0.5], [1.0]), DimensionMismatch),
    *((lambda bad=bad: gamma_of(bad), OutOfRange) for bad in (0.0, 1.0, np.nan)),
)


def test_the_ends_and_limits_of_delta_of_the_records_needed_and_of_gamma():
    p, even = np.array([0.5, 0.25, 0.25]), np.full(50, 0.02)

    assert [worst_delta([1.0, 0.0], 10, gamma) for gamma in (1.0, 0.5, 2.0)] == [0.0] * 3
    assert worst_delta(p, 10**9) == pytest.approx(c_k(p) / sqrt(2.0 * np.pi * 10**9), rel=1e-8)
    assert records_needed([0.5, 0.5], 1e-9) == simple_records(1.0, 1e-9) == float("inf")
    needed = records_needed(even, 0.01) / simple_records(c_k(even), 0.01)
    assert needed == pytest.approx(2.0 / np.pi, rel=0.01)
    # nu is the share of nonmembers, and lambda weighs true positives
    assert [gamma_of(0.8), gamma_of(0.8, 4.0)] == pytest.approx([4.0, 1.0])
    assert [guess_accuracy(0.8, 4.0), guess_accuracy(0.2, 4.0)] == pytest.approx([0.8, 3.2])


GAMMAS = (0.1, 0.5, 0.9, 1.0, 1.3, 2.0, 7.0)


def either(data):
    return {("largest", max(data)): 0.7, ("sum", sum(data)): 0.3}


def pairs(rng_seed: int = 0):
    rng = np.random.default_rng(rng_seed)
    spreads = [np.ones(5) * a for a in (0.2, 1.0, 5.0) for _ in range(4)]
    return [(rng.dirichlet(spread), rng.dirichlet(spread)) for spread in spreads]


@each_case("gamma", GAMMAS)
def test_the_divergence_is_equations_3_and_4_over_every_set_and_the_f_divergence_of_proposition_5(gamma):
    """It never exceeds total variation, so that the paper's factor max(1, gamma) is not needed."""
    for p, q in pairs():
        sets = chain.from_iterable(combinations(range(5), k) for k in range(6))
        raw = max(gamma * p[list(b)].sum() - q[list(b)].sum() for b in sets) / gamma
        paper = max(1.0, gamma) * (raw - max(1.0 - 1.0 / gamma, 0.0))
        f = 0.5 * max(1.0, gamma) * (np.abs(p - q / gamma) - q * abs(1.0 - 1.0 / gamma))

        assert divergence(p, q, gamma) == pytest.approx(paper, abs=1e-12)
        assert divergence(p, q, gamma) == pytest.approx(f.sum(), abs=1e-12)
        assert divergence(p, q, gamma) <= divergence(p, q) + 1e-12
        assert divergence(p, q) == pytest.approx(np.abs(p - q).sum() / 2.0)
    same = np.array([0.2, 0.8, 0.0])
    assert divergence(same, same, gamma) == 0.0
    assert divergence(same, [0.0, 0.0, 1.0], gamma) == pytest.approx(1.0)


@each_case("nu, weight", [(0.5, 1.0), (0.2, 1.0), (0.9, 3.0), (0.3, 0.5)])
def test_theorem_6_holds_for_the_best_of_all_attacks(nu, weight):
    p = np.array([0.5, 0.3, 0.2])
    nonmember, member = worlds.joint(p, 3, either)
    delta = divergence(list(nonmember.values()), [member[at] for at in nonmember], gamma_of(nu, weight))

    assert accuracy(delta, nu, weight) == pytest.approx(worlds.best_accuracy(nonmember, member, nu, weight))
    assert worlds.security(p, 3, either, nu, weight) == pytest.approx(1.0 - delta)


@each_case("gamma", GAMMAS)
@each_case("p, q", lambda: pairs(4))
def test_one_attack_leaves_at_least_the_security_there_is(p, q, gamma):
    say = np.array([True, False, True, True, False])

    assert security_at(q[say].sum(), p[say].sum(), gamma) >= 1.0 - divergence(p, q, gamma) - 1e-12
