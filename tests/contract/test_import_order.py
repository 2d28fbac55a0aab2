"""The description of the API is the same whichever room was imported first: `typing` keeps one of equal unions."""

from __future__ import annotations

import subprocess
import sys

import pytest

DIGEST = "; import hashlib, json; from app.main import create_app; " + (
    "print(hashlib.sha256(json.dumps(create_app().openapi()).encode()).hexdigest())"
)


@pytest.mark.slow
def test_the_description_does_not_hang_on_what_was_imported_before() -> None:
    first = ("import macekit.operations.imported", "import app.main")

    running = [
        subprocess.Popen([sys.executable, "-c", each + DIGEST], stdout=subprocess.PIPE, text=True)
        for each in first
    ]
    digests = [each.communicate(timeout=120)[0] for each in running]

    assert [each.returncode for each in running] == [0, 0]
    assert digests[0] == digests[1] != ""
