"""``python -m benchmarks.mutants map | run | table | draw``: see the package."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path

from benchmarks.mutants import faults, run, sample, watch

REPOSITORY = Path(__file__).parents[2]


def main() -> None:
    """Do one step."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.mutants", description=__doc__)
    parser.add_argument("step", choices=("map", "run", "table", "draw"))
    parser.add_argument("--tree", type=Path, help="a clone with its own .venv, which is broken and mended")
    parser.add_argument(
        "--map", type=Path, default=Path("mutants-map.json"), help="which test enters which function"
    )
    parser.add_argument(
        "--output", type=Path, default=Path("mutants-outcomes.jsonl"), help="one line a fault"
    )
    parser.add_argument(
        "--part", default="0/1", help="i/n: every n-th fault, from the i-th, for several trees"
    )
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
        case "table":
            table(run.outcomes(asked.output))
        case "draw":
            kept = [fault for fault in faults.load() if not fault.name.startswith("drawn-")]
            faults.save([*kept, *sample.draw(REPOSITORY, 72)])


def table(results: list[run.Outcome]) -> None:
    """Print how many faults of each kind and place were found, and those that were not."""
    by_name = {fault.name: fault for fault in faults.load()}
    known = [(by_name[each.fault], each) for each in results if each.fault in by_name]
    for title, of in (
        ("kind", lambda fault: fault.kind),
        ("package", lambda fault: fault.function.partition("/")[0]),
        ("made", lambda fault: "drawn" if fault.name.startswith("drawn-") else "written"),
    ):
        totals = Counter(of(fault) for fault, _ in known)
        caught = Counter(of(fault) for fault, each in known if each.found_by)
        print(f"| {title} | faults | found |\n| --- | ---: | ---: |")
        print(
            "\n".join(f"| {name} | {totals[name]} | {caught[name]} |" for name in sorted(totals)), end="\n\n"
        )
    for fault, each in known:
        if not each.found_by:
            print(
                f"not found: {fault.name} in {fault.function}: {fault.old!r} -> {fault.new!r} ({each.tests} tests)"
            )


if __name__ == "__main__":
    main()
