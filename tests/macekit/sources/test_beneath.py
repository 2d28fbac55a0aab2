"""Files below one folder: whatever is put in the place of one while it is opened, and however many there are."""

import multiprocessing
import os
import random
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

from macekit.problems import Problem
from macekit.sources import beneath
from macekit.sources.beneath import Beneath
from macekit.sources.shards import _fits, _matches, shards_below

INSIDE, SECRET = b"score,member\n1,1\n", b"secret,secret\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of data beside one that is not to be read."""
    for name, text in (("data", INSIDE), ("other", SECRET)):
        (tmp_path / name / "sub").mkdir(parents=True)
        (tmp_path / name / "sub" / "a.csv").write_bytes(text)
        (tmp_path / name / "a.csv").write_bytes(text)
    return tmp_path / "data"


def swapping(folder: str) -> None:
    """Puts a link that leads out in the place of a file and of a folder, and back, again and again."""
    os.chdir(folder)
    for name, out in (("a.csv", "../other/a.csv"), ("sub", "../other/sub")):
        os.rename(name, f"{name}.own")
        os.symlink(f"{name}.own", f"{name}.in")
        os.symlink(out, f"{name}.out")
    while True:
        for name in ("a.csv", "sub"):
            for kind in ("in", "out"):
                os.link(f"{name}.{kind}", f"{name}.next", follow_symlinks=False)
                os.rename(f"{name}.next", name)


@pytest.mark.slow
def test_what_is_swapped_while_it_is_opened_leads_to_nothing_outside(folder: Path) -> None:
    """Ten thousand times, without Landlock: this process may open what lies beside."""
    swapper = multiprocessing.get_context("spawn").Process(target=swapping, args=(str(folder),), daemon=True)
    swapper.start()
    found = Counter[str]()
    try:
        while not (folder / "sub").is_symlink():
            time.sleep(0.01)
        for number in range(10_000):
            try:
                with Beneath(str(folder)).open_input_file(("a.csv", "sub/a.csv")[number % 2]) as file:
                    found["own" if file.read() == INSIDE else "foreign"] += 1
            except (Problem, OSError):
                found["refused"] += 1
    finally:
        swapper.kill()
        swapper.join()

    assert found["foreign"] == 0
    assert found["own"] > 100
    assert found["refused"] > 100


@pytest.mark.parametrize("name", ["a.csv", "sub/a.csv"])
def test_a_link_put_in_between_the_look_and_the_opening_is_not_followed(folder, name, monkeypatch) -> None:
    """The moment that ten thousand tries may miss: what was looked at was no link, what is opened is one."""
    look, (first, *_) = beneath._target, name.split("/")

    def look_then_swap(part: str, at: int) -> str | None:
        found = look(part, at)
        if part == first and not (folder / first).is_symlink():
            (folder / first).rename(folder / f"{first}.own")
            (folder / first).symlink_to(f"../other/{first}")
        return found

    monkeypatch.setattr(beneath, "_target", look_then_swap)

    with pytest.raises(OSError, match=r"symbolic links|Not a directory"):
        Beneath(str(folder)).open_input_file(name)
    assert (folder / first).is_symlink()


def test_links_that_stay_inside_are_followed_and_none_that_leave(folder: Path) -> None:
    links = {
        "file.csv": "a.csv", "up.csv": "sub/../a.csv", "whole.csv": str(folder / "sub/a.csv"), "again.csv": "up.csv",
        "sub/back.csv": "../a.csv", "out.csv": "../other/a.csv", "far.csv": "../../../../../../etc/passwd",
        "other.csv": str(folder.parent / "other/a.csv"), "round.csv": "round.csv", "sub/out.csv": "../../other/a.csv",
    }  # fmt: skip
    for name, target in links.items():
        (folder / name).symlink_to(target)
    own = ["file.csv", "up.csv", "whole.csv", "again.csv", "sub/back.csv"]

    for name in links:
        if name in own:
            with Beneath(str(folder)).open_input_file(name) as file:
                assert file.read() == INSIDE
        else:
            with pytest.raises((Problem, OSError)):
                Beneath(str(folder)).open_input_file(name)
    shards = shards_below(str(folder), "*.csv").shards
    assert sorted(each.path for each in shards) == ["a.csv", *sorted(own[:4])]


