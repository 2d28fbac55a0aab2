"""Every example runs as its first lines say, and shows what it says."""

import importlib.util
import runpy
from pathlib import Path

import pytest
from pyarrow import parquet
from sklearn.datasets import load_breast_cancer
from sklearn.utils import Bunch

import macekit
from examples import compare_tools
from tests.examples.scripts import EXAMPLES, ran, table_rows


@pytest.mark.slow
def test_without_leakage_the_published_interval_never_covers_and_the_certified_one_does() -> None:
    rows = [line.split() for line in ran("no_leakage.py", SAMPLES=20).out.splitlines()[3:]]

    assert len(rows) == 3
    for row in rows:
        assert row[1] == "0%"
        # P(Bin(20, 0.95) < 17) = 1.6% at the nominal level; it is above that
        assert int(row[4].rstrip("%")) >= 85


@pytest.mark.slow
def test_a_forest_fails_and_larger_leaves_give_less_away() -> None:
    printed = ran("sklearn_model.py").out

    assert printed.startswith("✕ FAIL\n\nRiskiest query, at least")
    assert "\nTraining rows                 898  and 899 others; the predictions are probabilities\n" in printed
    assert "\nFail: " in printed
    of_leaves, neighbour = printed.splitlines()[-5:-3], printed.splitlines()[-2]
    assert [line.split()[0] for line in of_leaves] == ["2", "20"]
    assert [" Fail: " in line for line in of_leaves] == [True, False]
    assert neighbour.startswith("One nearest neighbour: Pass: ")
    assert neighbour.endswith("which are weak here.")


@pytest.mark.slow
def test_a_network_is_audited_and_where_pytorch_is_not_another_stands_in_its_place() -> None:
    done = ran("torch_model.py")
    printed = done.out

    installed = importlib.util.find_spec("torch") is not None
    other = "PyTorch is not installed: a network of scikit-learn stands in its place\n"
    assert done.err == ("" if installed else other)
    assert printed.startswith("✕ FAIL\n\nRiskiest query, at least")
    assert "\nTraining rows                 599  and 599 others; the predictions are logits\n" in printed
    assert "\nBeside 8 shadows. Fail: " in printed
    ends = [line.split()[1::2] for line in printed.splitlines()[-2:]]
    assert all(0.0 <= float(lower) < float(upper) < 0.4 for lower, upper in ends)


@pytest.mark.slow
def test_a_language_model_of_long_contexts_remembers_more_than_one_of_single_words() -> None:
    sides = ran("language_model.py").out.split(" words of context, ")[1:]
    rows = [[line.split() for line in side.splitlines() if " to " in line] for side in sides]
    ends = [{name: (float(lower), float(upper)) for name, lower, _, upper in side} for side in rows]

    assert (
        ends[0].keys()
        == ends[1].keys()
        == {"text_loss", "mink", "zlib_ratio", "reference_ratio", "reference_difference"}
    )
    assert all(ends[0][name][0] > ends[1][name][1] for name in ends[0].keys() - {"reference_difference"})


@pytest.mark.slow
def test_more_rows_of_a_release_give_more_away_than_few_or_none_of_the_training_rows() -> None:
    sizes, releases = ran("releases.py").out.split("\n\n")
    rows = [line.split() for line in sizes.splitlines()[:-1]]
    decisions = [row[-1] for row in rows]

    assert [row[0] for row in rows] == ["10", "20", "50", "100", "200", "500", "1,000", "2,000"]
    assert decisions == sorted(decisions, key=["pass", "inconclusive", "fail"].index)
    assert (decisions[0], decisions[-1]) == ("pass", "fail")
    assert "against 'all rows' over a coin toss is at least 0.5" in releases
    assert [float(line.split()[-1]) < 0 for line in releases.splitlines()[1:]] == 3 * [True]


