"""``dataclass``, as in the standard library, for classes that cannot be changed; made in a quarter of the time.

The library's own compiles six methods for each class, and to make some three hundred classes took a quarter of the time
of a short command. Here only ``__init__`` is compiled; the others are one function each, for every class alike. What
``dataclasses`` offers for such a class (``fields``, ``replace``, ``asdict``, pickles, copies) works as it does there.
Two are equal if the tuples of their fields are, as there until Python 3.12: a NaN in both is equal if it is the same.
What is imported without this library, such as the client, takes that one.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import MISSING, Field, FrozenInstanceError
from dataclasses import asdict as asdict
from dataclasses import field as field
from dataclasses import fields as fields
from dataclasses import replace as replace
from operator import attrgetter
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any


class _Factory:
    def __repr__(self) -> str:
        return "<factory>"


FACTORY = _Factory()  # stands for a default that is made for each object anew


def _frozen(*, eq: bool = True, repr: bool = True, slots: bool = False) -> Callable[[Any], Any]:  # noqa: A002
    """What ``dataclass(frozen=True)`` makes of a class, except for an order."""

    def class_of(cls: Any) -> Any:
        own = dict(vars(cls))
        of_bases = [vars(each).get("__dataclass_params__") for each in cls.__mro__[1:]]
        bases = [each for each in of_bases if each is not None]
        if not all(each.frozen for each in bases):
            raise TypeError("cannot inherit frozen dataclass from a non-frozen one")
        for each in bases:
            each.frozen = False  # for a moment: what is not made as frozen may not derive from what is
        new: Any = dataclasses.dataclass(init=False, repr=False, eq=False, slots=slots)(cls)
        for each in (*bases, new.__dataclass_params__):
            each.frozen = True
        every = fields(new)
        if "__init__" not in own:
            new.__init__ = _init(new, every)
        if repr and "__repr__" not in own:
            new.__repr__ = _repr
        if eq:
            values = _values([each.name for each in every if each.compare])
            if own.get("__hash__") is None:
                new.__hash__ = _hash(values)
            if "__eq__" not in own:
                new.__eq__ = _equal(values)
        new.__setattr__, new.__delattr__ = _refusals(new, {each.name for each in every})
        if slots and "__getstate__" not in own:
            new.__getstate__, new.__setstate__ = _state, _put_state
        return new

    return class_of


def _init(new: Any, every: tuple[Field[Any], ...]) -> Callable[..., None]:
    """``__init__`` with the fields' names and defaults, as ``help`` shows it."""
    scope: dict[str, Any] = {"_put": object.__setattr__, "_missing": FACTORY}
    positional, keywords, lines = ["self"], list[str](), list[str]()
    for each in every:
        name, default, value = each.name, "", each.name
        if each.default is not MISSING:
            scope[f"_of_{name}"] = each.default
            default = value = f"_of_{name}"
        elif each.default_factory is not MISSING:
            scope[f"_of_{name}"] = each.default_factory
            default, value = "_missing", f"_of_{name}()"
        if each.init:
            parameter = f"{name}={default}" if default else name
            (keywords if each.kw_only else positional).append(parameter)
            value = f"{value} if {name} is _missing else {name}" if default == "_missing" else name
        if each.init or default:
            lines.append(f" _put(self, {name!r}, {value})")
    if hasattr(new, "__post_init__"):
        lines.append(" self.__post_init__()")
    parameters = ", ".join([*positional, *(["*", *keywords] if keywords else [])])
    exec("\n".join([f"def __init__({parameters}):", *(lines or [" pass"])]), scope)
    init: Callable[..., None] = scope["__init__"]
    init.__qualname__ = f"{new.__qualname__}.__init__"
    init.__annotations__ = {each.name: each.type for each in every if each.init} | {"return": None}
    return init


def _values(names: list[str]) -> Callable[[Any], tuple[Any, ...]]:
    """What two of a class are compared by."""
    if len(names) > 1:
        return attrgetter(*names)
    return lambda self: tuple(getattr(self, name) for name in names)


def _equal(values: Callable[[Any], tuple[Any, ...]]) -> Callable[[Any, Any], bool]:
    def equal(self: Any, other: Any) -> bool:
        return values(self) == values(other) if other.__class__ is self.__class__ else NotImplemented

    return equal


def _hash(values: Callable[[Any], tuple[Any, ...]]) -> Callable[[Any], int]:
    return lambda self: hash(values(self))


def _refusals(new: Any, names: set[str]) -> tuple[Callable[..., None], Callable[..., None]]:
    """No field is set or deleted; a plain class that derives from it may add what it likes."""

    def put(self: Any, name: str, value: object) -> None:
        if type(self) is new or name in names:
            raise FrozenInstanceError(f"cannot assign to field {name!r}")
        super(new, self).__setattr__(name, value)

    def delete(self: Any, name: str) -> None:
        if type(self) is new or name in names:
            raise FrozenInstanceError(f"cannot delete field {name!r}")
        super(new, self).__delattr__(name)

    return put, delete


@recursive_repr()
def _repr(self: Any) -> str:
    parts = ", ".join(f"{each.name}={getattr(self, each.name)!r}" for each in fields(self) if each.repr)
    return f"{self.__class__.__qualname__}({parts})"


def _state(self: Any) -> list[Any]:
    return [getattr(self, each.name) for each in fields(self)]


def _put_state(self: Any, state: list[Any]) -> None:
    for each, value in zip(fields(self), state, strict=True):
        object.__setattr__(self, each.name, value)


if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(cls: type | None = None, /, *, frozen: bool = False, order: bool = False, **options: bool) -> Any:
        """The standard library's ``dataclass``; one that is frozen and has no order is made here."""
        if frozen and not order:
            return _frozen(**options)
        decorate = dataclasses.dataclass(frozen=frozen, order=order, **options)
        return decorate if cls is None else decorate(cls)
