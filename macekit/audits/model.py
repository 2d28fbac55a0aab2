"""From a fitted model and its rows to a verdict: ask the model, train shadows if wanted, ask every query.

scikit-learn is imported when the sides are compared or a shadow is cloned, never before; PyTorch and its like never
are: a model is anything that answers rows.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import index
from typing import TYPE_CHECKING, Any, SupportsIndex

from macekit.audits import training
from macekit.audits.reader import Reader
from macekit.audits.rows import (
    check_sides_alone,
    groups_of_sides,
    judge_control,
    labels_of_side,
    require_order,
    shared_rows,
)
from macekit.audits.training import Progress, Steps
from macekit.client.problems import as_mace_problems
from macekit.client.result import Result
from macekit.text import names_the_nearest

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from estimators.audits.model import ModelAudit as Findings
    from estimators.audits.model import Outputs, Shadows, Strength
    from estimators.decisions.riskiest import AuditVerdict
    from estimators.decisions.verdict import Decision
    from macekit.schemas.statements import ProvenanceAnswer


PAIRS = {"max_tpr": "at_fpr", "max_exposed": "at_precision"}  # limits, and the option that belongs to each


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ModelAudit(Result):
    """What a model gives away about the rows it was trained on: a ``Result`` as that of ``audit_predictions``.

    The fields of ``estimators.audits.model.ModelAudit`` are attributes, too, as the library has them: ``comparison``,
    ``riskiest``, ``exposures``, ``limits``, ``scores``, ``shadows`` and more. Items and ``answer`` are the JSON.

    Attributes:
        operation, answer, source, made: As those of a ``Result``.
        library: What the library found, with the scores of every query and the shadows, which are in no answer.

    Example:
        >>> import macekit
        >>> import numpy as np
        >>> rng = np.random.default_rng(0)
        >>> X, y = rng.normal(size=(400, 1)), rng.integers(0, 2, 400)
        >>> audit = macekit.audit_model(lambda X: np.full(len(X), 0.5), X[:200], y[:200], X[200:], y[200:])
        >>> audit.decision, audit.to_dict()["fit"]["measure"], list(audit.scores)
        (None, 'accuracy', ['loss'])
    """

    library: Findings = field(kw_only=True)

    @property
    def verdict(self) -> AuditVerdict:  # type: ignore[override]
        """The decision over all limits, and whether a fail may be the sides' own difference."""
        return self.library.verdict

    @property
    def decision(self) -> Decision | str | None:
        """``pass``, ``fail``, ``fail, or drift``, ``inconclusive``, ``not applicable``; None if nothing was limited."""
        return self.verdict.word if self.verdict.or_drift else self.verdict.decision

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("_") and name != "library" and hasattr(self.library, name):
            return getattr(self.library, name)
        return Result.__getattr__(self, name)

    def __dir__(self) -> list[str]:
        return sorted({*Result.__dir__(self), *(name for name in dir(self.library) if not name.startswith("_"))})

    def __repr__(self) -> str:
        return f"<ModelAudit: {self.sentence}>"


