"""``python -m benchmarks.mutants map | run | draw``: see the package."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from benchmarks.mutants import faults, run, sample, watch

REPOSITORY = Path(__file__).parents[2]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.mutants", description=__doc__)
    parser.add_argument("step", choices=("map", "run", "draw"))
    parser.add_argument("--tree", type=Path, help="a clone with its own .venv, which is broken and mended")
    parser.add_argument("--map", type=Path, default=Path("mutants-map.json"), help="which test enters what")
    parser.add_argument("--output", type=Path, default=Path("mutants-outcomes.jsonl"), help="a line a fault")
    parser.add_argument("--part", default="0/1", help="i/n: every n-th fault, from the i-th")
    parser.epilog = "What stands behind -- goes to pytest: -- --fast, say."
    own, _, of_pytest = " ".join(sys.argv[1:]).partition(" -- ")
    asked, arguments = parser.parse_args(own.split()), of_pytest.split()
    place, parts = map(int, asked.part.split("/"))
    chosen = faults.load()[place::parts]
    match asked.step:
        case "map":
            watch.write(asked.tree.resolve(), asked.map, arguments)
        case "run":
            of_tree = watch.load(asked.map)
            run.run(asked.tree.resolve(), of_tree, chosen, asked.output, arguments)
            anyway = run.failing_anyway(asked.tree.resolve(), of_tree, run.outcomes(asked.output))
            print("\n".join(f"fails without any fault: {name}" for name in sorted(anyway)))
        case "draw":
            kept = [fault for fault in faults.load() if not fault.name.startswith("drawn-")]
            faults.save([*kept, *sample.draw(REPOSITORY, 72)])


if __name__ == "__main__":
    main()
