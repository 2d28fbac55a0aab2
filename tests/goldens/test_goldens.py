"""What was answered and printed before is answered and printed now: a redesign changes nothing by accident."""

from pathlib import Path

import pytest

from tests.goldens.rewrite import COMMAND, FILES, PARTS, make


@pytest.mark.slow
def test_nothing_that_was_frozen_has_changed(tmp_path: Path) -> None:
    make(tmp_path)

    before, now = (
        {f"{part}/{name}": text for part in PARTS for name, text in _texts(each / part).items()}
        for each in (FILES, tmp_path)
    )
    changes = [_change(name, before.get(name), now.get(name)) for name in sorted(before.keys() | now.keys())]
    complaints = [change for change in changes if change]
    advice = f"The texts in full: {tmp_path}/*/whole. If this is meant: {COMMAND}, and look at the diff."
    assert not complaints, "\n".join([*complaints, advice])


def _texts(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): path.read_bytes().decode()
        for path in folder.rglob("*")
        if path.is_file() and "whole" not in path.relative_to(folder).parts
    }


def _change(name: str, before: str | None, now: str | None) -> str:
    """The first line in which a golden differs; nothing if it does not."""
    if before is None or now is None:
        return f"{name}: {'is new' if before is None else 'is not made any more'}"
    if before == now:
        return ""
    old, new = before.splitlines(), now.splitlines()
    at = next((i for i, pair in enumerate(zip(old, new, strict=False)) if pair[0] != pair[1]), None)
    if at is None:
        return f"{name}: {len(old)} lines before, {len(new)} now"
    return f"{name}, line {at + 1}:\n  before: {old[at][:300]}\n  now:    {new[at][:300]}"
