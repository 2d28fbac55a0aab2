"""Which column of a table is what: as the caller named them, or by their usual names.

Column names came from the caller, too: what is sent gives the number of a column and never its name, and only who has
the table reads which names there are.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from types import MappingProxyType
from typing import TypeVar

from estimators.clusters.dependent_rows import says_whose
from estimators.python.dataclass import dataclass
from macekit.call import Call
from macekit.catalogue import ARRAYS, OF_GROUPS, SEVERAL
from macekit.decoding.body import column_options, table_options
from macekit.decoding.columns import MOST_CLUSTERS, MOST_QUERIES, require_name
from macekit.problems import Problem, fault, unknown_column
from macekit.schemas.query_string import COLUMN, WIDE, kinds, takes_arrays

NOTHING: Mapping[str, str] = MappingProxyType({})
MEMBER_NAMES = ("member", "members", "is_member", "membership", "is_train", "in_train", "split")
CLASS_LABEL = "label"  # what a column of classes is called, which is no membership

GROUP_NAME = "group"
SCORE_NAMES = ("score", "loss", "confidence", "logit", "probability")
"""What a column of scores is usually called; names such as ``my_score`` and ``score_2`` follow."""

ID_NAMES = frozenset({"", "id", "index", "unnamed: 0"})
"""What a column is called that numbers the records; it is taken for scores only where it is named."""

STEP_NAMES = frozenset({"step", "epoch", "checkpoint", "iteration", "round"})
TRUTH_NAMES = ("truth", "label", "labels", "target", "y", "y_true")
"""What the column of what is true is usually called, beside a model's predictions."""

USUAL_SCORES = f"{', '.join(SCORE_NAMES[:-1])} or {SCORE_NAMES[-1]}"
NUMBERS_ONLY = (
    "no column is left that could be the scores; a column called id or index, or whose values are all different whole "
    "numbers, may number the records"
)

MOST_UNNAMED = 8  # columns that nobody named and that are looked at


class Layout(ABC):
    """What the columns of a table are."""

    __slots__ = ()

    @property
    @abstractmethod
    def what(self) -> Mapping[int, str]:
        """The role of each column that is read, for messages, by its place."""

    @property
    def positions(self) -> list[int]:
        """Every column that is read, in the order of the table."""
        return sorted(self.what)

    @property
    def numeric(self) -> Collection[int]:
        """Columns whose text may spell numbers."""
        return self.what.keys()


@dataclass(frozen=True, slots=True)
class Roles(Layout):
    """Places of the columns; ``queries`` names those of scores if each is a query of its own.

    ``member_value`` is the value of the member column that members have, if the caller named it.
    """

    scores: tuple[int, ...]
    member: int
    group: int | None
    unit: int | None
    model: int | None = None
    clusters: tuple[int, ...] = ()
    queries: tuple[str, ...] = ()
    member_value: str | None = None

    @property
    def what(self) -> dict[int, str]:
        """The role of each column."""
        others = {"member": self.member, "group": self.group, "unit": self.unit, "model": self.model}
        return (
            dict.fromkeys(self.scores, "score")
            | dict.fromkeys(self.clusters, "cluster")
            | {place: name for name, place in others.items() if place is not None}
        )

    @property
    def numeric(self) -> tuple[int, ...]:
        """The scores."""
        return self.scores


@dataclass(frozen=True, slots=True)
class Wide(Layout):
    """Places of the columns of a table that has one for each side."""

    members: int
    nonmembers: int

    @property
    def what(self) -> dict[int, str]:
        """Both sides."""
        return dict(zip((self.members, self.nonmembers), WIDE, strict=True))


@dataclass(frozen=True, slots=True)
class OneSide(Layout):
    """Places of the score columns of a table that holds one side only."""

    scores: tuple[int, ...]

    @property
    def what(self) -> dict[int, str]:
        """Scores."""
        return dict.fromkeys(self.scores, "score")


def one_side(names: Sequence[str], call: Call) -> OneSide:
    """The score columns of a table of one side: those named by the caller, or all where none has a name."""
    scores = column_options(call).score
    if not any(names):
        names = [str(at) for at in range(len(names))]
        if len(names) == 1 or not scores:
            return OneSide(tuple(range(len(names))))
    if scores:
        return OneSide(tuple(find(names, name, "score") for name in scores))
    if len(names) > 1 and set(MEMBER_NAMES) & {name.lower() for name in names}:
        detail = (
            "a column says who is a member, and this is the table of one side; if it holds both, give it alone, else "
            "name its scores with score=NAME"
        )
        raise fault("bad-option", "score", detail)
    return OneSide(tuple(_usual_scores(names, [], False)))