def test_no_descriptor_is_left_open(folder: Path) -> None:
    (folder / "out.csv").symlink_to("../other/a.csv")
    before = os.listdir("/proc/self/fd")
    for _ in range(5):
        assert shards_below(str(folder), "**").nbytes == 2 * len(INSIDE)
        for name in ("out.csv", "none", "a.csv/b", "sub/none"):
            with pytest.raises(Problem):
                shards_below(str(folder), name)

    assert os.listdir("/proc/self/fd") == before


def test_a_listing_has_limits_and_says_which_was_met(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(beneath, "MOST_ENTRIES", 2)
    with pytest.raises(Problem, match="more than 2 files and folders would be looked at"):
        shards_below(str(folder), "**")
    monkeypatch.setattr(beneath, "MOST_ENTRIES", 100)
    monkeypatch.setattr(beneath, "LONGEST_LISTING", -1.0)
    with pytest.raises(Problem, match="took longer than -1 seconds"):
        shards_below(str(folder), "*")


# --- patterns -----------------------------------------------------------------------------------------------


def fits_literally(segments: Sequence[str], patterns: Sequence[str]) -> bool:
    """The slow twin: a pattern fits if one of the ways to read it does."""
    if not patterns:
        return not any(segment.startswith(("_", ".")) for segment in segments)
    if not segments:
        return False
    first, *others = patterns
    if first == "**":
        hidden = segments[0].startswith(("_", "."))
        return fits_literally(segments, others) or (not hidden and fits_literally(segments[1:], patterns))
    return _fits(segments[0], first) and fits_literally(segments[1:], others)


@pytest.mark.slow
def test_a_pattern_fits_what_it_fits_read_literally() -> None:
    rng, fits = random.Random(1), Counter[bool]()
    for _ in range(20_000):
        segments = rng.choices(["a", "b", "ab", "_a", ".b"], k=rng.randint(1, 5))
        patterns = rng.choices(["a", "b", "*", "**", "a*", "_*", "[!a]", "?"], k=rng.randint(0, 5))
        expected = fits_literally(segments, patterns)
        fits[expected] += 1

        assert _matches(segments, patterns) == expected, (segments, patterns)

    assert min(fits.values()) > 1000


@pytest.fixture(scope="module")
def thousand(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A thousand files, four folders deep."""
    root = tmp_path_factory.mktemp("thousand")
    for number in range(1000):
        path = root / f"a{number % 2}" / f"b{number % 5}" / f"c{number % 10}" / f"{'a' * 40}{number}.csv"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    return root


PARTS = ["**", "*", "a*", "*a*a*a*b", "[ab]?", "a0", "b1", "*" * 200, "*a" * 120, f"[!{'a' * 200}]", "?" * 30]


@pytest.mark.slow
def test_random_patterns_are_quick_and_none_is_an_error(thousand: Path) -> None:
    """By the processor's time of this process: others may have the machine."""
    rng, seconds, ends = random.Random(2), [], Counter[str]()
    for number in range(150):
        first = ["**"] if number % 3 == 0 else []
        pattern = "/".join([*first, *rng.choices(PARTS, k=rng.randint(1, 31))])
        began = time.process_time()
        try:
            shards_below(str(thousand), pattern)
            ends["files"] += 1
        except Problem as problem:
            ends[problem.kind.slug] += 1
        seconds.append(time.process_time() - began)

    assert set(ends) == {"files", "bad-records"}
    assert sorted(seconds)[-3] < 0.1, sorted(seconds)[-10:]  # two may have met a collection of garbage
