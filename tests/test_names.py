"""Bare participles among names are counted wherever a name is bound."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]

CODE = """
from os import path as found

def told(given, *, plain, listed_by=None):
    kept = given.value
    plain.held = kept
    for seen in listed_by:
        with open(seen) as opened:
            pass
    [done for done in plain]
    return found

class Asked:
    pass
"""

LIST = """
import sys
sys.path.insert(0, sys.argv[1])
from pathlib import Path
from names import participles
total, places = participles(Path(sys.argv[2]), ("package",))
print(total, *sorted(place.rpartition(" ")[2] for place in places))
"""


def test_a_participle_counts_wherever_it_is_bound_and_a_name_that_says_more_does_not(tmp_path: Path) -> None:
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "module.py").write_text(CODE, encoding="utf-8")

    done = subprocess.run(
        [sys.executable, "-c", LIST, ROOT / "scripts", tmp_path], capture_output=True, text=True, check=True
    )

    assert done.stdout.split() == [
        "11", "Asked", "done", "found", "given", "held", "kept", "opened", "seen", "told",
    ]  # fmt: skip
