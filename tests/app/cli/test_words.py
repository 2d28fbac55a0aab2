from __future__ import annotations

import json

import pytest

from app.cli.table import Row, lines
from app.cli.wording import in_shell
from app.cli.words import nearest, plain, plain_json, shown


def test_what_a_terminal_would_obey_is_spelled_out() -> None:
    assert shown("a\x1b[2J\r\n\x9b\u202e\ufeff\udcffz") == r"a\x1b[2J\r\n\x9b\u202e\ufeff\udcffz"
    assert plain("größer 漢字 😀 ε") == "größer 漢字 😀 ε"


def test_a_long_name_is_cut() -> None:
    assert shown("x" * 5000) == "x" * 59 + "…"


def test_json_says_the_same_without_such_letters() -> None:
    text = "\x7f\x85\x9b\u200b\u2028\u202e\u2066\ufeff größer"

    made = plain_json(json.dumps(text, ensure_ascii=False))

    assert json.loads(made) == text
    assert made.endswith('größer"')
    assert plain(made) == made


def test_the_nearest_name_is_suggested_and_nothing_if_none_is_near() -> None:
    assert nearest("--treshold", ["--threshold", "--prior"]) == "; did you mean --threshold?"
    assert nearest("--xyz", ["--threshold", "--prior"]) == ""


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
