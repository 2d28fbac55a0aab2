"""Every address of an app, and which methods it takes: known before anything is routed.

So a request is counted and logged by its route's template, never by its path; an address that is open needs no
key; and 404, 405, HEAD and OPTIONS are answered in one place, for every route alike.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from re import Pattern
from typing import Any

from fastapi.routing import iter_route_contexts
from starlette.routing import BaseRoute

READING = frozenset({"GET", "HEAD"})


@dataclass(frozen=True, slots=True)
class Address:
    """One route's template, its operation, and the methods it takes."""

    template: str
    operation: str
    methods: frozenset[str]

    @property
    def allow(self) -> str:
        """The methods, as the header Allow lists them."""
        return ", ".join(sorted(self.methods | {"OPTIONS"}))


class Addresses:
    """The addresses of an app's routes, in their order; they are looked up first when a request is."""

    def __init__(self, routes: Sequence[BaseRoute]) -> None:
        self._routes = routes

    def find(self, path: str) -> Address | None:
        """Return the address a path belongs to."""
        if path in self._plain:
            return self._plain[path]
        return next((address for pattern, address in self._patterns if pattern.match(path)), None)

    @cached_property
    def _patterns(self) -> list[tuple[Pattern[str], Address]]:
        found: dict[str, tuple[Pattern[str], Address]] = {}
        for context in iter_route_contexts(self._routes):
            template = context.path_format
            if template is None or getattr(context, "path_regex", None) is None:
                continue
            methods = _methods(context.methods)
            if template in found:
                pattern, known = found[template]
                found[template] = (pattern, Address(template, known.operation, known.methods | methods))
            else:
                found[template] = (context.path_regex, Address(template, _operation(context), methods))
        return list(found.values())

    @cached_property
    def _plain(self) -> dict[str, Address]:
        """Templates without a parameter, each with the first route at that path: one look instead of many."""
        plain = (address.template for _, address in self._patterns if "{" not in address.template)
        return {
            path: next(address for pattern, address in self._patterns if pattern.match(path))
            for path in plain
        }


def local_path(scope: Any) -> str:
    """Return the path below the one under which a proxy shows the service."""
    path, root = str(scope["path"]), str(scope.get("root_path", ""))
    return path[len(root) :] if root and path.startswith(root + "/") else path


def _methods(methods: Iterable[str] | None) -> frozenset[str]:
    found = READING if methods is None else frozenset(methods)
    return found | READING if "GET" in found else found


def _operation(context: Any) -> str:
    return getattr(context, "operation_id", None) or context.name or "none"
