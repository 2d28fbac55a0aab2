"""Every method that ``/v1/methods`` names can be asked for as it says, and answers where it says."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from app.main import create_app
from app.openapi.examples import JSON_EXAMPLES
from app.settings import Settings
from macekit.catalogue import OPERATIONS
from macekit.schemas.methods import METHODS, AskAnswer
from tests.app.client import TestClient

ASKS = [(method["name"], ask) for method in METHODS for ask in method["asks"]]


@pytest.fixture(scope="module")
def client() -> Iterator[TestClient]:
    with TestClient(create_app(Settings(workers=1))) as client:
        yield client


def at(answer: Any, field: str) -> Any:
    for name in field.split("."):
        answer = answer[name]
    return answer


@pytest.mark.parametrize(("name", "ask"), ASKS, ids=[f"{name}: {ask['question']}" for name, ask in ASKS])
def test_a_method_answers_where_it_is_said_to(client: TestClient, name: str, ask: AskAnswer) -> None:
    example = next(iter(JSON_EXAMPLES[ask["question"].removeprefix("/v1/")].values())).value

    answer = client.post(ask["question"], json={**example, **ask["options"]})

    assert answer.status_code == 200, answer.text
    assert at(answer.json(), ask["field"]) not in (None, [], {})


def test_the_service_lists_them_and_leaves_no_question_out(client: TestClient) -> None:
    listed = client.get("/v1/methods").json()["methods"]

    assert listed == METHODS
    asked = {ask["question"] for _, ask in ASKS}
    helpers = {"/v1/columns", "/v1/counts", "/v1/plan"}  # they say what to ask, and state nothing of a model
    assert {f"/v1/{each.name}" for each in OPERATIONS} - asked == helpers
