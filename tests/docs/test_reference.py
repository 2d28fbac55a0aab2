"""The reference is whole, true and up to date: every public name is explained, and every example runs as printed."""

from __future__ import annotations

import doctest
from collections import defaultdict
from pathlib import Path

import pytest
import reference

import estimators

FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
NAMES = [name for group in reference.GROUPS for name in group.names]
OWNERS = [reference.entry(name) for name in NAMES]
ENTRIES = [each for owner in OWNERS for each in (owner, *reference.methods(owner))]

SAME_EVERYWHERE = (
    "confidence",
    "member_share",
    "prior",
    "seed",
    "shuffles",
    "target",
)
"""Arguments that mean the same wherever they occur, and are explained by the same first sentence."""


def test_every_example_prints_what_it_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    runner = doctest.DocTestRunner(optionflags=FLAGS, verbose=False)
    said: list[str] = []

    for each in ENTRIES:
        test = doctest.DocTestParser().get_doctest(each.text, {}, each.title, None, 0)
        runner.run(test, out=said.append)

    assert runner.tries > len(NAMES)
    assert runner.failures == 0, "".join(said)


def test_every_public_name_is_listed() -> None:
    listed = {owner.title for owner in OWNERS}

    public = {f"estimators.{name}" for name in estimators.__all__}

    assert public <= listed
    assert len(listed) == len(NAMES)


def test_every_argument_is_explained_and_nothing_else() -> None:
    missing = [
        f"{each.title}: {name}" for each in ENTRIES for name in each.parameters if name not in each.explained
    ]
    unknown = [
        f"{each.title}: {name}"
        for each in ENTRIES
        if each.section("Args")
        for name in each.explained
        if name not in each.parameters
    ]

    assert missing == unknown == []


def test_every_public_name_has_a_sentence_and_an_example() -> None:
    assert [owner.title for owner in OWNERS if not owner.own or ">>>" not in owner.section("Example")] == []


def test_what_means_the_same_is_explained_by_the_same_sentence() -> None:
    sentences: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for each in ENTRIES:
        for name, text in each.rows("Args").items():
            sentences[name][text.partition(". ")[0].rstrip(".")].append(each.title)

    assert {name: dict(sentences[name]) for name in SAME_EVERYWHERE if len(sentences[name]) != 1} == {}


def test_the_page_is_what_the_docstrings_make() -> None:
    written = reference.PAGE.read_text(encoding="utf-8")

    assert written == reference.page(), "run scripts/reference"
