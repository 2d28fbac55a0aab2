import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

HEALTHCHECK = Path(__file__).resolve().parents[2] / "deploy" / "healthcheck.py"


@contextmanager
def service(status: int) -> Iterator[int]:
    """Something that answers /healthz with this status, and everything else with 404; its port."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status if self.path == "/healthz" else 404)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server.server_port
        finally:
            server.shutdown()
            thread.join()


def status(**environment: str) -> int:
    clean = {name: value for name, value in os.environ.items() if not name.startswith("MACE_")}
    return subprocess.run([sys.executable, HEALTHCHECK], env=clean | environment, check=False).returncode


@pytest.mark.slow
@pytest.mark.parametrize(
    ("answer", "variables", "exit_status"),
    [
        (200, {"MACE_HOST": "0.0.0.0", "MACE_PORT": "{port}"}, 0),
        (200, {"MACE_PORT": "1", "MACE_PROBE_PORT": "{port}"}, 0),
        (200, {"MACE_PORT": "{port}", "MACE_PROBE_PORT": "0"}, 0),
        (503, {"MACE_HOST": "0.0.0.0", "MACE_PORT": "{port}"}, 1),
    ],
    ids=["healthy", "healthy on the port of probes", "probes on a free port", "not healthy"],
)
def test_the_service_of_the_environment_is_asked(answer: int, variables: dict[str, str], exit_status: int) -> None:
    with service(answer) as port:
        found = status(**{name: value.format(port=port) for name, value in variables.items()})

    assert found == exit_status


def test_a_port_where_nobody_listens_is_not_healthy() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))

        found = status(MACE_PORT=str(taken.getsockname()[1]))

    assert found == 1
