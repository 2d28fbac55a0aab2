"""The hostile worlds: truths against other calculations, draws against the laws, formulas of peers, and a liar."""

import subprocess
import sys
from collections.abc import Callable
from itertools import product
from math import log, pi
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.stats import binomtest, norm

from benchmarks.__main__ import main
from benchmarks.hostile.judge import Broken, Judgement, adapter, judge
from benchmarks.hostile.question import Column, Covers, NotAsked, Question
from benchmarks.hostile.tools import privacyguard, published, tfprivacy
from benchmarks.hostile.tools.roc import above
from benchmarks.hostile.worlds import WORLDS, Laws, World
from tests.cases import each_case

LIAR = "tests.benchmarks.liar"


def place(name: str, size: int | None = None) -> int:
    """Where the first world with this name, and so many members, stands."""
    return next(i for i, world in enumerate(WORLDS) if world.name == name and size in (None, world.sizes[0]))


def of_shift(by: float, prior: float) -> float:
    """The advantage of the best threshold between two normal laws of spread 1."""
    cut = by / 2 + log((1 - prior) / prior) / by
    return float(2 * (prior * norm.sf(cut - by) + (1 - prior) * norm.cdf(cut)) - 1)


@each_case(
    "name, by, prior",
    ("shift 0.5", 0.5, 0.5),
    ("shift 0.2", 0.2, 0.5),
    ("shift 1, prior 0.1", 1.0, 0.1),
    ("shift 1, prior 0.9", 1.0, 0.9),
    ("shift 3, prior 0.01", 3.0, 0.01),
    ("shift 3, prior 0.99", 3.0, 0.99),
    ("total leak", 20.0, 0.5),
    ("shift 0.25, asked 30 times", 0.25, 0.5),
)
def test_shifts_have_the_closed_form(name: str, by: float, prior: float) -> None:
    world = WORLDS[place(name)]
    truth = of_shift(by, prior)

    assert world.truth == pytest.approx(truth, abs=1e-7)
    assert world.laws.covered(prior, Covers.MEMBERS_ABOVE, None) == pytest.approx(truth, abs=2e-4)


def test_other_truths_by_other_means() -> None:
    spread = 1.5
    root = brentq(lambda x: norm.pdf(x, 0, spread) - norm.pdf(x), 0.5, 3)
    inner = quad(lambda x: norm.pdf(x) - norm.pdf(x, 0, spread), -root, root)[0]
    integers = np.arange(-30, 31)
    masses = [norm.cdf(integers + 0.5 - mean) - norm.cdf(integers - 0.5 - mean) for mean in (1, 0)]

    truths = {
        "members spread wider": pytest.approx(inner, abs=1e-7),
        "2% are memorised": pytest.approx(0.02, abs=1e-6),
        "shift 1, ties": pytest.approx(np.abs(masses[0] - masses[1]).sum() / 2, abs=1e-9),
        "shift 0.5, half the scores are 0": pytest.approx(of_shift(0.5, 0.5) / 2, abs=1e-6),
        "members have a hole": pytest.approx(0.3),
        "product of 2 signs": pytest.approx(0.2),
    }
    assert {name: WORLDS[place(name)].truth for name in truths} == truths
    assert WORLDS[place("product of 3 signs among 8")].epsilon == pytest.approx(log(1.3 / 0.7))


@each_case("name, periods", [("density crosses 5 times", 3), ("density crosses 19 times", 10)])
def test_waves_have_the_closed_form(name: str, periods: int) -> None:
    """|0.6 sin| / 2 has the mean 0.6 / pi, of which one cut, or one interval, takes a period's part."""
    world = WORLDS[place(name)]

    assert world.truth == pytest.approx(0.6 / pi, rel=1e-4)
    for covers in (Covers.ONE_CUT, Covers.TWO_CHANGES):
        assert world.laws.covered(0.5, covers, None) == pytest.approx(0.6 / pi / periods, rel=1e-4)
    assert world.epsilon == pytest.approx(log(1 / 0.4))


