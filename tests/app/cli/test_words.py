from __future__ import annotations

import pytest

from app.cli.inputs import in_shell


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
