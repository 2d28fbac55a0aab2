"""``estimators.python.dataclass`` does what the standard library's does, class by class, beside it."""

import copy
import dataclasses
import inspect
import pickle
from dataclasses import FrozenInstanceError, field
from typing import Any, Generic, TypeVar

import pytest

from estimators.python.dataclass import dataclass

T = TypeVar("T")
MAKERS = {"ours": dataclass, "standard": dataclasses.dataclass}


def classes(maker: Any, *, slots: bool) -> dict[str, type]:
    """A class of each kind that the product has, made by one of the two."""

    @maker(frozen=True, slots=slots)
    class Plain:
        """Two fields, one with a default."""

        a: int
        b: float = 0.5

    @maker(frozen=True, slots=slots)
    class Derived(Plain):
        """A field more."""

        c: tuple[int, ...] = ()

    @maker(frozen=True, slots=slots)
    class One:
        """One field, which is compared as a tuple."""

        a: float

    @maker(frozen=True, slots=slots)
    class Empty:
        """No field."""

    @maker(frozen=True, slots=slots)
    class Every(Generic[T]):
        """Fields of all kinds."""

        a: int
        b: list[int] = field(default_factory=list)
        hidden: int = field(default=3, repr=False, compare=False)
        total: int = field(init=False)
        rest: tuple[int, ...] = field(default=(), init=False)
        named: str | None = field(default=None, kw_only=True)
        needed: T = field(kw_only=True)

        def __post_init__(self) -> None:
            object.__setattr__(self, "total", self.a + sum(self.b))

    @maker(frozen=True, slots=slots)
    class Own:
        """Methods of its own stay."""

        a: int

        def __init__(self, a: int) -> None:
            object.__setattr__(self, "a", 2 * a)

        def __repr__(self) -> str:
            return "own"

        def __eq__(self, other: object) -> bool:
            return isinstance(other, Own)

        def __hash__(self) -> int:
            return 7

    @maker(frozen=True, slots=slots)
    class Alike:  # noqa: PLW1641  # the hash is made
        """Equal by a rule of its own, and hashed by its fields."""

        a: int

        def __eq__(self, other: object) -> bool:
            return isinstance(other, Alike)

    @maker(frozen=True, eq=False, slots=slots)
    class Same:
        """Equal to itself alone."""

        a: int

    @maker(frozen=True, repr=False, slots=slots)
    class Quiet:
        """Shown as any object."""

        a: int

    @maker(frozen=True, order=True, slots=slots)
    class Ordered:
        """With an order."""

        a: int

    every = Plain, Derived, One, Empty, Every, Own, Alike, Same, Quiet, Ordered
    return {each.__name__: each for each in every}


ARGUMENTS: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
    *(("Plain", (1,), {}), ("Plain", (1, 0.5), {}), ("Plain", (), {"a": 1, "b": 2.0})),
    *(("Derived", (1, 2.0, (3,)), {}), ("Derived", (1,), {"c": (1, 2)}), ("One", (float("nan"),), {})),
    *(("Empty", (), {}), ("Every", (1,), {"needed": 5}), ("Every", (1, [2, 3]), {"needed": 5, "named": "x"})),
    *(
        ("Every", (1,), {"hidden": 9, "needed": 5}), ("Own", (1,), {}), ("Own", (2,), {}),
        ("Alike", (2,), {}), ("Same", (1,), {}),
    ),
    *(("Ordered", (1,), {}), ("Ordered", (2,), {})),
]  # fmt: skip


def told(classes: dict[str, type]) -> list[object]:
    """What can be seen of each object, and of each pair of them."""
    made = [classes[name](*args, **named) for name, args, named in ARGUMENTS]
    seen: list[object] = []
    for one in made:
        shown = repr(one) if type(one).__name__ != "Same" else ""
        hashable = type(one).__name__ not in ("Every", "Same")
        seen += [shown.split(".")[-1], hash(one) if hashable and one == one else "", dataclasses.asdict(one)]
        copies = [copy.copy, copy.deepcopy, *([dataclasses.replace] if type(one).__name__ != "Every" else [])]
        # the standard library's are equal to a copy of theirs with a NaN until Python 3.12
        seen += [make(one) == one if type(one).__name__ != "One" else "" for make in copies]
    return [*seen, [[one == other for other in made] for one in made], made[-2] < made[-1]]