@pytest.mark.slow
@each_case("prior", [0.2, 0.5])
def test_few_changes_by_every_rule_there_is(prior: float) -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        laws = Laws(np.arange(9.0), rng.dirichlet(np.ones(9)), rng.dirichlet(np.ones(9)))
        gain = prior * laws.members - (1 - prior) * laws.nonmembers
        best: dict[Covers, float] = dict.fromkeys(Covers, -1.0)
        for guesses in product([-1, 1], repeat=9):
            changes = np.count_nonzero(np.diff(guesses))
            allowed = {
                Covers.ANY: True,
                Covers.TWO_CHANGES: changes <= 2,
                Covers.ONE_CUT: changes <= 1,
                Covers.MEMBERS_ABOVE: changes <= 1 and guesses[0] <= guesses[-1],
            }
            for covers, may in allowed.items():
                best[covers] = max(best[covers], float(np.dot(guesses, gain)) if may else -1.0)
        for covers in allowed:
            assert laws.covered(prior, covers, None) == pytest.approx(best[covers])


def test_cells_of_a_tool_are_part_of_what_it_covers() -> None:
    laws = Laws(np.arange(6.0), np.array([3, 0, 3, 0, 3, 1]) / 10, np.array([0, 3, 0, 3, 1, 3]) / 10)

    def cell_of(points: Column) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        return np.array([0, 1, 0, 1, 0, -1])

    alone = laws.covered(0.5, Covers.TWO_CHANGES, None)
    assert alone is not None
    assert alone < 0.8
    assert laws.covered(0.5, Covers.TWO_CHANGES, cell_of) == pytest.approx(0.8)


@pytest.mark.slow
@each_case("at", range(len(WORLDS)))
def test_the_best_rule_has_the_truth_on_what_is_drawn(at: int) -> None:
    """Mean over runs of the law's own best rule, whose spread is that between runs: draws are of these laws."""
    world, rng = WORLDS[at], np.random.default_rng(at)
    runs, is_member = 200 if world.sizes[0] <= 200 else 60 if world.sizes[0] <= 2000 else 10, best_rule(world)
    questions = (world.question(rng) for _ in range(runs))
    rates = [(is_member(each.members).mean(), 1.0 - is_member(each.nonmembers).mean()) for each in questions]
    values = 2.0 * np.array(rates) @ [world.prior, 1.0 - world.prior] - 1.0

    error = np.std(values) / np.sqrt(runs)
    assert abs(np.mean(values) - world.truth) <= 5.0 * error + 1e-9
    assert error < 0.04


def best_rule(world: World) -> Callable[[Column], np.ndarray[tuple[int], np.dtype[np.bool_]]]:
    """Which records of a side the law's own best rule calls members."""
    laws = world.laws
    if laws.points is None:
        return lambda side: np.sign(side)[:, : int(world.name.split()[2])].prod(axis=1) > 0
    gain = world.prior * laws.members - (1.0 - world.prior) * laws.nonmembers
    if laws.points.dtype.kind != "f":
        gains = dict(zip(laws.points, gain >= 0.0, strict=True))
        return lambda side: np.array([gains[name] for name in side])
    middles = (laws.points[1:] + laws.points[:-1]) / 2.0
    return lambda side: gain[np.searchsorted(middles, side)] >= 0.0


@pytest.mark.slow
def test_peers_formulas_give_their_own_numbers() -> None:
    """Bailey's: the docstring of `RatioBound` in TensorFlow Privacy; Clopper's and Pearson's: SciPy's interval."""
    limits = tfprivacy.bailey(np.array([100, 90]), np.array([10, 5]), 110, 80)

    assert limits == pytest.approx([4.61953896, 6.87647915])
    members, nonmembers = np.arange(40.0) + 25.0, np.arange(40.0)
    ratios = []
    for cut in np.unique(np.concatenate([members[:20], nonmembers[:20]])):
        fp, fn = int((nonmembers[:20] >= cut).sum()), int((members[:20] < cut).sum())
        highs = [binomtest(each, 20).proportion_ci(0.95).high for each in (fp, fn)]
        ratios += [(1 - highs[1]) / (highs[0] + 1e-30), (1 - highs[0]) / (highs[1] + 1e-30)]
    epsilon = privacyguard.ask(Question(members, nonmembers, 0.5)).epsilon
    assert epsilon == pytest.approx(log(max(ratios)))


