"""`mace gate --sequential --state FILE`: a gate that is asked again and again as records come, and may stop early."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from app.cli.outputs import Target
    from app.cli.parsing import Parser

MOST = 2**26
"""Bytes that a state may have."""


def add_options(parser: Parser) -> None:
    """Where a run is kept."""
    group = parser.add_argument_group("a gate that is asked again as records come")
    group.add_argument(
        "--state",
        metavar="FILE",
        help="keep the run in this file (.json), which says --sequential: give new records only, look as often as you "
        "like, stop once it says pass or fail",
    )


def target_of_state(name: str) -> Target:
    """The file of a run."""
    from app.cli.outputs import target_of

    return target_of(name, (".json",), overwrite=True)


def read_state(target: Target) -> dict[str, Any]:
    """What a question of the run says beside its records."""
    from app.cli.inputs import Misuse

    if not target.path.exists():
        return {"anytime": True}
    try:
        if target.path.stat().st_size > MOST:
            raise ValueError
        state = json.loads(target.path.read_bytes())
    except (OSError, ValueError, RecursionError):
        state = None
    if not isinstance(state, dict):
        raise Misuse(f"{target.name}: is no state of mace gate; name a new file to begin a run")
    return {"anytime": True, "state": state}


def write_state(target: Target, answer: dict[str, Any]) -> None:
    """Keep the run for the next batch."""
    target.write(json.dumps(answer["state"], separators=(",", ":")).encode())
