"""What is under way is counted, and whoever is refused learns when to come back."""

from __future__ import annotations

from contextlib import ExitStack

import pytest

from app.workers.admission import Admission
from macekit.problems import Problem


def refused(admission: Admission, client: str = "anyone") -> Problem:
    with pytest.raises(Problem) as found, admission.admit(client):
        pass
    return found.value


def test_what_arrives_takes_no_place_but_counts_for_its_client() -> None:
    admission = Admission(processes=1, queue=0, per_client=2)

    with admission.receive("one"), admission.receive("one"):
        assert refused(admission, "one").kind.slug == "too-many-requests"
        with admission.admit("two"), pytest.raises(Problem, match="under way"), admission.receive("three"):
            pass

    with admission.admit("one"):
        assert admission.arriving == 0


def test_as_many_as_work_and_wait_are_admitted() -> None:
    admission = Admission(processes=2, queue=1, per_client=0)
    with ExitStack() as under_way:
        for _ in range(3):
            under_way.enter_context(admission.admit("one"))

        assert refused(admission).kind.slug == "busy"
    with admission.admit("one"):
        assert admission.under_way == 1


def test_a_request_that_fails_gives_its_place_back() -> None:
    admission = Admission(processes=1, queue=0, per_client=1)
    with pytest.raises(RuntimeError), admission.admit("one"):
        raise RuntimeError

    with admission.admit("one"):
        assert admission.under_way == 1


def test_the_time_to_come_back_grows_with_how_long_jobs_take_and_has_an_end() -> None:
    admission = Admission(processes=2, queue=8, per_client=0)
    with ExitStack() as under_way:
        for _ in range(10):
            under_way.enter_context(admission.admit("one"))
        waits = []
        for seconds in (0.001, 8.0, 10_000.0):
            for _ in range(100):
                admission.record_duration(seconds)
            waits.append(refused(admission).retry_after)

    assert waits == [1, 20, 60]


def test_a_closed_admission_says_that_the_service_is_shutting_down() -> None:
    admission = Admission(processes=1, queue=1, per_client=0)
    admission.closed = True

    assert refused(admission).kind.slug == "shutting-down"
