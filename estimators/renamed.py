"""Keywords by the names that they had in earlier versions: taken for now, with a warning."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

Target = TypeVar("Target", bound=Callable[..., Any])


def renamed(former: str, current: str) -> Callable[[Target], Target]:
    """Let a function, or a class, take a keyword by its former name, too.

    Python says a ``FutureWarning`` once for each place in a program. Both names at once are a ``TypeError``.

    Args:
        former: What the keyword was called.
        current: What it is called.

    Example:
        >>> import warnings
        >>> from estimators.renamed import renamed
        >>> @renamed("threshold", "max_advantage")
        ... def excess(value, max_advantage):
        ...     return round(value - max_advantage, 2)
        >>> with warnings.catch_warnings(record=True) as said:
        ...     warnings.simplefilter("always")
        ...     excess(0.3, threshold=0.1)
        0.2
        >>> print(said[0].message)
        excess(): threshold is called max_advantage now; its former name will be dropped in a later version
    """

    def decorate(target: Target) -> Target:
        work: Callable[..., Any] = target.__init__ if isinstance(target, type) else target  # type: ignore[misc]

        @wraps(work)
        def understanding(*arguments: Any, **keywords: Any) -> Any:
            if former in keywords:
                if current in keywords:
                    raise TypeError(
                        f"{target.__name__}() got {current!r} and, by its former name, {former!r}"
                    )
                message = f"{target.__name__}(): {notice(former, current)}"
                warnings.warn(message, FutureWarning, stacklevel=2)
                keywords[current] = keywords.pop(former)
            return work(*arguments, **keywords)

        if isinstance(target, type):
            target.__init__ = understanding  # type: ignore[misc]
            return target
        return understanding  # type: ignore[return-value]

    return decorate


def notice(former: str, current: str) -> str:
    """What is said of a former name, by every door alike.

    Args:
        former: What it was called.
        current: What it is called.
    """
    return f"{former} is called {current} now; its former name will be dropped in a later version"
