from __future__ import annotations

import pytest

from app.cli.inputs import in_shell
from app.cli.showing import Row, lines


def test_a_table_is_as_wide_as_its_longest_name_and_has_no_negative_zero() -> None:
    head, first, second = lines([Row("x" * 30, -1e-17, -0.5, 1.0, "note"), Row("y", upper=0.25)], "why")

    assert head == " " * 32 + " estimate    lower    upper   why"
    assert first == "x" * 30 + "  " + "    0.000   -0.500    1.000   note"
    assert second == "y" + " " * 31 + " " * 18 + "    0.250"


@pytest.mark.parametrize(
    ("service", "shell"),
    [
        ("say which with score=NAME, or several", "say which with --score NAME, or several"),
        ("needs members=N in the query string: its", "needs --member-count N: its"),
        ("estimator.kind and metric.beta", "--estimator and --beta"),
        ("post several to /v1/compare", "post several to mace compare"),
        ("ask /v1/advantage; the body is", "ask mace estimate; the input is"),
    ],
)
def test_problems_are_put_in_the_words_of_the_shell(service: str, shell: str) -> None:
    assert in_shell(service) == shell
