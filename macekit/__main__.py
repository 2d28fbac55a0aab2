"""The command `mace`, also as `python -m macekit`: it has our `app` found, and leaves the rest to it.

The command is named and not imported: nothing else here knows `app`, and a program that imports `macekit` may have one.
"""

import atexit
import gc
import sys
from collections.abc import Sequence
from importlib import import_module

from macekit.own_packages import prefer_own


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status; without arguments, with those of this process."""
    prefer_own("app")
    atexit.register(gc.freeze)  # no garbage is looked for among what ends anyhow
    status: int = import_module("app.cli").main(arguments)
    return status


if __name__ == "__main__":
    sys.exit(main())
