"""Every method that ``/v1/methods`` names can be asked for as it says, and answers where it says."""

from typing import Any

import pytest

from app.http.health import METHODS
from macekit.catalogue import OPERATIONS
from macekit.schemas.methods import AskAnswer
from tests.app.http.asked import example, ok, post
from tests.app.running import Running
from tests.cases import each_case

ASKS = [(method["name"], ask) for method in METHODS for ask in method["asks"]]


@pytest.mark.slow
@each_case("name, ask", ASKS)
def test_a_method_answers_where_it_is_said_to(service: Running, name: str, ask: AskAnswer) -> None:
    question = example(ask["question"].removeprefix("/v1/"))

    answer: Any = ok(post(service, ask["question"], {**question, **ask["options"]}))

    for part in ask["field"].split("."):
        answer = answer[part]
    assert answer not in (None, [], {})


def test_the_service_lists_them_and_leaves_no_question_out(service: Running) -> None:
    assert service.ask("/v1/methods").json()["methods"] == METHODS
    asked = {ask["question"] for _, ask in ASKS}
    helpers = {"/v1/columns", "/v1/counts", "/v1/plan"}  # they say what to ask, and state nothing of a model
    assert {f"/v1/{each.name}" for each in OPERATIONS} - asked == helpers
