"""Every sentence of what a hostile client can do, and of the errors, names the files of tests that hold us to it."""

import re
from pathlib import Path

import pytest

from macekit.problems import KINDS

ROOT = Path(__file__).parents[2]
OPERATIONS = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")
ERRORS_PAGE = (ROOT / "docs" / "errors.md").read_text(encoding="utf-8")
SECTION = OPERATIONS.partition("## What a hostile client can and cannot do\n")[2].partition("\n## ")[0]
TESTS = {path: path.read_text(encoding="utf-8") for path in ROOT.glob("tests/**/test_*.py")}

NO_PROMISE = {
    "Put a proxy in front of a service that strangers can reach": "advice",
    "With one worker all are held in memory": "follows from the sentence before",
    "without it, a page elsewhere could have a browser ask": "says what is not done",
    "`type` is stable.": "test_openapi.py holds the list of types; that it does not change is a promise of ours",
    "Programs should decide by it": "advice",
    "[security.md](security.md) has this for everybody": "a link",
    "What is `busy` is told so before anything": "benchmarks/load.py measures it; no test looks at a clock",
}
"""Sentences that promise nothing that a test could hold, and why."""

HOSTILE_CLIENT = {
    "A place in the queue is taken when work can start": "starving admission",
    "If less than 64 KiB of it arrive within": "intake",
    "At most 1024 bodies arrive at once": "starving spool",
    "Where one more needs room, the body furthest behind": "admission starving",
    "Whoever asks for most gives way": "shares",
    "Workers go round by client": "admission shares",
    "Where no place is free, the request that came last": "admission jobs",
    "Who is alone may have all there is": "admission",
    "Answers that are kept for later take half": "shares jobs",
    "Where one more needs room, or work under way does": "shares jobs",
    "While an answer is worked on, room is held": "shares",
    "Bodies of `/v1/counts` that are read as they arrive": "intake",
    "Up to 32 more wait, each for as long as `MACE_STALL_LIMIT`": "starving admission",
    "If there is none, the body that waits is held in memory": "starving",
    "Small bodies (`MACE_INLINE_LIMIT`) have eight places": "admission v1_limits",
    "An answer is dropped when its client takes less": "hostile starving",
    "Until then it is held, and counts towards": "pool",
    "A worker that runs out of time or memory fails one request": "pool",
    "The request of one that dies is done once more": "pool intake load",
    "What is answered in the server itself is what": "intake hostile",
    "Between two of them the event loop turns 16 times": "admission flooded",
    "What comes meanwhile goes to workers that have nothing": "admission flooded load",
    "Of these refusals 200 leave in a second": "admission",
    "A request that is refused before its body has come": "early",
    "What still comes of the body is read and dropped": "early",
    "A client may close its side once its request is sent": "early",
    "Whether it has left is asked by `100 Continue`": "early v1_limits",
    "Workers read what strangers send": "privileges",
    "On x86-64 and ARM a seccomp filter": "seccomp",
    "They can gain no rights": "privileges",
    "Where the kernel has Landlock": "confined",
    "Its later versions also keep them from TCP": "confined",
    "The log says what they have given up": "privileges",
    "Files with a key can be read by workers where": "confined",
    "No process of the service writes a core": "privileges",
    "`MACE_API_KEY` and `MACE_STORE` are wiped from the server's environment": "privileges pool replicas",
    "An address with an escape (`%2F`) is 404": "addresses",
    "`MACE_ALLOWED_HOSTS` lists the names in `Host`": "addresses",
    "The number of connections is bounded by the file descriptors": "poor",
}
"""By the first words of a sentence in docs/operations.md: `early` is a file `test_early.py`."""

ERRORS = {
    "Every error is `application/problem+json`": "fuzz v1_limits connection",
    "In the shell and in a program, where the data are at home": "mistakes",
    "`detail` is for people": "openapi",
    "`field` names the option or column at fault": "refusals",
    "`instance` carries the request's id": "problems",
    "A request that is not HTTP at all is refused": "connection",
}
"""The same of docs/errors.md."""


def sentences(page: str) -> list[str]:
    """What stands outside of tables, headings and examples, one sentence each."""
    prose = re.sub(r"```.*?```", "", page, flags=re.DOTALL)
    lines = [line for line in prose.splitlines() if not line.startswith(("|", "#"))]
    blocks = re.split(r"\n\s*\n|\n\* ", "\n" + "\n".join(lines))
    joined = [" ".join(block.removeprefix("* ").split()) for block in blocks]
    return [part for block in joined for part in re.split(r"(?<=[.;]) (?=[A-Z`]|without )", block) if part]


@pytest.mark.parametrize(
    ("page", "promises"), [(SECTION, HOSTILE_CLIENT), (ERRORS_PAGE, ERRORS)], ids=["operations", "errors"]
)
def test_every_sentence_names_its_tests_or_says_why_there_is_none(page: str, promises: dict[str, str]) -> None:
    starts = {*promises, *NO_PROMISE}
    matches = {each: [start for start in starts if each.startswith(start)] for each in sentences(page)}

    assert {each: match for each, match in matches.items() if len(match) != 1} == {}
    assert {start for (start,) in matches.values()} >= set(promises)


def test_what_promises_nothing_is_in_one_of_the_documents() -> None:
    every = sentences(SECTION) + sentences(ERRORS_PAGE)

    assert [start for start in NO_PROMISE if not any(each.startswith(start) for each in every)] == []


def test_every_file_of_tests_that_is_named_is_there_and_has_tests() -> None:
    named = {stem for promises in (HOSTILE_CLIENT, ERRORS) for stems in promises.values() for stem in stems.split()}
    there = {path.stem.removeprefix("test_") for path, text in TESTS.items() if "\ndef test_" in text}

    assert named - there == set()


def test_every_kind_of_problem_is_expected_by_a_test() -> None:
    tests = "".join(text for path, text in TESTS.items() if path.parent != Path(__file__).parent)

    assert set(KINDS) == set(re.findall(r"^\| `([a-z-]+)` \|", ERRORS_PAGE, re.MULTILINE))
    assert [slug for slug in KINDS if not re.search(rf"""["':]{slug}["']""", tests)] == []
