"""`mace demo`: a first answer, on built-in example scores."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def add(commands: Any) -> None:
    """Describe the command."""
    command = commands.add_parser("demo", help="a first answer, on built-in example scores")
    command.set_defaults(run=run)


def run(_options: argparse.Namespace) -> int:
    """Print a first answer on built-in example scores."""
    import io

    import msgspec
    import numpy as np

    from app.body import Body
    from app.call import NPY, Call
    from app.cli.printing import put
    from app.cli.showing import statement
    from app.operations import perform

    members, nonmembers = _demo_scores()
    file = io.BytesIO()
    np.save(file, np.concatenate([members, nonmembers]))
    query = (("members", str(members.size)), ("threshold", "0.1"))
    reply = perform(Call("advantage", NPY, query=query), Body.of(file.getvalue()))
    put(f"{members.size} member and {nonmembers.size} nonmember scores whose true advantage is 0.200\n")
    put("\n".join(statement(msgspec.json.decode(reply.body))))
    return 0


def _demo_scores() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return scores with known truth: members N(0.5067, 1), nonmembers N(0, 1).

    The best adversary's advantage is the total variation 2 Phi(0.5067 / 2) - 1 = 0.2000.
    """
    import numpy as np

    generator = np.random.default_rng(20_240)
    return generator.normal(0.5067, 1.0, 400), generator.normal(0.0, 1.0, 400)