@names_the_nearest
def audit_model(
    model: Any,
    X_train: Any,
    y_train: ArrayLike,
    X_test: Any,
    y_test: ArrayLike,
    *,
    shadows: int | Shadows | str | os.PathLike[str] = 0,
    max_advantage: float | None = None,
    max_tpr: float | None = None,
    at_fpr: float = 0.001,
    max_exposed: float | None = None,
    at_precision: float = 0.9,
    max_group_advantage: float | None = None,
    queries: Sequence[str] | None = None,
    together: bool = False,
    groups: ArrayLike | tuple[ArrayLike, ArrayLike] | None = None,
    outputs: Outputs | None = None,
    classes: ArrayLike | None = None,
    fit: training.Trainer | None = None,
    check_sides: bool = True,
    control: tuple[ArrayLike, ArrayLike] | None = None,
    twins: int = 0,
    copies: int = 4,
    prior: float = 0.5,
    confidence: float = 0.95,
    seed: int = 0,
    progress: Progress | bool | None = None,
) -> ModelAudit:
    """What a fitted model gives away about the rows that it was trained on, by every query that its answers allow.

    Args:
        model: A fitted classifier or regressor of scikit-learn or alike, or any function that takes rows and returns
            probabilities, logits, predictions or labels, one a row. A network of PyTorch in a function: ``lambda X:
            model(torch.as_tensor(X)).softmax(-1).detach().cpu().numpy()``.
        X_train: The rows that the model was trained on: an array, a frame, a sparse matrix or a list, as the model
            takes them.
        y_train: The class or the target of each.
        X_test: Rows like these that it was not trained on.
        y_test: The class or the target of each.
        shadows: How many shadow models to train, each on half of all rows: 0, or at least 2; 16 tell most. Or those of
            an earlier audit of the same rows (``audit.shadows``), or an ``.npz`` file with ``signals`` and
            ``membership``.
        max_advantage, max_tpr, at_fpr, max_exposed, at_precision, max_group_advantage: As for ``audit_synthetic``.
        queries: Names of the queries to ask (``estimators.audits.queries.MODELS`` and ``SHADOWS``); None for all that
            apply and that do not order the records as another one does.
        together: Whether to learn a score of all queries together from 40% of the rows, as one query more, which is
            stated on the other rows.
        groups: A label for each row, training rows first, or a pair of arrays: the riskiest query is stated within
            each group as well.
        outputs: What the answers are: ``"probabilities"``, ``"logits"`` (scores before the softmax), ``"predictions"``
            of a regressor or ``"labels"``. None: what the model or its answers show.
        classes: The labels in the order of the columns; None for ``model.classes_``, or columns numbered from 0.
        fit: How to train a shadow or a twin: a function of rows, labels and a seed that returns what ``model`` may be.
            None: scikit-learn's clone of the model is fitted.
        check_sides: Whether to look for what tells the two sides apart without the model, in the columns of ``X_train``
            and ``X_test``: if anything does, a fail is "fail, or drift".
        control: A score of each row of ``X_train`` and one of each of ``X_test`` by a model of the same kind that was
            trained on none of them: if it tells them apart, a fail is "fail, or drift", too.
        twins: How many twins to train, which measure how strong the queries are: each on ``X_train`` and on rows of
            ``X_test`` that are planted in it, for the same queries to find; 0 for none, 4 tell much. Each takes rows of
            its own, a tenth as many as it has training rows at most, and spares as many.
        copies: How many times each planted row stands in its twin's training rows.
        prior, seed: As for ``estimate``.
        confidence: Probability that both ends of an interval hold, strictly between 0 and 1. The decision over all
            limits errs either way with half of the rest at most.
        progress: Called with a sentence after each step, such as ``print``: "3 of 16 shadows trained". None: a bar on
            standard error, if that is a terminal. True: a bar, or lines where it is none; False: nothing.

    Returns:
        a ``ModelAudit``, which is a ``Result``: ``decision``, ``sentence``, ``comparison`` of all queries,
        ``exposures``, ``limits``, ``cautions``; ``print`` shows it, and in a notebook it shows itself.

    Raises:
        MaceProblem: a model that is not fitted or answers NaN, labels that it does not know, rows and labels that do
            not belong together; the text says what to do.

    Example:
        >>> import macekit
        >>> import numpy as np
        >>> from sklearn.tree import DecisionTreeClassifier
        >>> rng = np.random.default_rng(0)
        >>> X, y = rng.normal(size=(400, 5)), rng.integers(0, 2, 400)  # nothing to learn, and it learns all by heart
        >>> model = DecisionTreeClassifier(random_state=0).fit(X[:200], y[:200])
        >>> audit = macekit.audit_model(model, X[:200], y[:200], X[200:], y[200:], max_advantage=0.1)
        >>> audit.decision.value, audit.riskiest
        ('fail', 'loss')
    """
    from estimators.audits.model import audit_model as judge_answers
    from estimators.errors import require_count
    from macekit.questions.audits.model.work import of_audit
    from macekit.reports.model import minute

    rows, truth = (X_train, X_test), (y_train, y_test)
    options: dict[str, Any] = {
        "max_advantage": max_advantage,
        "max_tpr": max_tpr,
        "at_fpr": at_fpr,
        "max_exposed": max_exposed,
        "at_precision": at_precision,
        "max_group_advantage": max_group_advantage,
        "queries": queries,
        "together": together,
        "prior": prior,
        "confidence": confidence,
        "seed": seed,
    }
    with as_mace_problems(), Steps.reporting(progress) as steps:
        reader = Reader.of(model, outputs, classes)
        require_order(model, rows, truth)
        labels = tuple(
            labels_of_side(side, each, name) for side, each, name in zip(rows, truth, ("train", "test"), strict=True)
        )
        shared, cautions = shared_rows(*rows)
        seed = require_count("seed", seed, 0)
        twins, copies = require_count("twins", twins, 0), require_count("copies", copies)
        retrain = (fit or training.clone_trainer(model, "twins")) if twins else None
        answers = []
        with training.one_thread(model):
            for X, name in zip(rows, ("X_train", "X_test"), strict=True):
                answers.append(reader.ask(X, name))
                steps(len(answers), len(rows), f"sides asked: {name}")
        reader = reader.with_kind(answers, labels)
        reader.require_known(labels)
        table: Shadows | None = None
        if isinstance(shadows, bool) or not isinstance(shadows, SupportsIndex):
            table = training.load_shadows(shadows)
        elif shadows != 0:
            count = require_count("shadows", index(shadows), 2)
            table, notes = training.train_shadows(model, reader, rows, labels, answers, count, fit, seed, steps)
            cautions += notes
        strength: Strength | None = None
        if retrain is not None:
            strength, notes = training.train_twins(
                model, reader, rows, labels, answers, (twins, copies), retrain, table, steps, **options
            )
            cautions += notes
        split = None
        if check_sides:
            split, notes = check_sides_alone(rows, confidence, seed)
            cautions += notes
        audit = judge_answers(
            answers[0],
            answers[1],
            labels[0],
            labels[1],
            outputs=reader.outputs or "probabilities",
            classes=reader.classes,
            shadows=table,
            groups=groups_of_sides(groups, len(labels[0])),
            split=split,
            control=judge_control(control, labels, confidence, seed),
            strength=strength,
            shared=shared,
            progress=steps,
            **options,
        )
        audit = replace(audit, cautions=(*cautions, *audit.cautions))
        arrays = {"groups": groups, "control": control, "classes": classes, "fit": fit}
        settings = {**options, "outputs": outputs, "shadows": shadows, "check_sides": check_sides}
        if twins:
            settings |= {"twins": twins, "copies": copies}
        source = _provenance(audit, answers, labels, settings, arrays)
        return ModelAudit("model", dict(of_audit(audit, [], source)), made=minute(), library=audit)


