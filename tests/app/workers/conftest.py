"""One pool for the many tests that need nothing special of it: each must leave it whole."""

import asyncio
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import uvloop

from app.workers.pool import Pool
from app.workers.processes import Source
from app.workers.uploads import Budget
from tests.app.workers.support import WORK, do, settings, settled


class Workers:
    """A pool that several tests use, in a loop of its own; every test leaves it whole."""

    def __init__(self, runner: asyncio.Runner) -> None:
        self._runner = runner
        self.pool = Pool(settings(time_limit=20.0, memory_limit=256 * 2**20), WORK, confined=False)
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("MACE_API_KEY", "0123456789abcdef")  # which workers must not know
            runner.run(self.pool.start())
            runner.run(settled(self.pool))

    def run(self, work: Coroutine[Any, Any, Any]) -> Any:
        return self._runner.run(asyncio.wait_for(work, 60))

    def do(self, operation: str, source: Source = b"") -> Any:
        return self.run(do(self.pool, operation, source))

    @contextmanager
    def given(self, **changes: Any) -> Iterator[Pool]:
        """Other limits for a while; at their end nothing may be held or under way, and every worker is there."""
        pool, before = self.pool, (self.pool.settings, self.pool.budget)
        pool.settings = pool.settings.model_copy(update=changes)
        pool.budget = Budget(pool.settings.spool_limit)
        try:
            yield pool
            assert pool.budget.in_use == 0
            with pool.admission.admit("the next"):
                assert pool.admission.under_way == 1
        finally:
            pool.settings, pool.budget = before

    def kills(self, reason: str) -> int:
        """How many workers were ended for this reason so far."""
        return self.pool.snapshot().kills[reason]

    def stop(self) -> None:
        self.run(self.pool.stop())


@pytest.fixture(scope="session", params=[asyncio.new_event_loop, uvloop.new_event_loop], ids=["asyncio", "uvloop"])
def shared(request: pytest.FixtureRequest) -> Iterator[Workers]:
    with asyncio.Runner(loop_factory=request.param) as runner:
        workers = Workers(runner)
        yield workers
        workers.stop()


@pytest.fixture
def workers(shared: Workers) -> Iterator[Workers]:
    """The shared pool; after each test it must be whole again and do a normal job."""
    shared.run(settled(shared.pool))
    yield shared
    shared.run(settled(shared.pool))
    assert shared.do("size", b"12345").body == b"5"
    assert shared.pool.snapshot().waiting == 0
    assert shared.pool.budget.in_use == 0
