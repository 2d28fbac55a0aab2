"""Does the service keep to its OpenAPI document, whatever is asked? Requests that schemathesis makes up, in numbers.

    python -m benchmarks.contract                      # 2,000 requests, about four minutes
    python -m benchmarks.contract --requests 20000     # the long run, about an hour

The same requests as in tests/contract/test_schemathesis.py, and as many more until there are enough: JSON and tables,
every phase (examples, coverage, fuzzing, stateful), every check, each run with another seed. The exit status is 1 if
schemathesis found anything: a 5xx, an answer that is not documented, a wrong one taken or a right one refused.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from tests.app.running import running
from tests.contract.document import unfolded
from tests.contract.generated import findings, with_json, with_tables

EXAMPLES = 40
"""Of each operation in one run, at most."""
PATIENCE = 3600


def main() -> int:
    """Print a row for each run."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--requests", type=int, default=2000, help="at least as many")
    parser.add_argument("--seed", type=int, default=1, help="of the first run")
    options = parser.parse_args()
    print("| seed | bodies | requests | faults found |\n|---|---|---|---|")
    asked, seed, bad = 0, options.seed, False
    with tempfile.TemporaryDirectory() as name, running(Path(name)) as service:
        parts = {"JSON": with_json(unfolded()), "tables": with_tables(unfolded(), service)}
        while asked < options.requests:
            for kind, part in parts.items():
                most = ("--max-examples", str(EXAMPLES))
                found = findings(part, service, Path(name), *most, seed=seed, patience=PATIENCE)
                asked += found.asked
                bad |= bool(found.text)
                print(
                    f"| {seed} | {kind} | {found.asked:,} | {'yes' if found.text else 'none'} |", flush=True
                )
                print(found.text, file=sys.stderr, flush=True)
            seed += 1
    print(f"| all | | {asked:,} | {'yes' if bad else 'none'} |")
    return bad


if __name__ == "__main__":
    sys.exit(main())
