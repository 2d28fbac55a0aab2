"""One way to every benchmark.

python -m benchmarks list                    # what there is, the tables and the settings of each
python -m benchmarks run NAME [--quick]      # make its tables; --help says what else may be asked
python -m benchmarks table NAME [TABLE]      # print those kept in docs/results; --docs puts them into docs
python -m benchmarks check                   # whether docs show what is kept there, and name commands that run
"""

import argparse
import sys
from collections.abc import Sequence

from benchmarks.harness import benchmarks, complaints, results, write_docs


def main(words: Sequence[str] | None = None) -> int:
    every = benchmarks()
    parser = argparse.ArgumentParser(
        "python -m benchmarks", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parts = parser.add_subparsers(dest="part", required=True)
    parts.add_parser("list", help="what there is")
    parts.add_parser("check", help="hold docs against the kept results")
    parts.add_parser("run", help="make a benchmark's tables", add_help=False).add_argument("name", choices=every)
    kept = parts.add_parser("table", help="print kept tables")
    kept.add_argument("name", choices=every)
    kept.add_argument("table", nargs="?")
    kept.add_argument("--docs", action="store_true", help="put them into the docs that show them")
    given, rest = parser.parse_known_args(words)
    if given.part == "run":
        return every[given.name].run(rest)
    if rest:
        parser.error(f"unrecognized arguments: {' '.join(rest)}")
    if given.part == "check":
        found = complaints()
        print("\n".join(found) or "docs show what is kept")
        return int(bool(found))
    if given.part == "list":
        for name, each in every.items():
            print(f"{name:<20} {each.about.splitlines()[0]}")
            settings = "".join(f" --{option.replace('_', '-')}" for option in each.options)
            print(f"{'':<20}   {', '.join(each.tables)}{settings}")
        return 0
    if given.docs:
        print("\n".join(write_docs(given.name)) or "docs show what is kept")
        return 0
    tables = results(given.name)
    if given.table and given.table not in tables:
        parser.error(f"no table {given.table} is kept; there are {', '.join(tables) or 'none'}")
    for name, lines in tables.items():
        if given.table in (None, name):
            print(f"## {name}", *lines, sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
