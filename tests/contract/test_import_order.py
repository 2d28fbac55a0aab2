"""The description of the API is the same whichever room was imported first: `typing` keeps one of equal unions."""

import json
import subprocess
import sys

import pytest

from tests.app.running import Running

PRINTED = """
import macekit.operations.imported, json
from app.main import create_app
print(json.dumps(create_app().openapi()))
"""


@pytest.mark.slow
def test_the_description_does_not_hang_on_what_was_imported_before(served: Running) -> None:
    """That of a service, which imports what it needs to listen first, is the same to the order of its fields."""
    done = subprocess.run([sys.executable, "-c", PRINTED], capture_output=True, text=True, check=True, timeout=120)

    assert done.stdout.strip() == json.dumps(served.ask("/openapi.json").json())
