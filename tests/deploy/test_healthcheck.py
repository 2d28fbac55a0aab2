import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

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


def test_a_service_that_answers_on_the_port_of_its_environment_is_healthy():
    with service(200) as port:
        found = status(MACE_HOST="0.0.0.0", MACE_PORT=str(port))

    assert found == 0


def test_the_port_of_probes_is_asked_where_there_is_one():
    with service(200) as port:
        found = status(MACE_PORT="1", MACE_PROBE_PORT=str(port))

    assert found == 0


def test_a_service_that_answers_otherwise_is_not_healthy():
    with service(503) as port:
        found = status(MACE_HOST="0.0.0.0", MACE_PORT=str(port))

    assert found == 1


def test_a_port_where_nobody_listens_is_not_healthy():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))

        found = status(MACE_PORT=str(taken.getsockname()[1]))

    assert found == 1
