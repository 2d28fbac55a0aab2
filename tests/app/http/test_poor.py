"""A system that has no room for a file and few descriptors to give, and a real service: what waits, what does not."""

import resource
import socket
from collections.abc import Iterator

import numpy as np
import pytest

from tests.app.http.asked import as_json, ok, post, slug, world
from tests.app.running import Running, ready, until

pytestmark = pytest.mark.slow

POOR = (
    "import resource, sys, app.cli; resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000));"
    "resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64)); sys.exit(app.cli.main(['serve']))"
)


@pytest.fixture(scope="module")
def poor(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with ready(tmp_path_factory.mktemp("poor"), ("-c", POOR)) as found:
        yield found


def test_a_body_for_which_there_is_no_room_is_told_to_come_again_and_an_answer_is_sent_all_the_same(
    poor: Running,
) -> None:
    scores = np.arange(24_000)
    refused = post(poor, "/v1/advantage", as_json(*world(10_000)))
    answer = post(poor, "/v1/individual-risk", as_json(scores[::2], scores[1::2]))

    assert (refused.status, slug(refused)) == (503, "busy")
    assert int(refused.headers["retry-after"]) >= 1
    assert len(answer.body) > 2**20
    assert ok(answer)["records"]


def test_more_connections_than_descriptors_fail_until_others_close(poor: Running) -> None:
    def alive() -> bool:
        try:
            return poor.ask("/healthz").status == 200
        except OSError:
            return False

    assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] >= 256
    for connection in [socket.create_connection(("127.0.0.1", poor.port), 10) for _ in range(100)]:
        connection.close()

    assert until(alive)
    assert poor.stop() == 0
