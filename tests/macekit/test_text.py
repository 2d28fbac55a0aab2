from __future__ import annotations

import json

from macekit.text import nearest, plain, plain_json, shown


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


def test_what_is_spelled_out_is_not_longer_either() -> None:
    assert len(shown("\U000e0041" * 5000)) == 60