@pytest.mark.parametrize("slots", [True, False])
def test_objects_are_those_of_the_standard_library(slots: bool) -> None:
    ours, standard = (classes(maker, slots=slots) for maker in MAKERS.values())
    assert told(ours) == told(standard)
    for name, theirs in standard.items():
        assert str(inspect.signature(ours[name])) == str(inspect.signature(theirs)), name
        assert [repr(each) for each in dataclasses.fields(ours[name])] == [
            repr(each) for each in dataclasses.fields(theirs)
        ]
        assert ours[name].__match_args__ == theirs.__match_args__  # type: ignore[attr-defined]
        assert ours[name].__doc__ == theirs.__doc__
        assert ("__slots__" in vars(ours[name])) is ("__slots__" in vars(theirs)) is slots


def test_one_with_a_nan_is_equal_to_a_copy_with_the_same() -> None:
    one = classes(MAKERS["ours"], slots=True)["One"](float("nan"))
    assert copy.copy(one) == one != type(one)(float("nan"))


@pytest.mark.parametrize(("maker", "slots"), [("ours", True), ("ours", False), ("standard", False)])
def test_nothing_can_be_changed(maker: str, slots: bool) -> None:
    """The standard library's with slots answers an unknown name of a derived class by a TypeError about ``super``."""
    made = classes(MAKERS[maker], slots=slots)
    one = made["Derived"](1)
    for name in ("a", "c", "unknown"):
        with pytest.raises(FrozenInstanceError, match=f"cannot assign to field '{name}'"):
            setattr(one, name, 2)
        with pytest.raises(FrozenInstanceError, match=f"cannot delete field '{name}'"):
            delattr(one, name)

    class Open(made["Plain"]):  # type: ignore[misc]
        pass

    each = Open(1)
    each.more = 2
    assert each.more == 2
    with pytest.raises(FrozenInstanceError):
        each.a = 2
    for wrong in ((), (1, 2, 3)):
        with pytest.raises(TypeError):
            made["Plain"](*wrong)


@dataclass(frozen=True, slots=True)
class Kept:
    """Something that is sent to another process."""

    a: int
    b: list["Kept"] = field(default_factory=list)


@pytest.mark.parametrize(("base", "derived"), [("ours", "standard"), ("standard", "ours"), ("ours", "ours")])
def test_either_may_derive_from_the_other(base: str, derived: str) -> None:
    @MAKERS[base](frozen=True, slots=True)
    class Base:
        a: int

    @MAKERS[derived](frozen=True, slots=True)
    class Derived(Base):
        b: int = 2

    one = Derived(1)
    assert (one.a, one.b, dataclasses.replace(one, a=3)) == (1, 2, Derived(3, 2))
    for name in ("a", "b"):
        with pytest.raises(FrozenInstanceError):
            setattr(one, name, 2)
    with pytest.raises(TypeError, match="cannot inherit non-frozen dataclass from a frozen one"):

        @dataclasses.dataclass
        class _Open(Base):
            c: int = 3


@pytest.mark.parametrize("maker", MAKERS)
def test_none_derives_from_what_can_be_changed(maker: str) -> None:
    @MAKERS[maker](slots=True)
    class Open:
        a: int

    with pytest.raises(TypeError, match="cannot inherit frozen dataclass from a non-frozen one"):

        @MAKERS[maker](frozen=True)
        class _Closed(Open):
            b: int

    Open(1).a = 2


def test_pickles_and_circles() -> None:
    one = Kept(1, [Kept(2)])
    assert pickle.loads(pickle.dumps(one)) == one
    one.b.append(one)
    assert repr(one) == "Kept(a=1, b=[Kept(a=2, b=[]), ...])"