def roles(names: Sequence[str], call: Call, member: int | None = None) -> Roles:
    """The roles of the columns of a table; ``member`` is the membership column where nobody names one."""
    options = column_options(call)
    columns = {"group": options.group, "unit": options.unit, "model": options.model}
    member_value = None
    if options.member is not None:
        name, member_value = _column_and_value(names, options.member)
        columns = {"member": name, **columns}
    places = {role: find(names, name, role) for role, name in columns.items() if name is not None}
    if "member" not in places:
        places["member"] = member if member is not None else _usual_member(names)
    clusters = tuple(find(names, name, "cluster") for name in options.cluster)
    if len(clusters) > MOST_CLUSTERS:
        raise fault("bad-option", "cluster", f"got {len(clusters)} columns, need one, or two that cross")
    others = [*places.values(), *clusters]
    several = call.operation in SEVERAL and not (call.operation in OF_GROUPS and options.group is not None)
    if options.score:
        scores = [find(names, name, "score") for name in options.score]
    else:
        scores = _usual_scores(names, others, several)
        steps = [at for at in scores if names[at].lower() in STEP_NAMES] if call.operation in OF_GROUPS else []
        if several and steps and len(scores) > 1:
            words = f"column {steps[0]} may say each row's step: name it (in the shell: --by), or name the scores"
            raise fault("missing-field", "group", words)
    _require_distinct([*(("score", at) for at in scores), *places.items(), *(("cluster", at) for at in clusters)])
    if several and len(scores) > MOST_QUERIES:
        raise fault("out-of-range", "score", f"got {len(scores)} columns, at most {MOST_QUERIES}")
    queries = tuple(require_name(names[at], i) for i, at in enumerate(scores)) if several else ()
    if len(set(queries)) < len(queries):
        raise fault("bad-option", "score", "two columns have the same name")
    group, unit, model = (places.get(role) for role in ("group", "unit", "model"))
    return Roles(tuple(scores), places["member"], group, unit, model, clusters, queries, member_value)


def _require_distinct(roles: Iterable[tuple[str, int]]) -> None:
    """A column has one role."""
    role_of: dict[int, str] = {}
    for role, at in roles:
        if at in role_of:
            what = f"{role_of[at]}, {role}"
            detail = f"{what}: one column is named for two of them; leave one out, or name another"
            raise Problem("bad-option", detail)
        role_of[at] = role


def wide(names: Sequence[str], call: Call) -> Wide | None:
    """The columns of a table that has one for each side; None if the caller names none."""
    options = column_options(call)
    columns = dict(zip(WIDE, (options.members_column, options.nonmembers_column), strict=True))
    if not any(name is not None for name in columns.values()):
        return None
    for role, name in columns.items():
        if name is None:
            raise fault("missing-field", role, f"{' and '.join(WIDE)} go together")
    for role in ("member", "group", "unit", "cluster", "model", "score"):
        if getattr(options, role) not in (None, ()):
            raise fault("bad-option", role, f"does not go with {' and '.join(WIDE)}")
    if call.operation in SEVERAL:
        raise fault("bad-option", WIDE[0], "a comparison needs a member column")
    members, nonmembers = (find(names, name or "", role) for role, name in columns.items())
    if members == nonmembers:
        raise Problem("bad-option", f"{', '.join(WIDE)}: one column is named for both sides", field=WIDE[0])
    return Wide(members, nonmembers)


def _column_and_value(names: Sequence[str], member: str) -> tuple[str, str | None]:
    """A column's name, or ``COLUMN=VALUE`` in parts; the longest name that is a column's wins."""
    if member in names:
        return member, None
    ends = [at for at, letter in enumerate(member) if letter == "=" and member[:at] in names]
    return (member[: ends[-1]], member[ends[-1] + 1 :].strip()) if ends else (member, None)


@dataclass(frozen=True, slots=True)
class Suggestion:
    """Places of the columns by what they are taken for; ``reason`` says why no column is taken for scores."""

    scores: list[int] | None
    member: int | None
    group: int | None
    truth: int | None
    ids: list[int]
    reason: str | None


