"""The reference is whole, true and up to date: every public name is explained, and every example runs as printed."""

from __future__ import annotations

import doctest
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import mlflow
import pytest
import reference

import estimators
import macekit
from tests.app.running import running

FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
NAMES = [name for group in reference.GROUPS for name in group.names]
OWNERS = [reference.entry(name) for name in NAMES]
ENTRIES = [each for owner in OWNERS for each in (owner, *reference.methods(owner))]

SAME_EVERYWHERE = (
    "claimed_delta",
    "claimed_epsilon",
    "confidence",
    "member_share",
    "prior",
    "seed",
    "shuffles",
    "target",
)
"""Arguments that mean the same wherever they occur, and are explained by the same first sentence."""


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A folder to write to, and in it MLflow's runs."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    before = mlflow.get_tracking_uri()
    mlflow.set_tracking_uri((tmp_path / "mlruns").as_uri())
    yield
    mlflow.set_tracking_uri(before)


def test_every_example_prints_what_it_says(store: None, tmp_path: Path) -> None:
    runner = doctest.DocTestRunner(optionflags=FLAGS, verbose=False)
    complaints: list[str] = []

    with running(tmp_path) as service:
        for each in ENTRIES:
            text = each.text.replace("127.0.0.1:8000", f"127.0.0.1:{service.port}")
            test = doctest.DocTestParser().get_doctest(text, {}, each.title, None, 0)
            runner.run(test, out=complaints.append)

    assert runner.tries > len(NAMES)
    assert runner.failures == 0, "".join(complaints)


def test_every_public_name_is_listed() -> None:
    listed = {owner.title for owner in OWNERS}

    public = {f"{module.__name__}.{name}" for module in (estimators, macekit) for name in module.__all__}

    assert {
        name for name in public if name not in listed and not any(x.startswith(f"{name}.") for x in listed)
    } == set()
    assert len(listed) == len(NAMES)


def test_every_argument_is_explained_and_nothing_else() -> None:
    missing = [
        f"{each.title}: {name}"
        for each in ENTRIES
        for name in each.parameters
        if name not in each.explanations
    ]
    unknown = [
        f"{each.title}: {name}"
        for each in ENTRIES
        if each.section("Args")
        for name in each.explanations
        if name not in each.parameters
    ]

    assert missing == unknown == []


def test_every_public_name_has_a_sentence_and_an_example() -> None:
    assert [owner.title for owner in OWNERS if not owner.prose or ">>>" not in owner.section("Example")] == []


def test_an_example_has_no_blank_line_below_which_nothing_would_be_compared() -> None:
    assert [each.title for each in ENTRIES if "\n\n" in each.section("Example")] == []


def test_what_means_the_same_is_explained_by_the_same_sentence() -> None:
    sentences: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for each in ENTRIES:
        if ".theory." in each.title:  # whose confidence is of other things than intervals
            continue
        for name, text in each.rows("Args").items():
            if not text.startswith("As for "):
                sentences[name][text.partition(". ")[0].rstrip(".")].append(each.title)

    assert {name: dict(sentences[name]) for name in SAME_EVERYWHERE if len(sentences[name]) != 1} == {}


def test_the_page_is_what_the_docstrings_make() -> None:
    written = reference.PAGE.read_text(encoding="utf-8")

    assert written == reference.page(), "run scripts/reference"
