"""The reference is whole and true: every public name stands in it and is explained, every example runs as printed."""

import ast
import doctest
import inspect
import re
import textwrap
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from functools import cache, cached_property
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from types import FunctionType
from typing import Any, get_args

import pytest

from tests.app.running import running

ROOT = Path(__file__).parents[2]
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
SOURCES = {
    path: path.read_text(encoding="utf-8")
    for package in ("estimators", "macekit")
    for path in sorted(ROOT.glob(f"{package}/**/*.py"))
}
MODULES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
    for path, source in SOURCES.items()
    if re.search(r"^__all__\b", source, re.MULTILINE)
}
"""Who says what of it is public."""

SAME_EVERYWHERE = (
    "claimed_delta", "claimed_epsilon", "confidence", "member_share", "prior", "seed", "shuffles", "target",
)  # fmt: skip
"""Arguments that mean the same wherever they occur, and are explained by the same first sentence."""


OF_OTHER_THINGS = {
    "estimators.audits.model.shadow_scores",  # whose target is a model
    "macekit.audit_shadows",  # likewise
    "estimators.paper.record_risk",  # whose interval is of one record
    "estimators.runs.sequential.sequential_run",  # whose ends hold at all looks together
}
"""Besides theory, whose confidence is of other things than intervals."""


@dataclass(frozen=True)
class Entry:
    """A public name, or a public method of one."""

    name: str
    item: Callable[..., Any]

    @cached_property
    def text(self) -> str:
        return inspect.getdoc(self.item) or ""

    def section(self, name: str) -> str:
        match = re.search(rf"^{name}:\n((?:[ ]{{4}}.*\n|\n)*)", self.text + "\n", re.MULTILINE)
        return textwrap.dedent(match[1]).strip() if match else ""

    def rows(self, name: str) -> dict[str, str]:
        """The lines of a section by the names before the colon, each by itself."""
        lines = re.findall(r"^(\S.*?): ((?:.*)(?:\n[ ]+.*)*)", self.section(name), re.MULTILINE)
        return {name.strip(" *"): " ".join(text.split()) for names, text in lines for name in names.split(",")}

    @property
    def explanations(self) -> dict[str, str]:
        return {**self.rows("Args"), **self.rows("Attributes")}

    @property
    def parameters(self) -> list[str]:
        """What has to be explained: arguments, the keywords that ``**options`` stand for, members of an enumeration."""
        if isinstance(self.item, type) and issubclass(self.item, Enum):
            return list(self.item.__members__)
        if isinstance(self.item, type) and not inspect.isfunction(getattr(self.item, "__init__", None)):
            return []  # an exception that takes what every exception takes
        names: list[str] = []
        for each in inspect.signature(self.item).parameters.values():
            if each.name not in ("self", "cls"):
                names += [each.name] if each.name in self.explanations else self.keywords(each)
        return names

    def keywords(self, parameter: inspect.Parameter) -> list[str]:
        if parameter.kind is inspect.Parameter.VAR_KEYWORD and "Unpack" in str(parameter.annotation):
            (options,) = get_args(eval(parameter.annotation, inspect.unwrap(self.item).__globals__))
            return list(options.__annotations__)
        return [parameter.name]


def callable_by_readers(item: object) -> bool:
    """A class or a function, and no alias of types."""
    return isinstance(item, type) or inspect.isroutine(item)


def methods(name: str, owner: object) -> Iterator[Entry]:
    """The public methods of a class, and of `macekit.theory`, which is an object."""
    kind = owner if isinstance(owner, type) else type(owner)
    for method, value in vars(kind).items():
        if not method.startswith("_") and isinstance(value, classmethod | FunctionType):
            yield Entry(f"{name}.{method}", getattr(owner, method))


@cache
def owners() -> list[Entry]:
    """Every public name; whatever has one is imported here, and not wherever tests are collected."""
    return [
        Entry(f"{module}.{name}", getattr(import_module(module), name))
        for module in sorted(MODULES)
        for name in import_module(module).__all__
    ]


@cache
def entries() -> list[Entry]:
    """Every public name that can be called, with its methods."""
    return [
        each
        for owner in owners()
        if callable_by_readers(owner.item) or owner.name == "macekit.theory"
        for each in (*([owner] if callable_by_readers(owner.item) else []), *methods(owner.name, owner.item))
    ]


