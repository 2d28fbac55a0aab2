"""Many cases in one test: all of them run, and the failure names each case that failed."""

import functools
import inspect
import traceback
from collections.abc import Callable, Iterable
from typing import Any

import pytest

Test = Callable[..., None]


def each_case(names: str, *cases: Any) -> Callable[[Test], Test]:
    """Run a test once for each case, as `pytest.mark.parametrize` does, but as one test.

    Cases stand one after the other, or all in one list. Those that take long to make are a function: it is called when
    the test runs, not wherever tests are collected.

    The names are parameters of the test; what other parameters it has are fixtures, which all cases share.
    A case that fails does not keep the others from running.
    """
    parameters = [name.strip() for name in names.split(",")]

    def listed(several: Iterable[Any]) -> list[tuple[Any, ...]]:
        every = [(case,) if len(parameters) == 1 else tuple(case) for case in several]
        assert every, "a test without cases would always pass"
        return every

    given = cases[0] if len(cases) == 1 else cases
    known = None if callable(given) else listed(given)

    def decorate(test: Test) -> Test:
        signature = inspect.signature(test)
        assert set(parameters) <= signature.parameters.keys()

        @functools.wraps(test)
        def run(**fixtures: Any) -> None:
            failures: list[tuple[str, str]] = []
            every = listed(given()) if known is None else known
            for values in every:
                try:
                    test(**fixtures, **dict(zip(parameters, values, strict=True)))
                except (Exception, pytest.fail.Exception) as failure:
                    failures.append((", ".join(map(_label, values)), _description(failure)))
            if failures:
                title = f"{len(failures)} of {len(every)} cases failed: {'; '.join(name for name, _ in failures)}"
                pytest.fail("\n\n".join([title, *map("--- {0[0]}\n{0[1]}".format, failures)]), pytrace=False)

        fixtures = [each for name, each in signature.parameters.items() if name not in parameters]
        run.__signature__ = signature.replace(parameters=fixtures)  # type: ignore[attr-defined]
        return run

    return decorate


SAID = ("error", "words", "field", "index")
"""What a refusal is told by."""


class Refusal(dict[str, Any]):
    """A question that is refused, called by what is said of it."""

    def __str__(self) -> str:
        said = [self[name] for name in SAID if name in self]
        said += [value for name, value in self.items() if name not in ("ask", *SAID)]
        return ", ".join(value.__name__ if isinstance(value, type) else str(value) for value in said)


def refusals(names: str, *cases: Any, **alike: Any) -> Test:
    """A test that each question, `ask`, raises its `error` and no other, with its `words` (a pattern, None for any),
    and names its `field` and `index`.

    The names say what a case holds; what is alike in all of them is given once. Without words, the field is in them.
    What is neither of these is what the question is asked with.
    """
    columns = [name.strip() for name in names.split(",")]
    asked_with = [name for name in columns if name not in ("ask", *SAID)]
    given = cases[0] if len(cases) == 1 else cases
    if len(columns) == 1:
        given = [(case,) for case in given]

    @each_case("case", [Refusal(alike, **dict(zip(columns, case, strict=True))) for case in given])
    def test(case: Refusal) -> None:
        with pytest.raises(case["error"], match=case.get("words", case.get("field"))) as caught:
            case["ask"](*(case[name] for name in asked_with))

        assert type(caught.value) is case["error"], type(caught.value)
        said = {name: getattr(caught.value, name) for name in case.keys() & {"field", "index"}}
        assert said == {name: case[name] for name in said}

    return test


def _label(value: object) -> str:
    text = str(getattr(value, "__name__", value))
    text = text if text and text.isprintable() else repr(value)
    return text if len(text) <= 80 else f"{text[:79]}…"


def _description(failure: BaseException) -> str:
    """The failure with the lines of the test that led to it, without the loop above."""
    if isinstance(failure, pytest.fail.Exception) and not failure.pytrace:  # cases within cases
        return str(failure)
    place = failure.__traceback__.tb_next if failure.__traceback__ else None
    return "".join(traceback.format_exception(type(failure), failure, place)).rstrip()