@pytest.mark.slow
def test_the_verdicts_beside_other_tools_are_those_of_the_page() -> None:
    page = (EXAMPLES / "compare_tools.md").read_text().partition("### mace\n\n")[2].partition("\n\n")[0]
    printed, written = map(table_rows, (ran("compare_tools.py").out, page))
    steady = [written[0].index(name) for name in ("synthesizer", "verdict", "fails by", "copies, hold-out's")]

    assert [[row[at] for at in steady] for row in printed] == [[row[at] for at in steady] for row in written]
    assert [row[1] for row in written[1:]] == ["pass", "pass", "fail", "fail", "fail", "fail"]


@pytest.mark.slow
def test_over_several_halves_each_synthesizer_has_its_row(monkeypatch: pytest.MonkeyPatch) -> None:
    some = {name: compare_tools.SYNTHESIZERS[name] for name in ("independent columns", "bootstrap")}
    monkeypatch.setattr(compare_tools, "SYNTHESIZERS", some)
    data = load_breast_cancer()
    few = Bunch(data=data.data[:, :6], target=data.target, feature_names=data.feature_names[:6])
    monkeypatch.setattr(compare_tools, "load_breast_cancer", lambda: few)
    rows = compare_tools.over_splits(2)

    assert rows.keys() == some.keys()
    assert (rows["bootstrap"]["verdicts"], rows["bootstrap"]["fails by"]) == ("fail 2", "advantage 2, copies 2")
    assert (rows["independent columns"]["fails by"], rows["independent columns"]["copies"]) == ("-", "0")
    low, high = (float(end) for end in rows["bootstrap"]["advantage"].split(" to "))
    assert 0.5 < low < high < 0.8


def test_the_halves_of_the_page_are_all_counted() -> None:
    page = (EXAMPLES / "compare_tools.md").read_text()
    number, rest = page.partition("### mace, ")[2].split(" random halves\n\n", 1)
    rows = table_rows(rest.partition("\n\n")[0])[1:]

    assert [row[0] for row in rows] == list(compare_tools.SYNTHESIZERS)
    for row in rows:
        assert sum(int(word.split()[-1]) for word in row[1].split(", ")) == int(number)
        assert sum(int(word.split()[-1]) for word in row[3].split(", ")) == int(number)


@pytest.fixture(scope="module")
def from_files(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """What the records of the engines' examples say, and the line of their last region, counted from files."""
    write = runpy.run_path(str(EXAMPLES / "engines" / "records.py"))["write"]
    folder = write(tmp_path_factory.mktemp("records"))
    columns = {"score": "loss", "member": "is_train"}
    last = macekit.compare(macekit.counts_by(folder, "region", **columns)).ranking[-1]
    # the true advantage of the south: two normals .1 apart, TV = 2 Phi(.05) - 1 = .0399
    assert (last.name, last.advantage.lower < 0.0399 < last.advantage.upper) == ("south", True)
    sentence = macekit.estimate(counts=macekit.counts(folder, **columns)["counts"]).sentence
    return sentence, f"south: {last.advantage.lower:.3f} to {last.advantage.upper:.3f}"


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["dask", "warehouse"])
def test_an_engine_answers_what_one_file_does(engine: str, from_files: tuple[str, str]) -> None:
    printed = ran(f"engines/with_{engine}.py").out
    sentence, of_south = from_files

    assert sentence in printed
    assert {"dask": of_south, "warehouse": "Pass: "}[engine] in printed.splitlines()[-1]


def test_ray_s_function_makes_parts_that_merge_to_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ray itself is no dependency of the tests: its batches are Arrow tables."""
    monkeypatch.syspath_prepend(str(EXAMPLES / "engines"))
    example = runpy.run_path(str(EXAMPLES / "engines" / "with_ray.py"), run_name="read")
    folder = example["write"](tmp_path, 8000)
    batches = [parquet.read_table(path) for path in sorted(tmp_path.iterdir())]

    merger = macekit.merged(map(example["counted"], batches))

    assert merger["counts"] == macekit.counts(folder, score="loss", member="is_train")["counts"]
