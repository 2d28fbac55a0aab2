"""A loop of cases is as strict as a test for each of them."""

import pytest

from tests.cases import each_case, refusals


def test_every_case_runs_and_those_that_fail_are_named() -> None:
    seen = []

    @each_case("number", range(5))
    def odd(number: int) -> None:
        seen.append(number)
        assert number % 2, f"{number} is even"

    with pytest.raises(pytest.fail.Exception) as caught:
        odd()

    assert seen == [0, 1, 2, 3, 4]
    title, *failures = str(caught.value).split("\n\n")
    assert title == "3 of 5 cases failed: 0; 2; 4"
    for number, failure in zip((0, 2, 4), failures, strict=True):
        assert failure.startswith(f"--- {number}\n")
        assert f"{number} is even" in failure


def test_an_exception_that_does_not_come_fails_its_case_only() -> None:
    @each_case("text", ["1", "x"])
    def refused(text: str) -> None:
        with pytest.raises(ValueError, match="invalid literal"):
            int(text)

    with pytest.raises(pytest.fail.Exception, match="1 of 2 cases failed: 1\n"):
        refused()


def test_cases_within_cases_are_named_too() -> None:
    @each_case("first", [1, 2])
    @each_case("second", [1, 2])
    def same(first: int, second: int) -> None:
        assert first == second

    with pytest.raises(pytest.fail.Exception, match="2 of 2 cases failed: 1; 2\n\n--- 1\n1 of 2 cases failed: 2"):
        same()


@each_case("first, second", (1, 2), (3, 4))
def test_parameters_that_are_not_of_the_case_are_fixtures(
    first: int, second: int, request: pytest.FixtureRequest
) -> None:
    assert second - first == 1
    assert request.fixturenames == ["request"]


def test_cases_of_a_function_are_made_when_the_test_runs() -> None:
    made: list[str] = []

    def cases() -> list[int]:
        made.append("now")
        return [1, 2]

    @each_case("number", cases)
    def odd(number: int) -> None:
        assert number % 2

    assert made == []
    with pytest.raises(pytest.fail.Exception, match="1 of 2 cases failed: 2"):
        odd()
    assert made == ["now"]


def test_no_cases_are_refused() -> None:
    with pytest.raises(AssertionError, match="would always pass"):
        each_case("name", [])


def test_a_refusal_is_held_to_its_error_words_and_field_and_called_by_them() -> None:
    class Refused(ValueError):
        field = "number"

    def refuse() -> None:
        raise Refused("number: got x")

    refusals("ask, field", [(refuse, "number")], error=Refused)()
    refusals("ask, words, field", [(refuse, "got [xy]", "number")], error=Refused)()
    refusals("text, error, words", [("x", ValueError, "'x'"), ("", ValueError, "''")], ask=int)()
    for case in (
        (refuse, ValueError, None, "number"),
        (refuse, Refused, "y", "number"),
        (refuse, Refused, None, "text"),
    ):
        _, error, *said = case
        label = ", ".join([error.__name__, *map(str, said)])
        with pytest.raises(pytest.fail.Exception, match=f"1 of 1 cases failed: {label}\n"):
            refusals("ask, error, words, field", [case])()
    with pytest.raises(pytest.fail.Exception, match="1 of 2 cases failed: Refused, text"):
        refusals("ask, field", (refuse, "number"), (refuse, "text"), error=Refused)()
