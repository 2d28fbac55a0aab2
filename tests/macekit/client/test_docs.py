"""docs/python.md keeps its word: its code runs as it stands, in its order."""

import re
from pathlib import Path
from typing import Any

import mlflow
import numpy as np
import pandas as pd
import pytest

import macekit
from macekit.catalogue import BY_NAME
from macekit.client.keywords import OPTIONS
from tests.app.running import Running
from tests.macekit.asking import quickly

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The files the page speaks of, in the folder it is run in."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    return tmp_path


def swaps(rng: np.random.Generator) -> dict[str, Any]:
    """Parameters of two numbers before and after one of four records was swapped."""
    before = rng.normal(size=(400, 2))
    after = before + 0.01 * rng.normal(size=(400, 2))
    columns = {"b0": before[:, 0], "b1": before[:, 1], "a0": after[:, 0], "a1": after[:, 1]}
    return {**columns, "who": np.arange(400) % 4}


def names() -> dict[str, Any]:
    rng = np.random.default_rng(0)
    members, nonmembers = rng.normal(0.5, size=1000), rng.normal(size=1000)
    scores = np.concatenate([members, nonmembers])
    return {
        "members": members,
        "nonmembers": nonmembers,
        "members_2": rng.normal(0.3, size=700),
        "nonmembers_2": rng.normal(size=700),
        "member_groups": ["a", "b"] * 500,
        "nonmember_groups": ["a", "b"] * 500,
        "member_households": np.arange(1000) // 2,
        "nonmember_households": np.arange(500, 1500) // 2 + 500,
        "draws": rng.normal(size=(200, 2)),
        "swaps": pd.DataFrame(swaps(rng)),
        "frame": pd.DataFrame(
            {
                "loss": scores, "margin": rng.normal(size=2000), "is_train": np.arange(2000) < 1000,
                "age_band": ["18-30", "31+"] * 1000, "household": np.arange(2000) // 2,
            }
        ),
    }  # fmt: skip


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ImportWarning")  # of MLflow's own hooks
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.filterwarnings("ignore:.*type hint:UserWarning")
def test_the_pages_code_runs_as_it_stands(folder: Path, service: Running) -> None:
    known = names()
    np.save(folder / "train.npy", known["members"])
    np.save(folder / "test.npy", known["nonmembers"])
    np.save(folder / "points.npy", known["draws"])
    score, member = known["frame"]["loss"], known["frame"]["is_train"]
    pd.DataFrame({"score": score, "member": member.astype(int)}).to_csv(folder / "scores.csv", index=False)
    for part in ("run-6/a", "run-7/a", "run-7/b"):
        (folder / part).parent.mkdir(exist_ok=True)
        known["frame"].to_parquet(folder / f"{part}.parquet")
    for part in ("counts-1", "counts-2"):
        macekit.counts(known["members"], known["nonmembers"]).to_json(folder / f"{part}.json")
    before = mlflow.get_tracking_uri()
    mlflow.set_tracking_uri((folder / "mlruns").as_uri())

    with quickly():
        for block in BLOCKS:
            exec(block.replace("127.0.0.1:8000", f"127.0.0.1:{service.port}"), known)

    mlflow.set_tracking_uri(before)
    written = {"answer.json", "report.html", "section.md", "numbers.csv", "roc.svg", "roc.png"}
    assert written <= {path.name for path in folder.iterdir()}
    assert isinstance(known["result"], macekit.Result)
    assert known["answer"].verdict is not None
    assert (known["merged"].n_members, known["merged"].n_nonmembers) == (1000, 1000)


def test_the_reference_that_it_leads_to_has_every_function() -> None:
    for operation in OPTIONS:
        name, _, of_theory = BY_NAME[operation].python.partition(".")
        assert name in macekit.__all__
        assert not of_theory or callable(getattr(macekit.theory, of_theory))


def test_every_page_it_names_is_there() -> None:
    named = set(re.findall(r"\]\(([^)#:]+)\)", PAGE))

    assert {name for name in named if not (ROOT / "docs" / name).exists()} == set()
