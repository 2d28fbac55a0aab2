"""A system that has no room for a file, and a real service: bodies wait for better times, answers go another way."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from tests.app.http.asked import as_json, post, world
from tests.app.running import running

NO_ROOM = (
    "import resource, sys, app.cli; resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000));"
    "sys.exit(app.cli.main(['serve']))"
)


def test_a_body_for_which_there_is_no_room_is_told_to_come_again_and_an_answer_is_sent_all_the_same(
    tmp_path: Path,
) -> None:
    scores = np.arange(24_000.0)
    sides = {"members": scores[::2].astype(int).tolist(), "nonmembers": scores[1::2].astype(int).tolist()}
    with running(tmp_path, ("-c", NO_ROOM)) as service:
        refused = post(service, "/v1/advantage", as_json(*world(10_000)))
        answer = post(service, "/v1/individual-risk", json.dumps(sides).encode())

    assert (refused.status, refused.json()["type"]) == (503, "urn:mace:problem:busy")
    assert int(refused.headers["retry-after"]) >= 1
    assert answer.status == 200
    assert len(answer.body) > 2**20
    assert answer.json()["records"]