def suggestion(names: Sequence[str], numbering: Collection[int] = ()) -> Suggestion:
    """What the columns are taken for where nobody names them; None where that is not clear.

    ``numbering`` are columns that are not suggested by their type or values, such as different whole numbers. The
    service itself takes no group unless told to; a column called so is one that people mean. Where several columns
    have usual names of scores, the service asks which; the first of them is suggested.
    """
    lower = [name.lower() for name in names]
    group = lower.index(GROUP_NAME) if lower.count(GROUP_NAME) == 1 else None
    member = None
    with suppress(Problem):
        member = _usual_member(names)
    others = [place for place in (member, group) if place is not None]
    truths, ids = truth_columns(names), _ids(names)
    suggested = partial(Suggestion, member=member, group=group, truth=truths[0] if len(truths) == 1 else None, ids=ids)
    usual = _called_scores(names, others)
    if usual:
        return suggested(usual[:1], reason=None)
    free = sorted(set(range(len(names))) - {*others, *numbering, *ids})
    if len(free) == 1:
        return suggested(free, reason=None)
    several = f"{len(free)} columns could be the scores, and none is called {USUAL_SCORES}"
    return suggested(None, reason=several if free else NUMBERS_ONLY)


def find(names: Sequence[str], name: str, role: str) -> int:
    """The place of the one column of this name."""
    places = [at for at, each in enumerate(names) if each == name]
    if not places:
        raise unknown_column(role, name, names)
    if len(places) > 1:
        detail = f"columns {places[0]} and {places[1]} both have this name; give each its own"
        raise fault("bad-option", role, detail)
    return places[0]


def _usual_member(names: Sequence[str]) -> int:
    lower = [name.lower() for name in names]
    if {"members", "nonmembers"} <= set(lower) and MEMBER_NAMES[0] not in lower:
        detail = (
            "columns are called members and nonmembers; if each holds the scores of a side, say so with "
            "members_column=NAME and nonmembers_column=NAME, else name the one of membership with member=NAME"
        )
        raise fault("missing-field", "member", detail)
    for usual in MEMBER_NAMES:
        places = [at for at, name in enumerate(lower) if name == usual]
        if len(places) > 1:
            say = "give each its own name" if len({names[at] for at in places}) == 1 else "say which with member=NAME"
            words = f"columns {places[0]} and {places[1]} are both called {usual}; {say}"
            raise fault("bad-option", "member", words)
        if places:
            return places[0]
    if CLASS_LABEL in lower:
        detail = (
            f"no column is called {', '.join(MEMBER_NAMES)}; "
            f"column '{CLASS_LABEL}' is not taken for membership; name it with member={CLASS_LABEL}"
        )
        raise fault("missing-field", "member", detail)
    which = f"say with member=NAME which of the {len(names)} columns tells members from nonmembers"
    if len(names) < 2:
        which = "need one, beside that of scores; in CSV a comma, a semicolon or a tab stands between columns"
    if any(re.fullmatch(r"[+-]?\d*[.,]\d+([eE][+-]?\d+)?", name) for name in names):
        which = "the first line looks like values, and a header is needed that names the columns"
    raise fault("missing-field", "member", f"no column is called {', '.join(MEMBER_NAMES)}; {which}")


def _usual_scores(names: Sequence[str], others: list[int], several: bool) -> list[int]:
    roles_in_use = {*others, *_ids(names)}
    free = [at for at in range(len(names)) if at not in roles_in_use]
    if several and free:
        return free
    usual = _called_scores(names, others)
    if usual and (len(usual) == 1 or names[usual[0]].lower() == SCORE_NAMES[0]):
        return usual[:1]
    if len(free) == 1:
        return free
    for name in (names[at] for at in free if names[at].lower() in SCORE_NAMES):
        find(names, name, "score")  # refuses two of one name
    if not free:
        raise fault("missing-field", "score", "every column is taken for something else; need one of scores")
    raise fault(
        "missing-field",
        "score",
        f"{len(free)} columns could be the scores; say which with score=NAME, or several with score=NAME,NAME",
    )


def _called_scores(names: Sequence[str], others: Collection[int]) -> list[int]:
    """Columns with a usual name of scores, the most usual first; one that stands twice is not clear."""
    lower = [name.lower() for name in names]
    times = Counter(lower)
    free = [at for at, name in enumerate(lower) if times[name] == 1 and at not in others]
    exact = [at for name in SCORE_NAMES for at in free if lower[at] == name]
    near = [at for at in free if lower[at].endswith("_score") or lower[at].startswith("score_")]
    return exact + near


