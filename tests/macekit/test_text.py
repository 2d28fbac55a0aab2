import json
from unicodedata import category

from macekit.text import CONTROLS, escape_controls, escape_controls_in_json, nearest, printable


def test_what_a_terminal_would_obey_is_spelled_out() -> None:
    assert printable("a\x1b[2J\r\n\x9b\u202e\ufeff\udcffz") == r"a\x1b[2J\r\n\x9b\u202e\ufeff\udcffz"
    assert escape_controls("größer 漢字 😀 ε") == "größer 漢字 😀 ε"


def test_controls_and_no_other_characters_are_spelled_out() -> None:
    every = [chr(code) for code in range(2**16)]

    assert [each for each in every if (escape_controls(each) != each) != (category(each) in CONTROLS)] == []


def test_a_long_name_is_cut() -> None:
    assert printable("x" * 5000) == "x" * 59 + "…"


def test_json_says_the_same_without_such_letters() -> None:
    text = "\x7f\x85\x9b\u200b\u2028\u202e\u2066\ufeff größer"

    made = escape_controls_in_json(json.dumps(text, ensure_ascii=False))

    assert json.loads(made) == text
    assert made.endswith('größer"')
    assert escape_controls(made) == made


def test_the_nearest_name_is_suggested_and_nothing_if_none_is_near() -> None:
    assert nearest("--treshold", ["--threshold", "--prior"]) == "; did you mean --threshold?"
    assert nearest("--xyz", ["--threshold", "--prior"]) == ""


def test_a_name_in_capitals_or_with_an_ending_is_as_near_as_the_library_says() -> None:
    assert nearest("F1", ["f1", "precision"]) == "; did you mean f1?"
    assert nearest("f1_score", ["f1", "precision"]) == "; did you mean f1?"


def test_what_is_spelled_out_is_not_longer_either() -> None:
    assert len(printable("\U000e0041" * 5000)) == 60