def test_rates_of_every_threshold() -> None:
    tp, fp = above(np.array([3.0, 1.0, 3.0]), np.array([1.0, 2.0]))

    assert (tp.tolist(), fp.tolist()) == ([0, 2, 2, 3], [0, 0, 1, 2])


def test_a_tool_that_is_wrong_is_told_so() -> None:
    judged, separated = (judge(LIAR, place(*of), 1.0) for of in (("no leak", 1000), ("total leak", 500)))

    assert isinstance(judged, Judgement)
    assert isinstance(separated, Judgement)
    assert (judged.lower, judged.upper, judged.epsilon, judged.says_leak) == (30, 0, 30, 30)
    assert judged.beyond == (True, False, False, True)
    assert separated.beyond == (False, True, True, False)
    assert judge(LIAR, place("1,000 names, rare ones tilted"), 1.0) == "one number a record"


@pytest.mark.slow
@each_case(
    "name", "no leak, half the scores are 0", "shift 3, prior 0.01", "2% are memorised", "shift 0.25, asked 30 times"
)
def test_mace_is_not(name: str) -> None:
    judged = judge("mace", place(name), 0.02)

    assert isinstance(judged, Judgement)
    assert judged.beyond == (False, False, False, False)


def test_a_tool_says_what_it_has_no_answer_to() -> None:
    with pytest.raises(NotAsked, match="one score"):
        published.ask(Question(np.zeros((20, 2)), np.ones((20, 2)), 0.5))


@pytest.mark.slow
def test_from_the_shell() -> None:
    """A tool of one's own beside mace; what is not installed is named."""
    words = f"-m benchmarks run hostile --tools mace,{LIAR} --runs 0.02 --jobs 1".split()
    command = [sys.executable, *words, "--worlds", "total leak"]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)

    rows = [line for line in ran.stdout.splitlines() if line.startswith("| total leak")]
    assert len(rows) == 4
    assert all("[0.600, 0.610] below 100%!" in row for row in rows)
    assert "| liar | 4 of 4 |" in ran.stdout
    assert "| mace | 4 of 4 | 0 of 4 | 0 of 4 |" in ran.stdout


def test_an_adapter_that_is_none_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bodies = {
        "raising": ("def ask(question): raise ValueError('boom')", "ValueError: boom"),
        "silent": ("def ask(question): return None", "it said None"),
        "nan": ("def ask(question): return Statement(float('nan'))", "its estimate is NaN"),
        "without": ("", "an adapter needs ask"),
    }
    monkeypatch.syspath_prepend(str(tmp_path))
    for name, (body, words) in bodies.items():
        text = f"from benchmarks.hostile.question import Statement\nNAME, RUNS = {name!r}, 2\n{body}\n"
        (tmp_path / f"adapter_{name}.py").write_text(text)

        where = "of 'no leak', run 0" if body else ""
        with pytest.raises(Broken, match=f"adapter_{name} ?{where}: {words}"):
            judge(f"adapter_{name}", place("no leak", 8), 1.0) if body else adapter(f"adapter_{name}")
    with pytest.raises(Broken, match="No module named 'nosuch'"):
        adapter("nosuch")


@pytest.mark.slow
@each_case("options, words", [("--worlds nowhere", "none is called so"), ("--runs 0", "a share above 0")])
def test_what_cannot_be_asked_for_is_told_before_anything_runs(
    options: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["run", "hostile", "--tools", "mace", *options.split()])

    assert words in capsys.readouterr().err
