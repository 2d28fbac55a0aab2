"""Bodies that are held are counted, wherever the system lets them lie."""

import os

import pytest

from app.workers.uploads import SMALL, Budget, Spool
from macekit.problems import Problem


def test_a_spool_holds_what_was_written_in_order() -> None:
    with Spool(Budget(100)) as spool:
        spool.write(b"abc")
        spool.write(bytearray(b"def"))

        assert os.pread(spool.fd, 100, 0) == b"abcdef"
        assert spool.size == 6


def test_all_spools_share_one_budget_and_give_back_what_they_held() -> None:
    budget = Budget(100)
    with Spool(budget) as first, Spool(budget) as second:
        first.write(b"x" * 60)
        with pytest.raises(Problem) as refused:
            second.write(b"x" * 41)
        second.write(b"x" * 40)

        assert refused.value.kind.slug == "busy"
        assert budget.in_use == 100
    assert budget.in_use == 0


def test_a_spool_that_is_closed_twice_gives_back_once() -> None:
    budget = Budget(100)
    spool = Spool(budget)
    spool.write(b"x" * 60)

    assert budget.in_use == 60
    spool.close()
    spool.close()
    assert budget.in_use == 0


def test_a_large_body_leaves_an_eighth_to_small_ones() -> None:
    budget = Budget(8 * SMALL)

    with Spool(budget) as large, Spool(budget) as small:
        large.write(b"x" * 7 * SMALL)
        assert not large.has_room(1)
        small.write(b"x" * SMALL)
        assert not small.has_room(1)

    assert budget.in_use == 0


def test_without_memory_files_a_temporary_file_serves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "memfd_create")

    with Spool(Budget(100)) as spool:
        spool.write(b"abc")

        assert os.pread(spool.fd, 100, 0) == b"abc"