def _provenance(
    audit: Findings,
    answers: Sequence[NDArray[np.generic]],
    labels: Sequence[NDArray[np.generic]],
    settings: Mapping[str, Any],
    arrays: Mapping[str, Any],
) -> ProvenanceAnswer:
    """Where the numbers come from: the answers and labels they were computed from, and the options."""
    import numpy as np

    from estimators.sample.digests import digest
    from estimators.statement import VERSION
    from macekit.reports.content.reproduce import FROM_A_MODEL, LEFT_OUT

    unused = {name for limit, name in PAIRS.items() if settings[limit] is None}
    plain = {name: value for name, value in settings.items() if value is not None and name not in unused}
    if not isinstance(plain["shadows"], SupportsIndex):
        plain["shadows"] = LEFT_OUT
    elif plain["shadows"] == 0:
        del plain["shadows"]
    plain |= {name: LEFT_OUT for name, value in arrays.items() if value is not None}
    return {
        "method": FROM_A_MODEL,
        "version": VERSION,
        "n_members": len(labels[0]),
        "n_nonmembers": len(labels[1]),
        "input_sha256": digest(*answers, *labels),
        "query": f"{audit.outputs} of a model beside the truth",
        "columns": [],
        "seed": settings["seed"],
        "options": {name: np.asarray(value).tolist() for name, value in plain.items()},
    }
