"""Hostile worlds: how often each tool is wrong, of itself and of what the best attacker can do.

    python -m benchmarks.hostile                                  # every tool that is installed
    python -m benchmarks.hostile --tools mace yours.adapter       # an adapter of your own, which can be imported
    python -m benchmarks.hostile --runs 0.2 --worlds "no leak"    # a fifth of the runs, worlds with such a name

Every tool sees the same samples. An end of 95% intervals may miss the truth in 2.5% of the runs, a bound of epsilon at
95% in 5%; "!" marks what such an end exceeds once in a thousand simulations.
"""

from __future__ import annotations

import argparse
import os
from concurrent.futures import ProcessPoolExecutor
from importlib.util import find_spec
from statistics import fmean

from benchmarks.hostile.judge import Broken, Judgement, adapter, checked_adapter, judge
from benchmarks.hostile.worlds import WORLDS, World

TOOLS = ("mace", "published", "jaxprivacy", "privacyguard", "tfprivacy", "sacroml", "privacymeter", "art")
MODULES = {"jaxprivacy": "jax_privacy", "sacroml": "sacroml", "privacymeter": "privacy_meter", "art": "art"}
"""What has to be importable for a tool that is not part of this repository."""

Results = dict[tuple[str, int], Judgement | str]


def main() -> None:
    """Ask every tool about every world on all cores, and print."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.hostile",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--tools", nargs="+", default=TOOLS, help=f"of {', '.join(TOOLS)}, or modules of yours"
    )
    parser.add_argument("--worlds", default="", help="only worlds whose name contains this")
    parser.add_argument("--runs", type=float, default=1.0, help="share of the full number of runs")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    if options.runs <= 0.0 or options.jobs < 1:
        parser.error("--runs needs a share above 0, --jobs at least one process")
    try:
        for tool in options.tools:
            checked_adapter(tool)
    except Broken as error:
        parser.error(f"--tools: {error}")
    tools = [tool for tool in options.tools if tool not in MODULES or find_spec(MODULES[tool])]
    places = [place for place, world in enumerate(WORLDS) if options.worlds in world.name]
    if not places:
        parser.error(
            f"--worlds: none is called so; there are {', '.join(sorted({world.name for world in WORLDS}))}"
        )
    plan = [(tool, place) for tool in tools for place in places]
    with ProcessPoolExecutor(options.jobs) as pool:
        tasks = {each: pool.submit(judge, *each, options.runs) for each in plan}
        results: Results = {}
        for each, task in tasks.items():
            try:
                results[each] = task.result()
            except Broken as error:
                print(f"{error}\n")
                results[each] = "broken"
    show_tools(tools, places, results)
    show_worlds(tools, places, results)
    for tool in set(options.tools) - set(tools):
        print(f"{adapter(tool).NAME}: not asked; pip install {adapter(tool).NEEDS}")


def show_tools(tools: list[str], places: list[int], results: Results) -> None:
    """One row a tool: in how many worlds each statement is wrong too often, and what it finds."""
    print(
        "| tool | worlds | lower end above the truth | upper end below its own attackers | below the best attacker "
        "| epsilon above the truth | the same of clusters, copies, looks | says a leak where none is | where one is "
        "| mean error | seconds |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    for tool in tools:
        asked = [
            (WORLDS[place], result)
            for place in places
            if isinstance(result := results[tool, place], Judgement)
        ]
        if not asked:
            continue
        cells = [
            _of(
                [
                    judged.beyond[i]
                    for world, judged in asked
                    if world.independent and _made(judged)[i] is not None
                ]
            )
            for i in range(4)
        ]
        others = [judged for world, judged in asked if not world.independent and any(_stated(judged))]
        cells.append(_of([any(judged.beyond[i] for i in (0, 1, 3)) for judged in others]))
        cells += [
            _rate([(judged.says_leak, judged.runs) for world, judged in asked if world.leaks is leaks])
            for leaks in (False, True)
        ]
        errors = [judged.error for _, judged in asked if judged.error is not None]
        cells.append(f"{fmean(errors):.3f}" if errors else "-")
        cells.append(f"{fmean(judged.seconds for _, judged in asked):.2g}")
        print(f"| {adapter(tool).NAME} | {len(asked)} of {len(places)} | {' | '.join(cells)} |")
    print()


def show_worlds(tools: list[str], places: list[int], results: Results) -> None:
    """One row a world: what each tool says on average, and where it is wrong too often."""
    print("| world | sides | prior | truth | " + " | ".join(adapter(tool).NAME for tool in tools) + " |")
    print("|---|---|---|---|" + "---|" * len(tools))
    for place in places:
        world = WORLDS[place]
        cells = [_cell(world, results[tool, place]) for tool in tools]
        sides = f"{world.sizes[0]}:{world.sizes[1]}"
        print(f"| {world.name} | {sides} | {world.prior:g} | {world.truth:.3f} | {' | '.join(cells)} |")
    print()


def _cell(world: World, result: Judgement | str) -> str:
    """The mean of what was said, and how often it was wrong, where too often."""
    if isinstance(result, str):
        return "-"
    estimate, lower, upper = result.value
    if lower is None and upper is None:
        text = "-" if estimate is None else f"{estimate:.3f}"
    else:
        text = f"[{'' if lower is None else format(lower, '.3f')}, {'' if upper is None else format(upper, '.3f')}]"
    for name, beyond, misses in zip(
        ("above", "below", "misleads", "epsilon"), result.beyond, _made(result), strict=True
    ):
        if beyond and not (name == "misleads" and result.beyond[1]):
            assert misses is not None
            text += f" {name} {misses / result.runs:.0%}!"
    if result.says_leak is not None and not world.leaks and result.says_leak > 0.2 * result.runs:
        text += f" alarm {result.says_leak / result.runs:.0%}"
    return text


def _made(judged: Judgement) -> tuple[int | None, int | None, int | None, int | None]:
    return judged.lower, judged.upper, judged.upper_of_any, judged.epsilon


def _stated(judged: Judgement) -> list[bool]:
    """Whether there is a lower end, an upper one, a bound of epsilon."""
    return [_made(judged)[i] is not None for i in (0, 1, 3)]


def _of(wrong: list[bool]) -> str:
    return f"{sum(wrong)} of {len(wrong)}" if wrong else "-"


def _rate(said: list[tuple[int | None, int]]) -> str:
    rates = [says / runs for says, runs in said if says is not None]
    return f"{fmean(rates):.0%}" if rates else "-"


if __name__ == "__main__":
    main()
