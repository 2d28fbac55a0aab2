"""What is told of a method, and what the entries share."""

from typing import Annotated, Any

from typing_extensions import TypedDict

from macekit.schemas.records import about


class AskAnswer(TypedDict):
    """One way to ask for a method's number."""

    question: Annotated[str, about("address of the question")]
    options: Annotated[dict[str, Any], about("what to send beside the records or arrays")]
    field: Annotated[str, about("where in the answer the number stands, names joined by dots")]


class MethodAnswer(TypedDict):
    """One method."""

    name: str
    asks: list[AskAnswer]
    states: str
    assumes: str
    guarantee: str
    reference: str


class MethodsAnswer(TypedDict):
    """Every method, and the version of them all."""

    version: str
    methods: list[MethodAnswer]


class PresetAnswer(TypedDict):
    """One named metric."""

    name: str
    formula: str
    description: str
    parameters: dict[str, float]
    depends_on_prior: bool


class PresetsAnswer(TypedDict):
    """Every named metric."""

    presets: list[PresetAnswer]


SIMULATED = "holds in simulation at every size and world tried (docs/coverage.md)"
PUBLISHED = (
    "as published: covers the expectation of the statistic, not the advantage (docs/methods.md, section 7)"
)


def ask(question: str, field: str, **options: object) -> AskAnswer:
    """What is to be asked, and where in the answer it stands."""
    return {"question": f"/v1/{question}", "options": options, "field": field}
