"""What can go wrong, here and on a server, as two exceptions.

Exception
├── MaceProblem        the question or the records, or the server said no: an RFC 9457 problem
└── MaceUnreachable    no answer came: no connection, no trust in it, or nothing in time
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from macekit.call import JSON, PROBLEM, Reply

if TYPE_CHECKING:
    from estimators import MaceError

OK = 200


class MaceProblem(ValueError):
    """A problem with the question or the records, or a refusal of the server, as the service words it.

    No text repeats a score. docs/errors.md lists every kind.

    Attributes:
        document: The whole problem as a dict (RFC 9457).
        retry_after: Seconds after which the server wants to be asked again; None if it did not say.
        detail: What is wrong, in words.
        type: A name for programs, which does not change between versions.
        title: What kind of problem it is, in words.
        status: The status that HTTP has for it.
        field: The argument at fault, if it is one.
        index: The record at fault, from 0, if it is one.
        instance: The request at a server, as its log has it.

    Example:
        >>> import macekit
        >>> try:
        ...     macekit.estimate([0.9, 0.8, float("nan")] * 3, [0.1, 0.2, 0.3] * 3)
        ... except macekit.MaceProblem as problem:
        ...     print(problem.kind, problem.field, problem.index)
        not-finite members 2
    """

    def __init__(self, document: Mapping[str, Any], retry_after: int | None = None) -> None:
        self.document = dict(document)
        self.retry_after = retry_after
        self.detail: str = self.document.get("detail", "")
        self.type: str = self.document.get("type", "about:blank")
        self.title: str = self.document.get("title", "")
        self.status: int | None = self.document.get("status")
        self.field: str | None = self.document.get("field")
        self.index: int | None = self.document.get("index")
        self.instance: str | None = self.document.get("instance")
        super().__init__(self.detail)

    def __reduce__(self) -> tuple[object, ...]:
        return MaceProblem, (self.document, self.retry_after)

    @property
    def kind(self) -> str:
        """The last word of the type: ``not-finite``."""
        return self.type.rpartition(":")[2]

    @classmethod
    def of(cls, reply: Reply) -> MaceProblem:
        """The problem that a reply is; of what a proxy says in its own words, only the status is told.

        Args:
            reply: What the service answered.
        """
        detail = f"the answer has status {reply.status} and is none of mace's; a proxy may have given it"
        here = {} if reply.local is None else {"detail": reply.local}
        document = (_document(reply) or {"detail": detail}) | {"status": reply.status} | here
        return cls(document, reply.retry_after)


class MaceUnreachable(ConnectionError):
    """No answer came; whether the question was answered is unknown, and asking again changes nothing.

    Example:
        >>> import macekit
        >>> nobody = macekit.Mace("http://127.0.0.1:9", retries=0)  # nothing listens there
        >>> try:
        ...     nobody.plan(expected=0.3, max_advantage=0.1)
        ... except macekit.MaceUnreachable:
        ...     print("no answer")
        no answer
    """


def fault(kind: str | type[MaceError], field: str, text: str, index: int | None = None) -> Exception:
    """That of ``macekit.problems``, which loads the library: who asks a server needs it once something is wrong."""
    from macekit import problems

    return problems.fault(kind, field, text, index)


@contextmanager
def as_mace_problems() -> Iterator[None]:
    """Convert errors raised here to the MaceProblem that the service would answer with."""
    from estimators import MaceError
    from macekit.problems import Problem

    try:
        yield
    except Problem as problem:
        raise MaceProblem.of(problem.reply()) from None
    except MaceError as error:
        raise MaceProblem.of(Problem.of(error).reply()) from None
    except UnicodeEncodeError:
        detail = "a name or an option holds half of a surrogate pair: no text that could be sent"
        raise MaceProblem.of(Problem("malformed-body", detail).reply()) from None


def answer_of(operation: str, reply: Reply) -> dict[str, Any]:
    """The answer that a reply holds; a problem is raised, and so is what only looks like an answer."""
    from macekit.schemas.by_operation import ANSWERS

    answer = _read(reply) if reply.status == OK and reply.media_type == JSON else None
    if answer is None or not answer.keys() >= ANSWERS[operation].__required_keys__:
        raise MaceProblem.of(reply)
    return answer


def _document(reply: Reply) -> dict[str, Any] | None:
    """The problem document, if it is one whose words are words."""
    document = _read(reply) if reply.media_type == PROBLEM else None
    return document if document and all(isinstance(document.get(name), str) for name in ("type", "detail")) else None


def _read(reply: Reply) -> dict[str, Any] | None:
    """The JSON object in a body that anybody may have sent; None if there is none."""
    import msgspec

    try:
        content = msgspec.json.decode(reply.body)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None
    return content if isinstance(content, dict) else None