def truth_columns(names: Sequence[str]) -> list[int]:
    """Columns whose names say that they hold what is true."""
    return [at for at, name in enumerate(names) if name.lower() in TRUTH_NAMES]


def _ids(names: Sequence[str]) -> list[int]:
    """Columns whose names say that they number the records."""
    return [at for at, name in enumerate(names) if (low := name.strip().lower()) in ID_NAMES or low.endswith("_id")]


@dataclass(frozen=True, slots=True)
class Fields(Layout):
    """Places of the columns of each array."""

    places: Mapping[str, tuple[int, ...]]

    @property
    def what(self) -> dict[int, str]:
        """The array of each column."""
        return {place: name for name, places in self.places.items() for place in places}


@dataclass(frozen=True, slots=True)
class AllColumns(Layout):
    """The layout of a table of which every column is read."""

    names: tuple[str, ...]

    @property
    def what(self) -> dict[int, str]:
        """What columns are called in messages, which never quote their names."""
        return {place: f"column {place}" for place in range(len(self.names))}


@dataclass(frozen=True, slots=True)
class UnnamedColumns(Layout):
    """Places of columns that nobody named and that seem to say whose a row is, or of which side, and their names."""

    places: list[int]
    names: list[str]

    @property
    def what(self) -> dict[int, str]:
        """What they are called in messages."""
        return dict.fromkeys(self.places, "spare")

    @property
    def numeric(self) -> tuple[int, ...]:
        """None: they are labels."""
        return ()


def unnamed_columns(names: Sequence[str], layout: TableLayout | OneSide, call: Call) -> UnnamedColumns:
    """The first of these columns that have no part in the question; of sides only where nobody named that column."""
    others = [at for at in range(len(names)) if at not in set(layout.positions)]
    side_is_known = isinstance(layout, OneSide) or column_options(call).member is not None
    sides = () if side_is_known else MEMBER_NAMES
    places = [at for at in others if says_whose(names[at]) or names[at].lower() in sides][:MOST_UNNAMED]
    return UnnamedColumns(places, [names[at] for at in places])


def with_constants(names: Sequence[str], constants: Mapping[str, str]) -> list[str]:
    """The names of all columns, those that a file has itself first."""
    twice = next((name for name in constants if name in names), None)
    if twice is not None:
        raise Problem("bad-records", "a folder is called like a column of the files in it; rename one")
    return [*names, *constants]


TableLayout = Roles | Wide | Fields  # what the columns of a body are to a question

C = TypeVar("C", bound=Layout)
Choose = Callable[[Sequence[str]], C]  # says what the columns of these names are


def choice(names: Sequence[str], call: Call, member: int | None = None) -> TableLayout:
    """What the columns of a table are to this question; ``member`` as ``roles`` takes it."""
    if takes_arrays(call.operation):
        return fields(names, call)
    return wide(names, call) or roles(names, call, member)


def fields(names: Sequence[str], call: Call) -> Fields:
    """The arrays of a table: those that were named; else columns called like arrays; else all of it is the first."""
    options = table_options(call)
    main, *_ = ARRAYS[call.operation]
    if not names:
        raise fault("missing-field", main, "the table has no columns")
    by_name = {name.lower(): place for place, name in enumerate(names)}
    arrays = {
        main if option == COLUMN else option: tuple(find(names, name.strip(), option) for name in value.split(","))
        for option, value in options.items()
    } or {name: (by_name[name],) for name in ARRAYS[call.operation] if name in by_name}
    if not arrays:
        arrays = {main: _usual(names, call.operation, main)}
    places = [place for each in arrays.values() for place in each]
    if len(set(places)) < len(places):
        detail = f"{', '.join(options)}: one column is named twice"
        raise Problem("bad-option", detail, field=next(iter(options)))
    return Fields(arrays)


def _usual(names: Sequence[str], operation: str, main: str) -> tuple[int, ...]:
    """All columns, if they may be rows of numbers; else the only one."""
    if "rows" in kinds(operation, main) or len(names) == 1:
        return tuple(range(len(names)))
    detail = f"{len(names)} columns could be the {main}; say which with {COLUMN}=NAME"
    raise fault("missing-field", COLUMN, detail)
