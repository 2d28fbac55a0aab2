"""docs/errors.md describes every problem there is, and no other."""

import re
from pathlib import Path

from estimators import errors
from macekit.problems import KINDS, OF_ERROR

TEXT = (Path(__file__).parents[2] / "docs" / "errors.md").read_text(encoding="utf-8")


def test_every_kind_of_problem_is_described_with_its_status() -> None:
    described = dict(re.findall(r"^\| `([a-z-]+)` \| (\d{3}) \|", TEXT, flags=re.MULTILINE))

    assert described == {kind.slug: str(kind.status) for kind in KINDS.values()}


def test_every_error_of_the_library_has_a_kind_of_its_own_choosing() -> None:
    classes = {
        thing for thing in vars(errors).values() if isinstance(thing, type) and issubclass(thing, errors.MaceError)
    }

    assert classes == set(OF_ERROR)
    assert set(OF_ERROR.values()) <= set(KINDS)
