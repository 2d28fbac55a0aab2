"""The example for Spark: its program, in the session that the tests have."""

from __future__ import annotations

import runpy
from typing import TYPE_CHECKING

import pytest

import macekit
from tests.examples.scripts import EXAMPLES, ran

if TYPE_CHECKING:
    pass


@pytest.mark.slow
def test_the_example_answers_what_one_file_does_and_ends_its_session(spark, tmp_path, monkeypatch) -> None:
    ended: list[bool] = []
    monkeypatch.setattr(spark, "stop", lambda: ended.append(True))
    write = runpy.run_path(str(EXAMPLES / "engines" / "records.py"))["write"]
    counts = macekit.counts(write(tmp_path), score="loss", member="is_train")["counts"]

    printed = ran("engines/with_spark.py").out

    assert macekit.estimate(counts=counts).sentence in printed
    assert "of 100000 records are flagged" in printed.splitlines()[-1]
    assert ended == [True]
