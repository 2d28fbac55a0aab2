"""A real Chromium that reaches the service under test and nothing else; whatever it asks for beyond is recorded."""

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Page,
    Playwright,
    Request,
    expect,
    sync_playwright,
)

from tests.app.running import running

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome-headless-shell")
PATIENCE = 90_000
"""Milliseconds: a page of documentation takes seconds to draw, and on a busy machine many times that."""

expect.set_options(timeout=PATIENCE)
TELL_VIOLATIONS = """
document.addEventListener("securitypolicyviolation", (event) =>
  console.error(`violation: ${event.violatedDirective} ${event.blockedURI} ${event.sourceFile}:${event.lineNumber}`));
"""


@dataclass
class Visit:
    """A browser's window on the service, and what it should not have done."""

    page: Page
    address: str
    outside: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)

    def open(self, path: str) -> Page:
        self.page.goto(f"{self.address}{path}")
        return self.page


def installed(playwright: Playwright) -> Path | None:
    """The browser named, or found on the path, or installed by Playwright itself."""
    if named := os.environ.get("MACE_TEST_BROWSER"):
        return Path(named)
    found = next((path for name in NAMES if (path := shutil.which(name))), None)
    own = Path(playwright.chromium.executable_path)
    return Path(found) if found else next((path for path in (own, *shells(own)) if path.exists()), None)


def shells(own: Path) -> list[Path]:
    """Playwright's headless shells, which stand beside where its full browser would."""
    return sorted(own.parents[2].glob("chromium_headless_shell-*/*/*headless*shell*"))


# For the package only: while Playwright runs, nothing else in this process can run an event loop.
@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        executable = installed(playwright)
        if executable is None:
            reason = "no Chromium found: scripts/setup browser installs one, MACE_TEST_BROWSER names one"
            (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(reason)
        started = playwright.chromium.launch(
            executable_path=executable,
            args=[
                "--no-proxy-server",
                "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
                # No test looks at a pixel: nothing is drawn as a graphics card would, and tabs share a process.
                "--disable-gpu",
                "--in-process-gpu",
                "--renderer-process-limit=1",
            ],
            chromium_sandbox=os.geteuid() != 0,
        )
        yield started
        started.close()


@pytest.fixture(scope="package")
def window(browser: Browser) -> Iterator[BrowserContext]:
    """One window, in which each test has a tab: a window takes a second of the processor, a tab a tenth of one."""
    context = browser.new_context(service_workers="block", viewport={"width": 1280, "height": 900})
    context.add_init_script(TELL_VIOLATIONS)
    context.new_page()  # what keeps it open
    yield context
    context.close()


BELOW = pytest.mark.parametrize(
    "address",
    [(("root_path", "/behind/a/proxy"), ("body_limit", "5000"), ("per_client", "1"))],
    indirect=True,
    ids=["below a path"],
)
"""For what asks for addresses of its own: assets, questions, downloads. All other tests ask a service at the root."""

Settings = tuple[tuple[str, str], ...]


@pytest.fixture(scope="package")
def services(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[Settings], str]]:
    """The address of a service with these settings, which is started when the first test asks."""
    with ExitStack() as stack:

        @cache
        def started(settings: Settings) -> str:
            service = stack.enter_context(running(tmp_path_factory.mktemp("service"), **dict(settings)))
            return f"http://127.0.0.1:{service.port}{dict(settings).get('root_path', '')}"

        yield started


@pytest.fixture(scope="package")
def address(request: pytest.FixtureRequest, services: Callable[[Settings], str]) -> str:
    """Where a service listens, with the settings of the parameter if there is one."""
    return services(getattr(request, "param", ()))


def complaint(said: ConsoleMessage) -> bool:
    """Whether the browser complains; that the service refused what was asked of it is for the page to say.

    For a page without an icon the browser looks for one at the root of the host, above where a proxy shows us.
    """
    refusal = said.text.startswith("Failed to load resource: the server responded") and "/v1/" in said.location["url"]
    icon = urlsplit(said.location["url"]).path == "/favicon.ico"
    return said.type == "error" and not (refusal or icon)


@pytest.fixture
def visit(window: BrowserContext, address: str) -> Iterator[Visit]:
    """A fresh tab; when the test is done, nothing may have been asked of others, refused or complained about."""
    page = window.new_page()
    page.set_default_timeout(PATIENCE)
    visit = Visit(page, address)
    origin = "/".join(address.split("/")[:3])

    def record(request: Request) -> None:
        if not request.url.startswith((f"{address}/", f"blob:{origin}/")):
            visit.outside.append(request.url)

    window.on("request", record)
    page.on("console", lambda said: visit.complaints.append(said.text) if complaint(said) else None)
    page.on("pageerror", lambda error: visit.complaints.append(str(error)))
    yield visit
    kept = {"origin": origin, "storageTypes": "cookies,local_storage,indexeddb,cache_storage"}
    window.new_cdp_session(page).send("Storage.clearDataForOrigin", kept)
    window.clear_permissions()
    for opened in window.pages[1:]:
        opened.close()
    window.remove_listener("request", record)
    assert (visit.outside, visit.complaints) == ([], [])
