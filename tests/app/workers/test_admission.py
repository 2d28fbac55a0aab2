"""What is under way is counted, and whoever is refused learns when to come back."""

import asyncio
import socket
from collections import Counter
from contextlib import ExitStack
from itertools import pairwise

import pytest

from app.workers import admission as limits
from app.workers.admission import Admission, Line, Refusals, Streams, Turns
from macekit.problems import Problem
from tests.app.workers.support import gone_when_called, in_loop


def refused(admission: Admission, client: str = "anyone") -> Problem:
    with pytest.raises(Problem) as found, admission.admit(client):
        pass
    return found.value


class Body:
    """A body that arrives, by when it is given up."""

    def __init__(self, deadline: float, pace: tuple[float, float] = (0.0, 0.0)) -> None:
        self.deadline = deadline
        self.given_up = asyncio.Event()
        self._pace = pace

    def give_up(self) -> None:
        self.given_up.set()

    def pace(self, now: float) -> tuple[float, float]:
        return self._pace


def test_what_arrives_takes_no_place_but_counts_for_its_client() -> None:
    admission = Admission(processes=1, queue=0, per_client=2)

    with admission.receive("one", Body(1)), admission.receive("one", Body(2)):
        assert refused(admission, "one").kind.slug == "too-many-requests"
        with (
            admission.admit("two"),
            pytest.raises(Problem, match="under way"),
            admission.receive("three", Body(3), small=False),
        ):
            pass

    with admission.admit("one"):
        assert admission.arriving == 0


def test_when_as_many_arrive_as_may_the_one_furthest_behind_gives_its_place_to_the_next() -> None:
    admission = Admission(processes=1, queue=0, per_client=0)
    bodies = [Body(deadline) for deadline in range(limits.MOST_ARRIVING)]
    with ExitStack() as arriving:
        for body in reversed(bodies):
            arriving.enter_context(admission.receive("one", body))
        with admission.receive("two", Body(limits.MOST_ARRIVING)):
            assert [body.deadline for body in bodies if body.given_up.is_set()] == [0]
            assert admission.arriving == limits.MOST_ARRIVING
        with pytest.raises(Problem) as found:
            admission.displace(Body(0))

    assert found.value.kind.slug == "busy"
    assert admission.arriving == 0


def test_small_bodies_have_places_that_large_ones_cannot_take() -> None:
    admission = Admission(processes=1, queue=1, per_client=0)
    with ExitStack() as under_way:
        for _ in range(2):
            under_way.enter_context(admission.admit("one"))
        assert refused(admission).kind.slug == "busy"
        for _ in range(limits.SMALL_PLACES):
            under_way.enter_context(admission.admit("two", small=True))
        assert admission.is_full(small=True)


@in_loop
async def test_small_requests_and_others_get_workers_by_turns() -> None:
    line, order = Line(), []
    waiting = {line.join(small=number > 3): number for number in range(1, 7)}

    while (first := line.pop()) is not None:
        order.append(waiting[first])

    assert order == [4, 1, 5, 2, 6, 3]


@in_loop
async def test_clients_get_workers_by_turns_and_who_has_most_waiting_gives_way() -> None:
    admission = Admission(processes=1, queue=4, per_client=0)
    line, order = admission.line, []
    with ExitStack() as under_way:
        for _ in range(5):
            under_way.enter_context(admission.admit("greedy"))
        waiting = {line.join(small=False, client="greedy"): number for number in range(4)}
        assert refused(admission, "greedy").kind.slug == "busy"
        for number, client in enumerate(("modest", "another"), 4):
            under_way.enter_context(admission.admit(client))
            waiting[line.join(small=False, client=client)] = number
        sent_away = {number: each.exception() for each, number in waiting.items() if each.done()}
        assert refused(admission, "modest").kind.slug == "busy"  # greedy has no more than it by now

    while (first := line.pop()) is not None:
        order.append(waiting[first])

    assert sorted(sent_away) == [2, 3]
    assert {each.kind.slug for each in sent_away.values() if isinstance(each, Problem)} == {"busy"}
    assert order == [0, 4, 5, 1]


@in_loop
async def test_small_requests_of_one_give_way_to_those_of_another() -> None:
    turns, answers = Turns(), Counter[tuple[str, str]]()

    async def ask(client: str) -> None:
        try:
            async with turns.turn(client):
                answers[client, "done"] += 1
        except Problem as problem:
            answers[client, problem.kind.slug] += 1

    greedy = [asyncio.create_task(ask("greedy")) for _ in range(limits.MOST_SMALL + 1)]
    await asyncio.sleep(0)
    modest = [asyncio.create_task(ask("modest")) for _ in range(3)]
    await asyncio.gather(*greedy, *modest)

    assert answers == {("greedy", "done"): limits.MOST_SMALL - 2, ("greedy", "busy"): 3, ("modest", "done"): 3}


@in_loop
async def test_a_slow_stream_gives_its_worker_to_one_that_waited_as_long_as_it_held_it() -> None:
    streams = Streams(1, patience=0.05)

    async def hold(body: Body) -> None:
        async with streams.place(body):
            await body.given_up.wait()

    holding = asyncio.create_task(hold(Body(0, (1.0, limits.STREAM_PACE - 1.0))))
    await asyncio.sleep(0)
    async with streams.place(Body(0, (1.0, limits.STREAM_PACE + 1.0))) as first, streams.place(Body(0)) as second:
        await holding

    assert (first, second) == (True, False)


