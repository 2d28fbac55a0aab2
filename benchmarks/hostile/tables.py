"""Hostile worlds: how often each tool is wrong, of itself and of what the best attacker can do.

Every tool that is installed sees the same samples, and so does an adapter of your own, which can be imported
(`--tools mace,yours.adapter`); `--worlds "no leak"` takes those with such a name. An end of 95% intervals may miss the
truth in 2.5% of the runs, a bound of epsilon at 95% in 5%; "!" marks what such an end exceeds once in a thousand
simulations. Forty minutes on two cores.
"""

import os
from functools import partial
from importlib.util import find_spec
from itertools import product
from statistics import fmean

from benchmarks.harness import Note, Refused, Run, Title, table
from benchmarks.hostile.judge import Broken, Judgement, adapter, judge
from benchmarks.hostile.worlds import WORLDS, World

OPTIONS = {
    "tools": ("mace,published,jaxprivacy,privacyguard,tfprivacy,sacroml,privacymeter,art", "mace,tfprivacy"),
    "worlds": ("", ""),
}
MODULES = {"jaxprivacy": "jax_privacy", "sacroml": "sacroml", "privacymeter": "privacy_meter", "art": "art"}
"""What has to be importable for a tool that is not part of this repository."""


def said(task: tuple[str, int], share: float) -> Judgement | str:
    """What a tool says of a world, or why it says nothing."""
    try:
        return judge(*task, share)
    except Broken as error:
        return f"broken: {error}"


@table
def tools(run: Run):
    """One row a tool: in how many worlds each statement is wrong too often, and what it finds; then one a world."""
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    asked = run.tools.split(",")
    try:
        names = {tool: adapter(tool).NAME for tool in asked}
    except Broken as error:
        raise Refused(f"--tools: {error}") from None
    there = [tool for tool in asked if tool not in MODULES or find_spec(MODULES[tool])]
    places = [place for place, world in enumerate(WORLDS) if run.worlds in world.name]
    if not places:
        known = ", ".join(sorted({world.name for world in WORLDS}))
        raise Refused(f"--worlds: none is called so; there are {known}")
    places = run.few([each for each in places if not run.quick or max(WORLDS[each].sizes) <= 1000], 8)
    plan = list(product(there, places))
    results = dict(zip(plan, run.map(partial(said, share=run.share), plan), strict=True))
    yield (
        "tool | worlds | lower end above the truth | upper end below its own attackers | below the best attacker | "
        "epsilon above the truth | the same of clusters, copies, looks | says a leak where none is | where one is | "
        "mean error | seconds"
    )
    for tool in there:
        of_tool = [(WORLDS[place], results[tool, place]) for place in places]
        answered = [pair for pair in of_tool if isinstance(pair[1], Judgement)]
        if answered:
            yield f"{names[tool]} | {len(answered)} of {len(places)} | {' | '.join(row(answered))}"
    for each in results.values():
        if isinstance(each, str) and each.startswith("broken"):
            yield Note(each)
    yield Title("worlds")
    yield f"world | sides | prior | truth | {' | '.join(names[tool] for tool in there)}"
    for place in places:
        world = WORLDS[place]
        cells = " | ".join(cell(world, results[tool, place]) for tool in there)
        yield f"{world.name} | {world.sizes[0]}:{world.sizes[1]} | {world.prior:g} | {world.truth:.3f} | {cells}"
    for tool in sorted(set(asked) - set(there)):
        yield Note(f"{names[tool]}: not asked; pip install {adapter(tool).NEEDS}")


def row(answered: list[tuple[World, Judgement]]) -> list[str]:
    """How often a tool was wrong too often, and what it says of leaks."""
    alone = [judged for world, judged in answered if world.independent]
    others = [judged for world, judged in answered if not world.independent]
    cells = [counted([each.beyond[i] for each in alone if each.misses[i] is not None]) for i in range(4)]
    stated = [each for each in others if any(each.misses[i] is not None for i in (0, 1, 3))]
    cells.append(counted([any(each.beyond[i] for i in (0, 1, 3)) for each in stated]))
    for leaks in (False, True):
        of_these = [judged for world, judged in answered if world.leaks is leaks]
        rates = [each.says_leak / each.runs for each in of_these if each.says_leak is not None]
        cells.append(f"{fmean(rates):.0%}" if rates else "-")
    errors = [judged.error for _, judged in answered if judged.error is not None]
    cells.append(f"{fmean(errors):.3f}" if errors else "-")
    return [*cells, f"{fmean(judged.seconds for _, judged in answered):.2g}"]


def counted(wrong: list[bool]) -> str:
    return f"{sum(wrong)} of {len(wrong)}" if wrong else "-"


def cell(world: World, result: Judgement | str) -> str:
    """The mean of what was said, and how often it was wrong, where too often."""
    if isinstance(result, str):
        return "-"
    estimate, *ends = result.value
    if ends == [None, None]:
        text = "-" if estimate is None else f"{estimate:.3f}"
    else:
        text = f"[{', '.join('' if end is None else f'{end:.3f}' for end in ends)}]"
    for at, name in enumerate(("above", "below", "misleads", "epsilon")):
        if result.beyond[at] and not (name == "misleads" and result.beyond[1]):
            text += f" {name} {result.misses[at] / result.runs:.0%}!"
    if result.says_leak is not None and not world.leaks and result.says_leak > 0.2 * result.runs:
        text += f" alarm {result.says_leak / result.runs:.0%}"
    return text
