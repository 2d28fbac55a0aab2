"""The statement about noise says to a user of the library what the service answers."""

import numpy as np
import pytest

from estimators.errors import UnknownName
from estimators.theory import mip
from tests.app import posted

RANDOM = np.random.default_rng(0)
ROWS = RANDOM.normal(size=(200, 2)).tolist()
BEFORE, AFTER = RANDOM.normal(size=(400, 1)).tolist(), RANDOM.normal(size=(400, 1)).tolist()
RECORD = [str(place % 4) for place in range(400)]
SWAPS = {"before": BEFORE, "after": AFTER, "record": RECORD}


@pytest.mark.parametrize(
    ("question", "options"),
    [
        ({"draws": ROWS, "eta": 0.2}, {}),
        ({"draws": ROWS, "eta": 0.2, "noise": "laplace", "norm": "max"}, {"shape": "laplace_max"}),
        ({**SWAPS, "eta": 0.2, "records": 5, "confidence": 0.9}, {"records": 5, "confidence": 0.9}),
        ({**SWAPS, "eta": 0.001}, {}),
    ],
)
def test_a_user_of_the_library_gets_what_the_service_says(question, options) -> None:
    fits = mip.Fits.of(*(question.get(name) for name in ("draws", "before", "after", "record")))

    statement = mip.assess(fits, question["eta"], **options)

    answer = posted.asked("theory/mip", question)
    assert statement.sentence == answer["sentence"]
    assert [(each.code, each.message) for each in statement.cautions] == [
        (each["code"], each["message"]) for each in answer["warnings"]
    ]
    assert statement.guarantee.assumes == answer["guarantee"]["assumes"]
    assert [each.name for each in statement.bounds] == [each["name"] for each in answer["bounds"]]


def test_so_does_who_asks_of_a_finite_algorithm() -> None:
    laws = [[0.9, 0.1], [0.2, 0.8]]

    statement = mip.finite_eta(laws, 2)

    answer = posted.asked("theory/mip-finite", {"laws": laws, "n": 2})
    assert statement.sentence == answer["sentence"]
    assert [each.value for each in statement.bounds] == [each["value"] for each in answer["bounds"]]


def test_a_noise_that_is_none_of_those_known_is_refused() -> None:
    with pytest.raises(UnknownName, match="laplace_max"):
        mip.assess(mip.Fits.of(ROWS), 0.2, shape="laplace_maximum")
