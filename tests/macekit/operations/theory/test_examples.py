"""Every example of a question of theory, and its answer, fit their schemas; the contract has the others."""

import jsonschema_rs
import pytest
from pydantic import TypeAdapter

from app.openapi.examples import JSON_EXAMPLES
from macekit.catalogue import BY_NAME
from macekit.schemas.by_operation import ANSWERS, QUESTIONS
from tests.macekit.asking import asked


@pytest.mark.slow
@pytest.mark.parametrize("operation", [each for each in JSON_EXAMPLES if BY_NAME[each].paper])
def test_examples_run_as_they_stand_and_fit_their_schemas(operation: str) -> None:
    names = set[str]()
    for example in JSON_EXAMPLES[operation].values():
        answer = asked(operation, example.value)

        jsonschema_rs.validate(QUESTIONS[operation].model_json_schema(), example.value)
        jsonschema_rs.validate(TypeAdapter(ANSWERS[operation]).json_schema(), answer)
        TypeAdapter(ANSWERS[operation]).validate_python(answer, strict=True)
        assert set(answer) >= ANSWERS[operation].__required_keys__
        assert answer.get("sentence", "not asked for") != ""
        names |= set(answer)
    assert names == set(ANSWERS[operation].__annotations__)