def computed_at_once(seconds_between: float) -> tuple[int, list[str]]:
    """How many compute in a turn of the loop at most, by a clock that goes on between them alone, and who may not."""

    async def scene() -> tuple[int, list[str]]:
        loop = asyncio.get_running_loop()
        turns, now, most, computed, problems = Turns(), 0.0, 0, 0, list[str]()

        async def compute() -> None:
            nonlocal computed
            try:
                async with turns.turn():
                    computed += 1
            except Problem as problem:
                problems.append(problem.kind.slug)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(loop, "time", lambda: now)
            tasks = [asyncio.create_task(compute()) for _ in range(limits.MOST_SMALL + 3)]
            while not all(task.done() for task in tasks):
                computed = 0
                await asyncio.sleep(0)
                most = max(most, computed)
                now += 0 if computed else seconds_between
        return most, problems

    return asyncio.run(scene())


def test_only_one_computes_in_a_turn_of_the_loop_and_so_many_wait() -> None:
    assert computed_at_once(seconds_between=0.0) == (1, ["busy", "busy"])


def test_more_compute_in_a_turn_where_all_else_takes_longer_but_few() -> None:
    assert computed_at_once(seconds_between=1.0)[0] == limits.MOST_IN_TURN


def turns_between(number: int, *listening: int) -> list[int]:
    """How often the event loop turned between computations of so many requests that come at once."""

    async def scene() -> list[int]:
        turns, passed, computed = Turns(), 0, []
        turns.watch(listening)

        async def compute() -> None:
            async with turns.turn() as own:
                assert own
                computed.append(passed)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(asyncio.get_running_loop(), "time", lambda: 0.0)  # on a busy machine more are computed
            tasks = [asyncio.create_task(compute()) for _ in range(number)]
            while not all(task.done() for task in tasks):
                passed += 1
                await asyncio.sleep(0)
        return [after - before for before, after in pairwise(computed)]

    return asyncio.run(scene())


def test_between_two_computations_everything_else_gets_several_turns_of_the_loop() -> None:
    assert min(turns_between(4)) >= limits.LEAST_TURNS


def test_connections_that_wait_are_taken_first_but_not_for_ever() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        without = turns_between(3, listening.fileno())
        with socket.create_connection(listening.getsockname()):
            waited = turns_between(3, listening.fileno())

    assert min(waited) >= limits.MOST_TURNS > max(without)


@in_loop
async def test_the_first_that_waits_for_its_turn_goes_to_a_worker_that_comes_free() -> None:
    turns, answers = Turns(), []

    async def ask(number: int) -> None:
        async with turns.turn() as own:
            answers.append((number, own))
            if number == 0:
                await asyncio.sleep(0)
                turns.pass_on()

    await asyncio.gather(*map(ask, range(3)))
    turns.pass_on()  # nobody waits
    while turns.busy:
        await asyncio.sleep(0)

    assert answers == [(0, True), (1, False), (2, True)]


def test_refusals_leave_at_a_pace_and_none_is_kept_for_long() -> None:
    refusals = Refusals()
    delays = [refusals.delay(10.0) for _ in range(3 * limits.REFUSALS)]

    assert delays[:2] == pytest.approx([0, 1 / limits.REFUSALS])
    assert delays[limits.REFUSALS // 2] == pytest.approx(0.5)
    assert max(delays) == delays[-1] == limits.LONGEST_REFUSAL
    assert refusals.delay(20.0) == 0


def test_as_many_as_work_and_wait_are_admitted() -> None:
    admission = Admission(processes=2, queue=1, per_client=0)
    with ExitStack() as under_way:
        for _ in range(3):
            under_way.enter_context(admission.admit("one"))

        assert refused(admission).kind.slug == "busy"
    with admission.admit("one"):
        assert admission.under_way == 1


def test_a_request_that_fails_gives_its_place_back_and_each_client_has_its_own() -> None:
    admission = Admission(processes=2, queue=1, per_client=2)
    for _ in range(3):
        with pytest.raises(RuntimeError), admission.admit("one"):
            raise RuntimeError

    with admission.admit("one"), admission.admit("one"):
        problem = refused(admission, "one")
        assert (problem.kind.slug, problem.retry_after) == ("too-many-requests", 1)
        with admission.admit("two"):
            assert admission.under_way == 3


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


@in_loop
async def test_a_turn_that_comes_to_a_request_that_is_gone_goes_to_the_next() -> None:
    turns = Turns()

    async def ask() -> bool:
        async with turns.turn() as own:
            return own

    async with turns.turn():
        gone, following = asyncio.create_task(ask()), asyncio.create_task(ask())
        await asyncio.sleep(0)
        first = next(iter(turns._waiting))
    await gone_when_called(first, gone)

    assert await asyncio.wait_for(following, 5)


@in_loop
async def test_a_worker_that_comes_to_a_body_that_is_gone_goes_to_the_next() -> None:
    streams, left = Streams(1, patience=30), asyncio.Event()

    async def hold(until: asyncio.Event | None = None) -> bool:
        async with streams.place(Body(0)) as held:
            if until:
                await until.wait()
            return held

    holding = asyncio.create_task(hold(left))
    await asyncio.sleep(0)
    gone, following = asyncio.create_task(hold()), asyncio.create_task(hold())
    await asyncio.sleep(0)
    first = streams._waiting[0]
    left.set()
    await gone_when_called(first, gone)

    assert await asyncio.wait_for(following, 5)
    assert await holding