@cache
def at_the_door() -> list[Entry]:
    """What `macekit` and `estimators` themselves have."""
    return [
        owner
        for owner in owners()
        if callable_by_readers(owner.item) and owner.name.rpartition(".")[0] in ("macekit", "estimators")
    ]


def in_full(owner: Entry) -> bool:
    """Whether it is explained argument by argument: what is public at the door, and whatever has an example."""
    return owner in at_the_door() or any(owner.section(name) for name in ("Args", "Attributes", "Example"))


def test_every_module_that_says_what_is_public_is_on_one_page_of_the_reference() -> None:
    pages = [page.read_text(encoding="utf-8") for page in ROOT.glob("docs/reference/*.md")]

    listed = [name for page in pages for name in re.findall(r"^\.\. automodule:: (\S+)$", page, re.MULTILINE)]

    assert sorted(listed) == sorted(MODULES)
    assert len(owners()) > 200


def test_every_public_name_has_a_sentence() -> None:
    made = r"\w+\(.*\)"  # what dataclasses write where nobody did

    assert [each.name for each in entries() if not each.text or re.fullmatch(made, each.text)] == []


def test_every_public_name_at_the_door_and_whatever_says_what_comes_of_arguments_has_an_example() -> None:
    whole = [
        each for each in owners() if each.section("Args") and (isinstance(each.item, type) or each.section("Returns"))
    ]
    wanted = [*at_the_door(), *whole]

    assert len(wanted) > 120
    assert [owner.name for owner in wanted if ">>>" not in owner.section("Example")] == []


@pytest.mark.slow
def test_every_argument_is_explained_and_nothing_else() -> None:
    full = {owner.name for owner in owners() if in_full(owner)} | {"macekit.theory"}
    explained = [each for each in entries() if each.name in full or each.name.rpartition(".")[0] in full]

    missing = [
        f"{each.name}: {name}" for each in explained for name in each.parameters if name not in each.explanations
    ]
    unknown = [
        f"{each.name}: {name}"
        for each in explained
        if each.section("Args")
        for name in each.explanations
        if name not in each.parameters
    ]

    assert len(explained) > 300
    assert missing == unknown == []


def test_an_example_has_no_blank_line_below_which_nothing_would_be_compared() -> None:
    assert [each.name for each in entries() if "\n\n" in each.section("Example")] == []


def test_what_means_the_same_is_explained_by_the_same_sentence() -> None:
    sentences: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for each in entries():
        if each.name in OF_OTHER_THINGS or ".theory." in each.name:
            continue
        for name, text in each.rows("Args").items():
            if not text.startswith("As for "):
                sentences[name][text.partition(". ")[0].rstrip(".")].append(each.name)

    assert {name: dict(sentences[name]) for name in SAME_EVERYWHERE if len(sentences[name]) != 1} == {}


def examples() -> dict[str, str]:
    """Every public text that holds an example, and whose it is; that of a constant stands below it."""
    texts = {each.text: each.name for each in entries()}
    for path, source in SOURCES.items():
        for above, below in pairwise(ast.parse(source).body):
            if isinstance(above, ast.Assign | ast.AnnAssign) and isinstance(below, ast.Expr):
                texts[inspect.cleandoc(ast.literal_eval(below.value))] = f"{path.relative_to(ROOT)}:{below.lineno}"
    return {text: name for text, name in texts.items() if ">>>" in text}


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A folder to write to, and in it MLflow's runs."""
    import mlflow

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    before = mlflow.get_tracking_uri()
    mlflow.set_tracking_uri((tmp_path / "mlruns").as_uri())
    yield
    mlflow.set_tracking_uri(before)


@pytest.mark.slow
def test_every_example_prints_what_it_says(store: None, tmp_path: Path) -> None:
    runner = doctest.DocTestRunner(optionflags=FLAGS, verbose=False)
    complaints: list[str] = []

    with running(tmp_path) as service:
        for text, place in examples().items():
            here = text.replace("127.0.0.1:8000", f"127.0.0.1:{service.port}")
            runner.run(doctest.DocTestParser().get_doctest(here, {}, place, place, 0), out=complaints.append)

    assert runner.tries > 900
    assert runner.failures == 0, "".join(complaints)
