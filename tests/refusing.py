"""A store of objects on this machine that lets nobody in: where nobody answered, it would be tried for seconds."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Refusing(BaseHTTPRequestHandler):
    """It says of whatever it is asked for that it is not for everyone."""

    def do_HEAD(self) -> None:
        self.send_error(403)

    def do_GET(self) -> None:
        self.send_error(403)

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def refusing() -> Iterator[str]:
    """What follows the name of a bucket that it has."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Refusing) as server:
        serving = threading.Thread(target=server.serve_forever, args=[0.01])
        serving.start()
        yield f"endpoint_override=127.0.0.1:{server.server_port}&scheme=http&region=us-east-1"
        server.shutdown()
        serving.join()
