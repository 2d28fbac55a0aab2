"""Ours of two packages of one name: Python finds what is installed beside `macekit`, whatever stands before it.

The folder that Python is started in and `PYTHONPATH` come before what is installed, and `app` and `estimators` are
names that others have, too. `sys.path` is left as it is: everything else is found where it was. In a wheel `app` lies
within `macekit`, so that it never stands where another distribution puts one of its own.

SciPy looks at every name of NumPy's and so imports its compiler of Fortran and its tools for tests: in processes of
`app` these wait here until something of theirs is used.
"""

import os
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import LazyLoader
from types import ModuleType

MACEKIT = os.path.dirname(os.path.realpath(__file__))


def prefer_own(name: str) -> None:
    """Have a package found beside this one; ``ImportError`` if another one of its name is imported already."""
    other = sys.modules.get(name)
    path = None if other is None else getattr(other, "__file__", None)
    own = os.path.join(_home(name), name, "__init__.py")
    if other is not None and (path is None or os.path.realpath(path) != own):
        message = (
            f"macekit needs its own package {name!r}, and another one is imported already: {path}; "
            "rename that one, or use macekit in a process of its own"
        )
        raise ImportError(message, name=name, path=path)
    _OwnFinder.names.add(name)
    if _OwnFinder not in sys.meta_path:
        sys.meta_path.insert(0, _OwnFinder)


def put_off(*names: str) -> None:
    """Have modules that are not imported yet run when something of theirs is first used."""
    _LateFinder.names.update(names)
    if _LateFinder not in sys.meta_path:
        sys.meta_path.insert(0, _LateFinder)


def _home(name: str) -> str:
    """The folder that a package of ours is in: `macekit`, or the one beside it."""
    return MACEKIT if os.path.isdir(os.path.join(MACEKIT, name)) else os.path.dirname(MACEKIT)


class _OwnFinder:
    """Finds the packages that were preferred, in the folders that ours are in, and nothing else."""

    names: set[str] = set()  # noqa: RUF012 - of the process, as `sys.meta_path` is

    @classmethod
    def find_spec(
        cls, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """What Python asks for each name that is not imported yet."""
        return PathFinder.find_spec(name, [_home(name)]) if name in cls.names else None


class _LateFinder:
    """Finds the modules that were put off where they are, and has their loaders wait."""

    names: set[str] = set()  # noqa: RUF012 - of the process, as `sys.meta_path` is

    @classmethod
    def find_spec(
        cls, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """What Python asks for each name that is not imported yet."""
        spec = PathFinder.find_spec(name, path) if name in cls.names else None
        if spec is not None and spec.loader is not None:
            spec.loader = LazyLoader(spec.loader)
        return spec
