"""`mace shadows`: from an archive of signals to scores, a line for each query, and one verdict over all."""

import csv
import io
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from estimators.audits.model import shadow_scores
from estimators.audits.queries import shadows
from estimators.decisions.riskiest import compare_queries
from estimators.sample.scores import Query, Scores
from tests.app.cli.files import answer, refused, signals, typed
from tests.cases import each_case

QUERIES = ["lira_online", "lira_offline", "rmia", "calibrated_loss"]


def arrays() -> dict[str, Any]:
    with np.load(io.BytesIO(signals())) as file:
        return {name: file[name] for name in file.files}


def printed(line: str, status: int = 0) -> str:
    done = typed(f"shadows {line}")
    assert (done.status, done.err) == (status, "")
    return done.out


def ranked(line: str) -> dict[str, float]:
    """Every query that was asked, the riskiest first, and its advantage."""
    return {each["name"]: each["advantage"]["estimate"] for each in answer(f"shadows {line}")["ranking"]}


def test_scores_are_those_of_the_library_in_every_form(folder: Path) -> None:
    given = arrays()
    own, theirs = (0.0 - np.logaddexp(0.0, -given[name]) for name in ("target", "signals"))
    expected = {
        "lira_online": shadows.lira_online(given["target"], given["signals"], given["membership"]),
        "lira_offline": shadows.lira_offline(given["target"], given["signals"], given["membership"]),
        "rmia": shadows.rmia(own, theirs, given["membership"], online=True),
        "calibrated_loss": shadows.calibrated_loss(own, theirs, given["membership"]),
    }
    for name in ("out.csv", "out.jsonl", "out.parquet", "out.npz"):
        assert typed(f"shadows signals.npz --scale logit -o {name} -q").status == 0

    with Path("out.csv").open(newline="") as file:
        rows = [*csv.DictReader(file)]
    assert [*rows[0]] == ["group", "member", *QUERIES]
    lines = [json.loads(line) for line in Path("out.jsonl").read_text().splitlines()]
    table = pq.read_table("out.parquet")
    with np.load("out.npz") as archive:
        for name, scores in expected.items():
            assert [float(row[name]) for row in rows] == scores.tolist()
            assert [line[name] for line in lines] == scores.tolist()
            assert table[name].to_pylist() == scores.tolist() == archive[name].tolist()
    assert [line["member"] for line in lines] == given["member"].tolist()
    assert [line["group"] for line in lines] == given["group"].tolist()


def test_each_query_has_a_line_and_all_intervals_hold_together(folder: Path) -> None:
    given = arrays()
    member = given["member"]
    scores, _ = shadow_scores(given["target"], given["signals"], given["membership"], scale="logit")
    queries = {name: Scores.of(each[member], each[~member], Query.CONTINUOUS) for name, each in scores.items()}

    out = printed("signals.npz --scale logit --max-advantage 0.1", status=1)

    comparison = compare_queries(queries)
    assert comparison.sentence in out
    for each in comparison.ranking:
        assert re.search(rf"^{each.name} +{each.advantage.estimate.value:.3f}  ", out, re.MULTILINE)
    assert "\nFail: " in out
    assert "\nnot asked: quantile_regression: needs features, " in out


@pytest.mark.slow
@each_case("suffix", ["csv", "npz"])
def test_the_table_is_read_by_the_questions(folder: Path, suffix: str) -> None:
    done = typed(f"shadows signals.npz --scale logit -o out.{suffix}")

    assert (done.status, done.out) == (0, "")
    assert done.err == f"240 records scored by {', '.join(QUERIES)}; higher is more like a member.\n"
    first = next(iter(ranked("signals.npz --scale logit")))
    assert answer(f"report out.{suffix} --score {first} --group group")["result"]["advantage"]["lower"] > 0
    assert typed(f"compare out.{suffix} --score {','.join(QUERIES)}").status == 0


def test_what_a_scale_is_decides_what_is_asked(folder: Path) -> None:
    given = arrays()
    logs = {name: 0.0 - np.logaddexp(0.0, -given[name]) for name in ("target", "signals")}
    np.savez("logs.npz", **{**given, **logs})
    np.savez("shares.npz", **{**given, **{name: np.exp(each) for name, each in logs.items()}})

    plain = printed("signals.npz")
    for name, scale in (("signals", "logit"), ("logs", "log")):
        assert typed(f"shadows {name}.npz --scale {scale} -o {name}.jsonl -q").status == 0

    assert "not asked: rmia: needs probabilities; say scale logit or log" in plain
    texts = (Path(f"{name}.jsonl").read_text() for name in ("signals", "logs"))
    a, b = ([json.loads(x) for x in text.splitlines()] for text in texts)
    for query in QUERIES:
        assert np.allclose([row[query] for row in a], [row[query] for row in b], rtol=1e-6, atol=1e-9)
    assert "record" in refused("shadows signals.npz --scale log")
    assert "as probabilities p do; for scale logit give" in refused("shadows shares.npz --scale logit")


