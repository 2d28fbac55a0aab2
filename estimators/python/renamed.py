"""Keywords and modules by the names that they had in earlier versions: keywords are taken for now, with a warning."""

import sys
import warnings
from collections.abc import Callable
from functools import wraps
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any, TypeVar

ROOT = __name__.partition(".")[0]

FORMER_MODULES = {
    "advantage": "optimum",
    "null_level": "paper.advantage",
    "fixed_set": "optimum.fixed_set",
    "targets": "adversary.targets",
    "readings": "density.space",
    "within_groups": "risk.within_groups",
    "audit": "privacy",
    "coverage": "decisions.coverage",
    "plan": "decisions.plan",
    "compare": "decisions.compare",
    "maxima": "decisions.maxima",
    "group_limit": "decisions.group_limit",
    "withheld": "decisions.exposed_members",
    "exposed": "decisions.exposed_members",
    "gate": "decisions.gate",
    "report": "decisions.report",
    "sequential": "runs.sequential",
    "procedure": "runs.procedure",
    "series": "runs.series",
    "queries": "audits.queries",
    "model": "audits.model",
    "synthetic": "audits.synthetic",
    "split": "audits.split",
    "matching": "audits.sides",
    "sides": "audits.sides",
    "riskiest": "decisions.riskiest",
    "releases": "audits.releases",
    "release_size": "audits.release_size",
    "agreement": "theory.agreement",
    "adversary.best_cut": "adversary.lower_end",
    "adversary.corners": "adversary.changes",
    "adversary.tree": "adversary.pilot",
    "audits.matching": "audits.sides",
    "audits.queries.arrays": "audits.queries.query",
    "clusters.area": "clusters.ends",
    "clusters.lone_rows": "clusters.dependent_rows",
    "clusters.one_sided_clusters": "clusters.betting",
    "clusters.rule": "clusters.ends",
    "decisions.severe_exposure": "decisions.exposed_members",
    "density.atoms": "density.kernel",
    "density.line": "density.kernel",
    "density.readings": "density.space",
    "limits.among_others": "limits.every_cut",
    "limits.excess": "limits.binomial",
    "metric.optimum": "metric.bounds",
    "optimum.null_level": "paper.advantage",
    "paper.record": "paper.metric",
    "paper.simulated": "paper.risk",
    "privacy.best_set": "privacy.ranges",
    "privacy.ceilings": "privacy.epsilon",
    "privacy.precision": "privacy.band",
    "privacy.windows": "privacy.closeness",
    "python.caches": "python",
    "risk.halves": "risk.partition",
    "risk.mean": "risk.cells",
    "risk.parts": "risk.flags",
    "runs.procedure.trainings": "runs.procedure.limits",
    "runs.sequential.placing": "runs.sequential.repeats",
    "sample.nested_grid": "sample.growing_grid",
    "sample.score_sample": "sample.frequent",
    "sample.search": "sample.grid",
    "theory.dp.table": "theory.dp.ceilings",
    "theory.mip.certificate": "theory.mip.scales",
    "theory.mip.finite": "theory.mip.attack",
    "theory.mis.divergence": "theory.mis.mean",
    "theory.mis.diversity": "theory.mis.security",
    "theory.mis.tally": "theory.mis.binomials",
    "theory.one_run.counting": "theory.one_run.betting",
    "theory.one_run.draws": "theory.one_run.guesses",
    "theory.pmp.choose": "theory.pmp.bounds",
    "theory.pmp.distances": "theory.pmp.gaussian",
    "theory.tables": "theory.bounds",
    "threads": "adversary.learned",
}
"""Where in this package a module stands that stood in it by another name."""

Target = TypeVar("Target", bound=Callable[..., Any])


def renamed(former: str, current: str) -> Callable[[Target], Target]:
    """Let a function, or a class, take a keyword by its former name, too.

    Python says a ``FutureWarning`` once for each place in a program. Both names at once are a ``TypeError``.
    """

    def decorate(target: Target) -> Target:
        work: Callable[..., Any] = target.__init__ if isinstance(target, type) else target  # type: ignore[misc]

        @wraps(work)
        def understanding(*arguments: Any, **keywords: Any) -> Any:
            if former in keywords:
                if current in keywords:
                    words = f"{target.__name__}() got {current!r} and, by its former name, {former!r}"
                    raise TypeError(words)
                message = f"{target.__name__}(): {notice(former, current)}"
                warnings.warn(message, FutureWarning, stacklevel=2)
                keywords[current] = keywords.pop(former)
            return work(*arguments, **keywords)

        if isinstance(target, type):
            target.__init__ = understanding  # type: ignore[misc]
            return target
        return understanding  # type: ignore[return-value]

    return decorate


def notice(former: str, current: str) -> str:
    """What is said of a former name, by every door alike."""
    return f"{former} is called {current} now; its former name will be dropped in a later version"


def now_in(module: str, *names: str) -> Callable[[str], Any]:
    """``__getattr__`` of a module: names that stood in it in earlier versions are found where they stand now."""

    def look_up(name: str) -> Any:
        if name in names:
            return getattr(import_module(module), name)
        raise AttributeError(f"{name!r} is in no module of this name, nor in {module}")

    return look_up


def find_former_modules() -> None:
    """Let ``estimators.gate`` and the like be imported by the names of ``FORMER_MODULES``: the very same modules."""
    sys.modules[ROOT].__class__ = _Root
    if not any(isinstance(finder, _FormerModules) for finder in sys.meta_path):
        sys.meta_path.insert(0, _FormerModules())


class _Root(ModuleType):
    """A function keeps its name when a module that was called like it is imported: ``compare``, ``release_size``."""

    def __setattr__(self, name: str, value: object) -> None:
        if not (name in self.__all__ and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


class _FormerModules:
    """Finds a module by its former name, and whatever is below it: asked first, or that would be run twice."""

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        package, _, former = name.partition(".")
        below = ""
        while former and former not in FORMER_MODULES:
            former, dot, last = former.rpartition(".")
            below = f"{dot}{last}{below}"
        if package != ROOT or not former:
            return None
        current = f"{package}.{FORMER_MODULES[former]}{below}"
        return ModuleSpec(name, self, loader_state=current)  # type: ignore[arg-type]

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = import_module(str(spec.loader_state))
        spec.loader_state = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """It has run, by the name that it has now: its specification becomes its own again."""
        former = module.__spec__
        assert former is not None
        module.__spec__ = former.loader_state
