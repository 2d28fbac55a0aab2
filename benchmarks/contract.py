"""Does the service keep to its OpenAPI document, whatever is asked? Requests that schemathesis makes up, in numbers.

The same requests as in tests/contract/test_schemathesis.py, and as many more until there are enough: JSON and tables,
every phase (examples, coverage, fuzzing, stateful), every check, each run with another seed. The exit status is 1 if
schemathesis found anything: a 5xx, an answer that is not documented, a wrong one taken or a right one refused.
2,000 requests take about four minutes, the long run (`--requests 20000`) an hour.
"""

import sys
import tempfile
from pathlib import Path

from benchmarks.harness import Run, table
from tests.app.running import running
from tests.contract.document import unfolded
from tests.contract.generated import findings, with_json, with_tables

OPTIONS = {"requests": (2000, 1), "seed": (1, 1), "examples": (40, 1)}
"""Requests at least, the seed of the first run, and how many of each operation in one run at most."""


@table
def requests(run: Run):
    yield "seed | bodies | requests | faults found"
    asked, seed = 0, run.seed
    with tempfile.TemporaryDirectory() as name, running(Path(name)) as service:
        parts = {"JSON": with_json(unfolded()), "tables": with_tables(unfolded(), service)}
        while asked < run.requests:
            for kind, part in parts.items():
                most = ("--max-examples", str(run.examples))
                found = findings(part, service, Path(name), *most, seed=seed, patience=3600)
                asked += found.asked
                run.faults += bool(found.text)
                yield f"{seed} | {kind} | {found.asked:,} | {'yes' if found.text else 'none'}"
                print(found.text, file=sys.stderr, flush=True)
            seed += 1
    yield f"all | | {asked:,} | {'yes' if run.faults else 'none'}"
