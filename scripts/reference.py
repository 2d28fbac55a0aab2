"""The reference of the Python API as a file, made from signatures and docstrings.

A docstring is one sentence, prose if it needs any, then ``Args:`` (or ``Attributes:`` of what is not made by hand),
``Returns:``, ``Raises:`` and ``Example:``, each indented. ``GROUPS`` is the order of the page: by what a reader wants.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import sys
import textwrap
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from itertools import pairwise
from pathlib import Path
from pkgutil import resolve_name
from types import FunctionType
from typing import Any, cast, get_args

PAGE = Path(__file__).resolve().parent.parent / "docs" / "reference.md"
SECTIONS = ("Args", "Attributes", "Returns", "Raises", "Example")

INTRODUCTION = """# Reference

Every public name of `macekit` and `estimators`, and the entry points of `estimators.theory`. `scripts/reference` makes
this page from the docstrings, and every example runs as a test (long output lines are wrapped).

Start with `macekit`: it takes lists, frames and files, and answers with numbers, charts and reports
([python.md](python.md) is a tour of it). `estimators` is the library below it: arrays in, dataclasses out. What the
numbers mean for people is in [interpretation.md](interpretation.md), the mathematics in [methods.md](methods.md), whose
section 7 lists the errata (E1, E2, ...) and the study that are cited here.
"""

CONSTANTS = {"PRESETS": "estimators.metric.presets", "VERSION": "estimators.statement"}
"""Where a constant and the text below it stand: Python keeps no docstring for either."""


@dataclass(frozen=True)
class Group:
    """Names that serve one purpose, as ``module:name``."""

    title: str
    about: str
    names: tuple[str, ...]


@dataclass(frozen=True)
class Entry:
    """One documented thing: a public name, or a public method of one."""

    title: str
    item: Any
    text: str

    @property
    def prose(self) -> str:
        """The docstring before its first section."""
        return re.split(rf"^(?:{'|'.join(SECTIONS)}):$", self.text, maxsplit=1, flags=re.MULTILINE)[0].strip()

    def section(self, name: str) -> str:
        """The text of one section, without its indentation; empty if there is none."""
        match = re.search(rf"^{name}:\n((?:[ ]{{4}}.*\n|\n)*)", self.text + "\n", re.MULTILINE)
        return textwrap.dedent(match[1]).strip() if match else ""

    def rows(self, name: str) -> dict[str, str]:
        """The lines of a section as names, which may share a line, and what is said of them."""
        lines = re.findall(r"^(\S.*?): ((?:.*)(?:\n[ ]+.*)*)", self.section(name), re.MULTILINE)
        return {names: " ".join(text.split()) for names, text in lines}

    @property
    def explanations(self) -> dict[str, str]:
        """What is said of each argument or attribute."""
        rows = {**self.rows("Args"), **self.rows("Attributes")}
        return {name.strip(" *"): text for names, text in rows.items() for name in names.split(",")}

    @property
    def parameters(self) -> list[str]:
        """What has to be explained: the arguments, keywords of ``**options`` by name; the members of an enumeration."""
        if isinstance(self.item, type) and issubclass(self.item, Enum):
            return list(self.item.__members__)
        if not callable(self.item):
            return []
        names: list[str] = []
        for each in _parameters(self.item):
            names += [each.name] if each.name in self.explanations else _names(self.item, each)
        return names


def entry(name: str) -> Entry:
    """The entry of a public name, given as ``module:name``."""
    title, item = name.replace(":", "."), resolve_name(name)
    constant = name.partition(":")[2]
    text = _text_below(CONSTANTS[constant], constant) if constant in CONSTANTS else inspect.getdoc(item)
    return Entry(title, item, text or "")


def methods(owner: Entry) -> Iterator[Entry]:
    """The public methods of a class, none of any other name."""
    for name, value in vars(owner.item).items() if isinstance(owner.item, type) else ():
        if not name.startswith("_") and isinstance(value, classmethod | FunctionType):
            item = getattr(owner.item, name)
            yield Entry(f"{owner.title.rpartition('.')[2]}.{name}", item, inspect.getdoc(item) or "")


def properties(owner: Entry) -> Iterator[tuple[str, str]]:
    """The public properties of a class, and the first paragraph of what is said of each."""
    for name, value in vars(owner.item).items() if isinstance(owner.item, type) else ():
        if isinstance(value, property) and not name.startswith("_"):
            yield name, " ".join((inspect.getdoc(value) or "").partition("\n\n")[0].split())


def page() -> str:
    """The whole page."""
    parts: list[str] = []
    for group in GROUPS:
        parts += [
            f"## {group.title}",
            _paragraph(group.about),
            *(_chapter(entry(name)) for name in group.names),
        ]
    body = "\n\n".join(parts)
    anchors = _anchors(body)
    contents = (_paragraph(_contents(group, anchors), "- ") for group in GROUPS)
    return "\n\n".join([INTRODUCTION.strip(), "\n".join(contents), body]) + "\n"


def _contents(group: Group, anchors: dict[str, str]) -> str:
    titles = [name.replace(":", ".") for name in group.names]
    short = {title: title.partition(".theory.")[2] or title.rpartition(".")[2] for title in titles}
    links = (f"[{name}](#{anchors[f'`{title}`']})" for title, name in short.items())
    return f"[{group.title}](#{anchors[group.title]}): {', '.join(links)}"


def _anchors(body: str) -> dict[str, str]:
    """How GitHub links to each heading: two that differ in capitals alone get a number."""
    anchors: dict[str, str] = {}
    uses: Counter[str] = Counter()
    for title in re.findall(r"^#{2,4} (.+)$", body, re.MULTILINE):
        plain = re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
        anchors[title] = f"{plain}-{uses[plain]}" if uses[plain] else plain
        uses[plain] += 1
    return anchors


def _chapter(owner: Entry) -> str:
    parts = [f"### `{owner.title}`", *_body(owner)]
    members = [_paragraph(f"`{name}`: {text}", "- ") for name, text in properties(owner)]
    if members:
        parts.insert(-1, "Computed from these:\n\n" + "\n".join(members))
    for each in methods(owner):
        parts += [f"#### `{each.title}`", *_body(each)]
    return "\n\n".join(part for part in parts if part)


def _body(owner: Entry) -> list[str]:
    example = owner.section("Example").replace("<BLANKLINE>", "")
    return [
        *_signature(owner),
        owner.prose.replace("``", "`"),
        _arguments(owner),
        f"```pycon\n{example}\n```" if example else "",
    ]


def _arguments(owner: Entry) -> str:
    rows = {**owner.rows("Args"), **owner.rows("Attributes")}
    lines = [_paragraph(f"``{names.replace(', ', '``, ``')}``: {text}", "- ") for names, text in rows.items()]
    if returns := owner.section("Returns"):
        lines.append("\n" + _paragraph(f"Returns {returns}"))
    if raises := owner.rows("Raises"):
        causes = "; ".join(f"``{name}``: {text.rstrip('.')}" for name, text in raises.items())
        lines.append("\n" + _paragraph(f"Raises {causes}."))
    return "\n".join(lines).strip()


def _paragraph(text: str, bullet: str = "") -> str:
    """A paragraph as Markdown, or an item of a list."""
    plain = bullet + " ".join(text.replace("``", "`").split())
    return textwrap.fill(
        plain, 120, subsequent_indent=" " * len(bullet), break_long_words=False, break_on_hyphens=False
    )


def _signature(owner: Entry) -> Iterator[str]:
    """A call, where a reader makes one."""
    if not callable(owner.item) or (isinstance(owner.item, type) and not owner.section("Args")):
        return
    arguments: list[str] = []
    for each in _parameters(owner.item):
        if each.kind is inspect.Parameter.KEYWORD_ONLY and "*" not in arguments:
            arguments.append("*")
        arguments.append(_declaration(each))
    returns = inspect.signature(owner.item).return_annotation
    tail = "" if isinstance(owner.item, type) or returns is inspect.Signature.empty else f" -> {returns}"
    line = f"{owner.title}({', '.join(arguments)}){tail}"
    if len(line) > 100:
        line = "\n    ".join([f"{owner.title}(", *(f"{each}," for each in arguments)]) + f"\n){tail}"
    yield f"```python\n{line}\n```"


def _parameters(item: Any) -> list[inspect.Parameter]:
    if isinstance(item, type) and not inspect.isfunction(getattr(item, "__init__", None)):
        return []  # an exception that takes what every exception takes
    every = inspect.signature(item).parameters.values()
    return [each for each in every if each.name not in ("self", "cls")]


def _names(item: Any, parameter: inspect.Parameter) -> list[str]:
    """The name of a parameter; of ``**options`` whose keywords are known, theirs."""
    if parameter.kind is inspect.Parameter.VAR_KEYWORD and "Unpack" in str(parameter.annotation):
        (options,) = get_args(eval(parameter.annotation, inspect.unwrap(item).__globals__))
        return list(options.__annotations__)
    return [parameter.name]


def _declaration(parameter: inspect.Parameter) -> str:
    stars = "**" if parameter.kind is inspect.Parameter.VAR_KEYWORD else ""
    plain = "Unpack" in str(parameter.annotation) or parameter.annotation is inspect.Parameter.empty
    name = f"{stars}{parameter.name}" if plain else f"{stars}{parameter.name}: {parameter.annotation}"
    if parameter.default is inspect.Parameter.empty:
        return name
    default = str(parameter.default) if isinstance(parameter.default, Enum) else repr(parameter.default)
    return f"{name} = {default if len(default) <= 40 else '...'}"


def _text_below(module: str, name: str) -> str:
    """The text that stands below an assignment."""
    body = ast.parse(inspect.getsource(importlib.import_module(module))).body
    for above, below in pairwise(body):
        targets = above.targets if isinstance(above, ast.Assign) else [getattr(above, "target", None)]
        if any(isinstance(each, ast.Name) and each.id == name for each in targets):
            return inspect.cleandoc(str(ast.literal_eval(cast("ast.Expr", below).value)))
    raise LookupError(f"{module}: no {name}")


GROUPS = (
    Group(
        "Ask about a model's scores",
        "Each function of `macekit` answers in this process; a `macekit.Mace` has the same functions and asks a "
        "server. All arguments but the scores are keywords.",
        (
            "macekit:estimate",
            "macekit:procedure",
            "macekit:report",
            "macekit:risk",
            "macekit:metrics",
            "macekit:attack",
            "macekit:compare",
            "macekit:audit",
            "macekit:gate",
            "macekit:plan",
            "macekit:counts",
            "macekit:counts_by",
            "macekit:partial",
            "macekit:merged",
            "macekit:risk_table",
            "macekit:write_risks",
            "macekit:sql",
            "macekit:Mace",
            "macekit:Dataset",
        ),
    ),
    Group(
        "Ask a model itself, or a release",
        "From a fitted model and its rows, from its predictions, or from a training, a hold-out and a released table "
        "to a verdict: every query that applies. [models.md](models.md) and [synthetic.md](synthetic.md) say which, "
        "and what a pass covers.",
        (
            "macekit:audit_model",
            "macekit:audit_predictions",
            "macekit:audit_synthetic",
            "macekit:check_split",
            "estimators.model:audit_model",
            "estimators.model:ModelAudit",
            "estimators.model:Shadows",
        ),
    ),
    Group(
        "Ask what theory promises",
        "What differential privacy and three papers guarantee, with or without scores. Arrays are lists, NumPy arrays "
        "or frames; a table or a file in place of the first array holds all of them, and the others are named by their "
        "columns.",
        (
            "macekit:theory.dp",
            "macekit:theory.convert",
            "macekit:theory.together",
            "macekit:theory.mip",
            "macekit:theory.mip_finite",
            "macekit:theory.mis",
            "macekit:theory.mis_overfitting",
            "macekit:theory.mis_divergence",
            "macekit:theory.mis_mean",
            "macekit:theory.pmp_exponential",
            "macekit:theory.pmp_finite",
            "macekit:theory.pmp_gaussian",
        ),
    ),
    Group(
        "Read and write an answer",
        "Every question is answered by a `Result`, or by one of two exceptions.",
        (
            "macekit:Result",
            "macekit:ModelAudit",
            "macekit:Chart",
            "macekit:MaceProblem",
            "macekit:MaceUnreachable",
        ),
    ),
    Group(
        "Use answers in tests and in MLflow",
        "Limits as assertions for pytest or any other runner; a result in an MLflow run.",
        (
            "macekit.testing:assert_advantage_below",
            "macekit.testing:assert_gate",
            "macekit.testing:LimitExceeded",
            "macekit.testing:Inconclusive",
            "macekit.mlflow:log",
        ),
    ),
    Group(
        "Scores and counts",
        "What a model gives to members (records it was trained on) and to nonmembers (records it has never seen), "
        "checked once. Counts stand for scores that are too many or too sensitive to move.",
        (
            "estimators:Scores",
            "estimators:Query",
            "estimators:one_per_unit",
            "estimators:lone_rows",
            "estimators:Counts",
            "estimators.sample.counting:finest",
            "estimators.sample.counting:by_category",
            "estimators.sample.counting:by_equal_mass",
            "estimators.sample.counting:by_edges",
            "estimators.sample.counting:by_grid",
            "estimators.sample.counting:by_lattice",
            "estimators.sample.counting:by_boxes",
            "estimators.sample.counting:on_cells",
            "estimators.sample.stream:CountStream",
        ),
    ),
    Group(
        "The advantage, and everything at once",
        "`assess` answers what an auditor asks of one sample; `advantage` only the part to decide by.",
        (
            "estimators:assess",
            "estimators:AssessOptions",
            "estimators:Assessment",
            "estimators:advantage",
            "estimators:Advantage",
            "estimators:advantage_on_set",
            "estimators:SetAdvantage",
            "estimators:CellsTarget",
            "estimators:ThresholdTarget",
            "estimators:TwoSidedTarget",
            "estimators:LearnedTarget",
            "estimators.adversary.learned:quadratic",
            "estimators.adversary.learned:logistic",
            "estimators.adversary.learned:boxes",
            "estimators.adversary.learned:boosting",
            "estimators.adversary.learned:Learner",
        ),
    ),
    Group(
        "A released table, and is the hold-out fair?",
        "From a training, a hold-out and a released table to one verdict; and what tells the sides apart without it.",
        (
            "estimators:audit_synthetic",
            "estimators:SyntheticAudit",
            "estimators.synthetic:Copies",
            "estimators:check_split",
            "estimators:SplitCheck",
            "estimators:control",
            "estimators:Control",
            "estimators:match_sides",
            "estimators:Match",
        ),
    ),
    Group(
        "How much to release, and what",
        "How many rows of a table may go out, which release gives away least, and from which checkpoint on too much. "
        "[releases.md](releases.md) says what each claim covers.",
        (
            "macekit:release_size",
            "macekit:compare_releases",
            "macekit:advantage_series",
            "estimators:release_size",
            "estimators:ReleaseSize",
            "estimators:compare_releases",
            "estimators:ReleaseComparison",
            "estimators:release_queries",
            "estimators:advantage_series",
            "estimators:Series",
            "estimators.series:Step",
        ),
    ),
    Group(
        "A training procedure",
        "What the procedure that trained several models gives away, what its next model will, and how many to train. "
        "[procedure.md](procedure.md) says what each number covers.",
        (
            "estimators.procedure:procedure_advantage",
            "estimators.procedure:Procedure",
            "estimators.procedure:ProcedureVerdict",
            "estimators.procedure.answer:ModelAdvantage",
            "estimators.procedure:plan_models",
            "estimators.procedure:ModelPlan",
        ),
    ),
    Group(
        "Decisions and plans",
        "From an interval to pass, fail or undecided, and from a question to the records that answer it.",
        (
            "estimators:verdict",
            "estimators:Verdict",
            "estimators:Decision",
            "estimators:plan_verdict",
            "estimators:plan_width",
            "estimators:Plan",
            "estimators.plan:expected_design_effect",
            "estimators.gate:judge",
            "estimators.gate:Judgement",
            "estimators.maxima:MaxAdvantage",
            "estimators.maxima:MaxTpr",
            "estimators.maxima:MaxMetric",
            "estimators.maxima:MaxEpsilon",
            "estimators.maxima:MaxGroupRisk",
        ),
    ),
    Group(
        "ROC, epsilon and the statistics of the paper",
        "What else an auditor asks of counts.",
        (
            "estimators.audit.roc:roc",
            "estimators.audit.roc:RocCurve",
            "estimators.audit.roc:auc",
            "estimators.audit.roc:AreaUnderCurve",
            "estimators.audit.roc:operating_point",
            "estimators.audit.roc:operating_points",
            "estimators.audit.roc:OperatingPoint",
            "estimators:exposure",
            "estimators:Exposure",
            "estimators.audit.exposure:Tail",
            "estimators.audit.epsilon:epsilon_lower_bound",
            "estimators.audit.epsilon:EpsilonBound",
            "estimators.audit.epsilon:check_claim",
            "estimators.audit.epsilon:ClaimCheck",
            "estimators.audit.epsilon:Direction",
            "estimators.paper:algorithm_1",
            "estimators.paper:PaperAdvantage",
            "estimators.paper:EqualWidth",
            "estimators.paper:Kernel",
        ),
    ),
    Group(
        "A given attack",
        "The advantage of an attack that you have, and how far it is from the best.",
        (
            "estimators:attack_advantage",
            "estimators:AttackAdvantage",
            "estimators:GuessRule",
            "estimators:ThresholdRule",
            "estimators:TopRule",
            "estimators:QuantileRule",
        ),
    ),
    Group(
        "Comparisons",
        "Several scores of one model, two models, or groups of people.",
        (
            "estimators:compare",
            "estimators:difference",
            "estimators:paired_difference",
            "estimators:by_group",
        ),
    ),
    Group(
        "The risk of a record",
        "What each record's own score tells of its membership.",
        (
            "estimators:individual_risk",
            "estimators:IndividualRisk",
            "estimators:mean_risk",
            "estimators:MeanRisk",
        ),
    ),
    Group(
        "Metrics",
        "Accuracy, precision, F1 and others, each for the adversary who is best at it.",
        (
            "estimators:metric_optimum",
            "estimators:MetricEstimate",
            "estimators:preset",
            "estimators:PRESETS",
            "estimators:Metric",
            "estimators:individual_metric",
            "estimators:IndividualMetric",
        ),
    ),
    Group(
        "The guarantees of theory",
        "What differential privacy and three papers guarantee, from arrays: promises of differential privacy (`dp`), "
        "membership inference privacy (`mip`), membership inference security (`mis`), practical membership privacy "
        "(`pmp`), and a claim held against a sample (`agreement`).",
        (
            "estimators.theory.dp:assess",
            "estimators.theory.dp:DpStatement",
            "estimators.theory.dp:Keeping",
            "estimators.theory.dp:convert",
            "estimators.theory.dp:ConversionStatement",
            "estimators.theory.dp:Converted",
            "estimators.theory.dp:ApproximateDp",
            "estimators.theory.dp:GaussianDp",
            "estimators.theory.dp:DpCurve",
            "estimators.theory.accounting:renyi_curve",
            "estimators.theory.accounting:NoisySteps",
            "estimators.agreement:agreement",
            "estimators.agreement:Agreement",
            "estimators.theory.mip:assess",
            "estimators.theory.mip:Fits.of",
            "estimators.theory.mip:MipStatement",
            "estimators.theory.mip:finite_eta",
            "estimators.theory.mip:MipFiniteStatement",
            "estimators.theory.mip:privatize",
            "estimators.theory.mip:PrivateFit",
            "estimators.theory.mip:Swaps",
            "estimators.theory.mip:Draws",
            "estimators.theory.mip:Moment",
            "estimators.theory.mip:Paper",
            "estimators.theory.mis:assess",
            "estimators.theory.mis:Distribution.of",
            "estimators.theory.mis:Tally.of_values",
            "estimators.theory.mis:Tally.of_counts",
            "estimators.theory.mis:MisStatement",
            "estimators.theory.mis:assess_overfitting",
            "estimators.theory.mis:OverfittingStatement",
            "estimators.theory.mis:assess_divergence",
            "estimators.theory.mis:DivergenceStatement",
            "estimators.theory.mis:assess_mean",
            "estimators.theory.mis:MeanStatement",
            "estimators.theory.pmp:assess_exponential",
            "estimators.theory.pmp:Summed",
            "estimators.theory.pmp:Tabled",
            "estimators.theory.pmp:ExponentialStatement",
            "estimators.theory.pmp:assess_finite",
            "estimators.theory.pmp:PmpFiniteStatement",
            "estimators.theory.pmp:assess_gaussian",
            "estimators.theory.pmp:GaussianStatement",
        ),
    ),
    Group(
        "The parts of an answer",
        "Every answer is made of these.",
        (
            "estimators:Estimate",
            "estimators:Interval",
            "estimators:Guarantee",
            "estimators:Caution",
            "estimators:VERSION",
            "estimators:MaceError",
        ),
    ),
)
"""The page, in its order."""


def main(arguments: list[str]) -> int:
    """Write the page, or compare it; 0 when it is as it should be."""
    if arguments == ["--check"]:
        current = PAGE.exists() and PAGE.read_text(encoding="utf-8") == page()
        print(
            f"docs/reference.md is {'' if current else 'not '}what the docstrings make"
            + ("" if current else ": run scripts/reference")
        )
        return 0 if current else 1
    PAGE.write_text(page(), encoding="utf-8")
    print(f"{PAGE.name} written")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
