"""Options of the shell: their values have the types of the question, and each is given once."""

import pytest

from app.cli.commands import GATE, QUESTIONS, THEORY
from app.cli.inputs import in_shell
from app.cli.options import add_to, columns_of, options_of, values_of
from app.cli.parsing import Parser
from macekit.schemas.by_operation import QUESTIONS as MODELS
from tests.app.cli.files import refused
from tests.cases import each_case


def parse(operation: str, line: str) -> tuple[dict[str, object], tuple[tuple[str, str], ...]]:
    """What was typed: the values of the question, and the names of columns."""
    parser, options = Parser(), options_of(operation)
    add_to(parser, options)
    namespace = parser.parse_args(line.split())
    return values_of(options, namespace), columns_of(options, namespace)


VALUES = {
    "nothing": ("advantage", "", {}),
    "a number": ("advantage", "--prior 0.1", {"prior": 0.1}),
    "a number without its first or last digit": ("plan", "--prior .1 --width 1.", {"prior": 0.1, "width": 1}),
    "an integer": ("advantage", "--seed 7", {"seed": 7}),
    "a name": ("advantage", "--query discrete", {"query": "discrete"}),
    "a name that looks like a number": ("compare", "--against 1.", {"against": "1."}),
    "a name with a comma": ("compare", "--against a,b", {"against": "a,b"}),
    "a switch": ("compare", "--no-paired", {"paired": False}),
    "numbers": ("advantage", "--operating-points .1,0.5", {"operating_points": [0.1, 0.5]}),
    "one name of several": ("metrics", "--metrics recall", {"metrics": ["recall"]}),
    "pairs": ("theory/dp", "--rdp 2:0.1,4:.3", {"rdp": [[2, 0.1], [4, 0.3]]}),
    "a number or a name": ("advantage", "--bandwidth 0.5", {"estimator": {"bandwidth": 0.5}}),
    "a name or a number": ("advantage", "--bandwidth scott", {"estimator": {"bandwidth": "scott"}}),
    "a metric": ("advantage", "--metric f_beta", {"metric": "f_beta"}),
    "a metric and its parameter": (
        "advantage",
        "--metric f_beta --beta 2",
        {"metric": {"preset": "f_beta", "beta": 2}},
    ),
    "a wrong number": ("advantage", "--prior x --seed 1,2", {"prior": "x", "seed": "1,2"}),
}


@pytest.mark.parametrize(("operation", "line", "values"), VALUES.values(), ids=VALUES)
def test_a_text_becomes_a_value_of_the_type_of_its_option(operation: str, line: str, values: dict[str, object]) -> None:
    assert parse(operation, line) == (values, ())


def test_columns_stay_names_and_are_no_part_of_the_question() -> None:
    values, columns = parse("advantage", "--score .5 --member split=train --confidence 0.9")

    assert values == {"confidence": 0.9}
    assert columns == (("score", ".5"), ("member", "split=train"))


def test_the_values_of_a_question_are_those_that_it_takes() -> None:
    values, _ = parse("advantage", "--prior 0.1 --metric f_beta --beta 2 --bins 9 --estimator histogram")

    question = MODELS["advantage"].model_validate(values)

    assert question.model_dump(include=set(values), exclude_unset=True) == values


def test_an_option_given_twice_is_refused_by_every_command() -> None:
    for line in [f"{each.command} --output a.json --output a.json" for each in (*QUESTIONS, *THEORY, GATE)]:
        assert ": given twice\nSee mace " in refused(line), line


@each_case(
    "service, shell",
    ("say which with score=NAME, or several", "say which with --score NAME, or several"),
    ("needs members=N in the query string: its", "needs --member-count N: its"),
    ("estimator.kind and metric.beta", "--estimator and --beta"),
    ("groups: max_group_risk needs a label", "--group (groups in JSON): --max-group-risk needs a label"),
    ("metric: say which metric the limit max is for", "--metric: say which metric the limit --max is for"),
    ("post several to /v1/compare", "post several to mace compare"),
    ("ask /v1/advantage; the body is", "ask mace estimate; the input is"),
)
def test_problems_are_put_in_the_words_of_the_shell(service: str, shell: str) -> None:
    assert in_shell(service) == shell