def test_quantile_regression_is_asked_where_its_arrays_are(folder: Path) -> None:
    rng = np.random.default_rng(0)
    given = arrays()
    more = {
        "features": rng.normal(size=(240, 2)),
        "calibration_features": rng.normal(size=(50, 2)),
        "calibration_signal": rng.normal(size=50),
    }
    np.savez("more.npz", **given, **more)
    np.savez("less.npz", **given, features=more["features"])

    assert typed("shadows more.npz -o out.jsonl -q").status == 0

    rows = [json.loads(line) for line in Path("out.jsonl").read_text().splitlines()]
    expected = shadows.quantile_regression(
        more["features"], given["target"], more["calibration_features"], more["calibration_signal"]
    )
    assert [row["quantile_regression"] for row in rows] == expected.tolist()
    assert "calibration_features: is missing; features, calibration_features" in refused("shadows less.npz")


def test_shadows_of_one_side_are_worth_a_word(folder: Path) -> None:
    given = arrays()
    np.savez("aside.npz", **{**given, "membership": given["membership"] & ~given["member"]})
    del given["membership"]
    np.savez("none.npz", **given)

    aside = printed("aside.npz --scale logit")

    assert "note: members are in 0% of the shadows and nonmembers in 50%: shadows that are not drawn from both" in aside
    assert "lira_online: needs several shadows" in aside
    assert "note: members are in" not in printed("none.npz --scale logit")


@pytest.mark.slow
def test_records_without_their_shadows_are_left_out_and_counted(folder: Path) -> None:
    """Every shadow on its own random half: of 8 shadows a record in 128 lacks those with it, or those without."""
    rng = np.random.default_rng(8)
    membership = rng.random((8, 1000)) < 0.5
    member, hard = np.arange(1000) < 500, rng.normal(0, 2, 1000)
    signals = hard + membership + rng.normal(0, 0.5, (8, 1000))
    target = hard + member + rng.normal(0, 0.5, 1000)
    given = {"target": target, "signals": signals, "membership": membership, "member": member}
    calibration = {"calibration_features": np.ones((30, 2)), "calibration_signal": np.ones(30)}
    np.savez("own.npz", **given, id=np.arange(1000), features=np.ones((1000, 2)), **calibration)
    lacking = [k for k in range(1000) if membership[:, k].sum() in (0, 8)]
    assert len(lacking) == 5

    out = printed("own.npz --scale logit")
    assert "\nnote: 5 of 1,000 records left out" in typed("shadows own.npz --scale logit -o own.csv").err
    assert "\nnote: 5 of 1,000 records left out: no shadow was trained on them, or every one was" in out
    assert "\nlira_online " in out
    with open("own.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [int(row["id"]) for row in rows] == [k for k in range(1000) if k not in lacking]
    kept = np.delete(np.arange(1000), lacking)
    expected, _ = shadow_scores(target[kept], signals[:, kept], membership[:, kept], scale="logit")
    assert [float(row["lira_online"]) for row in rows] == pytest.approx(expected["lira_online"])


def test_too_few_records_with_their_shadows_are_refused(folder: Path) -> None:
    given = arrays()
    every = given["membership"] | (np.arange(240) < 140)
    np.savez("every.npz", **{**given, "membership": every})

    error = refused("shadows every.npz")

    of = int(given["member"].sum())
    left = int((given["member"] & (np.arange(240) >= 140)).sum())
    assert f"every.npz: membership: {left} of {of} members have a shadow that was trained without them, need" in error


def test_two_queries_of_one_order_are_asked_once(folder: Path) -> None:
    """As they come, LiRA by one deviation for all records is calibrated loss on another scale."""
    out = printed("signals.npz")
    typed("shadows signals.npz -o out.csv")

    assert "\nnot asked: calibrated_loss: orders records as lira_offline does\n" in out
    assert set(re.findall(r"^(\w+) +\d\.\d{3}  ", out, re.MULTILINE)) == {"lira_online", "lira_offline"}
    with open("out.csv", newline="") as file:
        assert "calibrated_loss" in next(csv.reader(file))  # its scores are written all the same


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "no target": ({"target": None}, "target: is required and missing"),
    "turned": ({"signals": np.ones((240, 16))}, "signals: "),
    "a membership of numbers": ({"membership": np.full((16, 240), 2)}, "membership: need True or False"),
    "members in words": ({"member": np.full(240, "in")}, "member: got text, need booleans or numbers"),
    "members of three kinds": ({"member": np.arange(240) % 3}, "member: need true or false (1 or 0)"),
    "too few members": ({"member": np.ones(239, bool)}, "member: need one for each record of target"),
    "NaN": ({"target": np.full(240, np.nan)}, "target: "),
    "objects": ({"target": np.array([None] * 240, dtype=object)}, "mace never opens one"),
    "groups of bytes": ({"group": np.full(240, b"x")}, "group: a column of this type cannot be used"),
    "one side": ({"member": np.ones(240, bool)}, "got 0, need at least 8"),
}


@each_case("changes, said", WRONG.values())
def test_what_is_wrong_is_said(folder: Path, changes: dict[str, Any], said: str) -> None:
    given = {key: value for key, value in {**arrays(), **changes}.items() if value is not None}
    np.savez("wrong.npz", **given)

    error = refused("shadows wrong.npz -o out.csv --max-advantage 0.5")

    assert error.startswith("mace shadows: wrong.npz: ")
    assert said in error
    assert not Path("out.csv").exists()
