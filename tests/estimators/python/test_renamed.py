"""Modules go on by the names that they had: the very same ones, and the functions called like them stay functions."""

import json
import subprocess
import sys
from importlib import import_module

import estimators
from estimators.python.renamed import FORMER_MODULES


def in_a_process(program: str) -> object:
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def test_each_former_name_imports_the_module_that_stands_elsewhere_now() -> None:
    for former, current in FORMER_MODULES.items():
        module = import_module(f"estimators.{current}")

        assert import_module(f"estimators.{former}") is module
        assert module.__spec__.name == module.__name__ == f"estimators.{current}"


def test_what_was_below_a_former_name_is_there_too() -> None:
    from estimators.queries.models import loss as former  # type: ignore[import-not-found]

    from estimators.audits.queries.models import loss

    assert former is loss


def test_a_function_is_not_hidden_by_a_module_that_was_called_like_it() -> None:
    program = """
import json, estimators
from estimators.release_size import ReleaseSize
from estimators.compare import differences
from estimators.plan import Verdict
from estimators.advantage import ends_of
print(json.dumps([callable(each) for each in (estimators.release_size, estimators.compare, estimators.advantage)]))
"""

    assert in_a_process(program) == [True, True, True]


def test_the_names_of_wings_are_listed_and_imported_when_they_are_first_used() -> None:
    program = """
import json, sys, estimators
def wings(): return sorted({m.split(".")[1] for m in sys.modules if m.startswith("estimators.")} & WINGS)
WINGS = {"audits", "runs", "theory"}
before = wings()
estimators.advantage_series
print(json.dumps([before, wings(), sorted(set(estimators.__all__) - set(dir(estimators)))]))
"""

    assert in_a_process(program) == [[], ["runs"], []]
    assert all(getattr(estimators, name) is not None for name in estimators.__all__)


def test_what_never_was_there_is_not_found() -> None:
    for name in ("estimators.nowhere", "estimators.gate.nowhere"):
        try:
            import_module(name)
        except ModuleNotFoundError:
            continue
        raise AssertionError(name)
