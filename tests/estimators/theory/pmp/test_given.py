"""Options are said with all their digits."""

from __future__ import annotations

import pytest

from estimators.statement import exactly
from estimators.theory.pmp.given import percent


@pytest.mark.parametrize(
    ("value", "said"), [(4.0, "4"), (1.2345649e-05, "1.2345649e-05"), (0.1, "0.1"), (1e22, "1e+22")]
)
def test_a_number_is_said_as_it_was_given(value: float, said: str) -> None:
    assert exactly(value) == said
    assert float(said) == value


@pytest.mark.parametrize(
    ("share", "said"),
    [(0.95, "95%"), (0.9, "90%"), (0.57, "57%"), (0.9512345, "95.12345%"), (0.999999, "99.9999%")],
)
def test_a_share_is_said_in_percent(share: float, said: str) -> None:
    assert percent(share) == said
