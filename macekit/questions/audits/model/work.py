"""``/v1/model``: what a model's predictions give away about the rows it was trained on."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

import numpy as np

from estimators.audits import model
from estimators.audits.queries import MODELS, encode_sides
from estimators.audits.queries.values import read_values
from estimators.audits.sides import labels_of_sides, one_row_each
from estimators.audits.split import SplitCheck, check_rows
from estimators.sample.digests import digest
from estimators.statement import Caution
from macekit.call import Call, Reply
from macekit.decoding.body import DecodedBody
from macekit.decoding.roles import truth_columns
from macekit.operations import encode
from macekit.operations.effects import require_acceptance_acts
from macekit.operations.options import parse_question, reply_of
from macekit.problems import Problem, fault
from macekit.questions.audits import table_answers
from macekit.questions.audits.model import FitAnswer, ModelAnswer, ModelQuestion
from macekit.questions.audits.table_answers import Columns, Values
from macekit.questions.risk.work import group_rows
from macekit.schemas.answers import StrengthAnswer
from macekit.schemas.questions import QueryLimitsQuestion
from macekit.schemas.statements import ColumnReadAnswer, ProvenanceAnswer

NUMBERS = ("whole", "number")  # kinds of columns that hold numbers

ASKED = {"queries", "together", "prior", "confidence", "seed"}
"""Options that the library has by the same names, of the audit and of the strength of its queries alike."""


def answer(call: Call, body: DecodedBody) -> Reply:
    """Every query that the predictions allow, what tells the sides apart anyway, and the verdict."""
    question = parse_question(ModelQuestion, body)
    table_answers.require_columns(call, question, body.tables)
    table_answers.require_pairs(question)
    require_acceptance_acts(question)
    train, holdout = body.tables["train"], body.tables["holdout"]
    twins = _of_twins(question, body.tables)
    train, holdout, _, notes = one_row_each(question.unit, train, holdout, question.seed)
    truth = question.truth or _truth_of(train)
    tables = (("train", train), ("holdout", holdout), *twins)
    labels = _alike([table_answers.column_of(side, table, truth, "truth") for side, table in tables])
    _require_features(question)
    names = question.predictions or _predictions_of(question, train, truth, labels[:2])
    answers = _alike([_answers(side, table, names) for side, table in tables])
    _require_two_sides(answers[:2], labels[:2])
    outputs = question.outputs or model.kind_of(np.concatenate(answers), np.concatenate(labels))
    control = table_answers.control_column(question.control, train, holdout)
    fingerprint = digest(*answers, *labels, *control.scores)
    columns = [*_columns(names, answers, truth, labels, outputs), *control.read()]
    classes = _classes(names, labels, outputs)
    model.require_no_shares(outputs, np.concatenate(answers), question.outputs is not None)
    if classes is not None and classes.dtype.kind == "U":
        labels = [each.astype(np.str_) for each in labels]
    split = _split(question, train, holdout)
    groups = None
    if question.group is not None:
        groups = tuple(np.split(labels_of_sides(question.group, train, holdout), [len(labels[0])]))
    strength = None
    if twins:
        strength = model.query_strength(
            *answers[2:],
            *labels[2:],
            outputs=outputs,
            classes=classes,
            copies=question.copies or 1,
            limit=question.max_advantage,
            **question.model_dump(include=ASKED),
        )
    audit = model.audit_model(
        *answers[:2],
        *labels[:2],
        outputs=outputs,
        classes=classes,
        split=split,
        control=control.judged(question.confidence, question.seed),
        strength=strength,
        groups=cast("Any", groups),
        **question.model_dump(
            exclude_none=True,
            include={*QueryLimitsQuestion.model_fields, "max_group_advantage", "accept_exposure", *ASKED},
        ),
    )
    sizes, query = (len(labels[0]), len(labels[1])), f"{outputs} of a model beside the truth"
    source = table_answers.provenance(call, question, sizes, fingerprint, query, columns)
    return reply_of(call, of_audit(audit, notes, source))


def of_audit(audit: model.ModelAudit, notes: Sequence[Caution], source: ProvenanceAnswer) -> ModelAnswer:
    """An audit as its answer."""
    return {
        **table_answers.over_queries(
            audit.sentence, audit.verdict, audit.limits, audit.comparison, audit.exposures, MODELS
        ),
        "split": None if audit.split is None else table_answers.split(audit.split),
        "control": table_answers.control(audit.control),
        "groups": group_rows(audit.groups, {each.label: each for each in audit.by_group}),
        "fit": encode.as_answer(FitAnswer, audit.fit),
        "outputs": audit.outputs,
        "not_asked": dict(audit.not_asked),
        "strength": _strength(audit.strength),
        "warnings": encode.warnings((*notes, *audit.cautions)),
        "provenance": source,
    }


def _strength(strength: model.Strength | None) -> StrengthAnswer | None:
    """How strong the queries are; None if that was not measured."""
    if strength is None:
        return None
    return encode.as_answer(
        StrengthAnswer,
        strength,
        advantage=encode.interval(strength.comparison.maximum),
        beside=None if strength.beside is None else encode.interval(strength.beside.estimate),
    )


def _of_twins(question: ModelQuestion, tables: Mapping[str, Columns]) -> list[tuple[str, Columns]]:
    """What twins answer about planted and about spared records; nothing, if neither is there."""
    sides = [(name, tables[name]) for name in ("planted", "spared") if name in tables]
    if len(sides) == 1:
        detail = (
            "planted, spared: got one of both, need what twins answer about records planted in their training, and "
            "about others that were drawn with them and left out"
        )
        raise Problem("missing-field", detail, field="spared" if sides[0][0] == "planted" else "planted")
    if not sides and question.copies is not None:
        raise Problem("missing-field", "copies: needs planted and spared records", field="planted")
    return sides


def _truth_of(train: Columns) -> str:
    """The column of the truth by its usual name."""
    columns = list(train)
    names = [columns[at] for at in truth_columns(columns)]
    if len(names) != 1:
        why = "no column is" if not names else f"{' and '.join(map(repr, names))} could be"
        raise fault("missing-field", "truth", f"{why} the truth by name; name the column")
    return names[0]


def _predictions_of(question: ModelQuestion, train: Columns, truth: str, labels: Sequence[Values]) -> list[str]:
    """The columns that begin alike and go on with the classes; else all numbers that have no other part."""
    apart = {truth, question.group, question.unit, question.control, *question.leave_out, *question.features}
    names = [name for name in train if name not in apart]
    classes = [str(each) for each in np.unique(np.concatenate(labels)).tolist()]
    for name in names:
        first = name.removesuffix(classes[0])
        if first != name and {first + each for each in classes} <= set(names):
            return [each for each in names if each.startswith(first) and (first or each in classes)]
    for name, label in ((name, each) for name in names for each in classes if name.endswith(f"_{each}")):
        first = name.removesuffix(label)
        lacking = [each for each in classes if first + each not in names]
        if len(classes) - len(lacking) > 1:
            detail = (
                f"columns such as {name!r} are called after classes, and none is called "
                f"{first + lacking[0]!r}; leave out rows of that class, or name the columns of predictions"
            )
            raise fault("bad-records", "predictions", detail)
    if len(names) > 1:
        names = [name for name in names if read_values("train", name, train[name], len(train[name])).kind in NUMBERS]
    if not names:
        raise fault("missing-field", "predictions", "no column is left for them; name theirs")
    return names


def _require_features(question: ModelQuestion) -> None:
    """Refuse a column that is to be read in a way although it is not read."""
    for option in ("categories", "use"):
        odd = next((name for name in getattr(question, option) if name not in question.features), None)
        if odd is not None:
            detail = f"{odd!r} is none of the features, and only they are compared; name it in features, too"
            raise fault("bad-option", option, detail)


def _answers(side: str, table: Columns, names: Sequence[str]) -> Values:
    """What the model predicts for each row: a column, or a row of numbers each."""
    if len(names) == 1:
        return table_answers.column_of(side, table, names[0], "predictions")
    columns = [table_answers.column_of(side, table, name, "predictions") for name in names]
    for name, column in zip(names, columns, strict=True):
        if column.dtype.kind not in "iuf":
            raise fault(
                "wrong-type",
                "predictions",
                f"column {name!r} of {side} holds no numbers; name the columns of predictions, or leave it out",
            )
    return np.column_stack([column.astype(np.float64) for column in columns])


def _alike(sides: list[Values]) -> list[Values]:
    """Both sides as numbers, or both as text where one is."""
    texts = [each.dtype.kind == "U" for each in sides]
    return [each.astype(np.str_) for each in sides] if any(texts) and not all(texts) else sides


def _classes(names: Sequence[str], labels: Sequence[Values], outputs: str) -> Values | None:
    """The labels in the order of the columns: a column is called after its class, or after what all have before it."""
    if outputs not in ("probabilities", "logits"):
        return None
    every = np.unique(np.concatenate(labels))
    if len(names) == 1 and every.dtype.kind in "iuf":
        return None
    if len(names) == 1:
        first, second = map(str, (every[0], every[-1]))
        if len(every) == 2 and _is_called_after(names[0], first, second):
            detail = (
                f"column {names[0]!r} is called after the class {first!r}, and one column is read as that of the "
                f"other of two classes, {second!r}: give both, or 1 less this one, called p_{second}"
            )
            raise fault("bad-records", "predictions", detail)
        return every
    classes = [str(each) for each in every.tolist()]
    words = list(names)
    for shared in _shared_letters(names):
        words = [name[shared:] for name in names]
        if set(classes) <= set(words):
            numbers = every.dtype.kind in "iu" and all(map(str.isdecimal, words))
            return np.array([int(each) for each in words] if numbers else words)
    if every.dtype.kind in "iu" and every[0] >= 0 and every[-1] < len(names):
        return None
    odd = next(each for each in classes if each not in words)
    detail = (
        f"no column is called after the class {str(odd)!r}; call each column of predictions as its class, such as "
        f"p_{odd}, and name these where others stand beside them"
    )
    raise fault("bad-records", "predictions", detail)


def _is_called_after(name: str, first: str, second: str) -> bool:
    """Whether a column is called after the first of two classes, and not after the second, which may end as it does."""
    words = f" {name.replace('_', ' ')}"
    of_first, of_second = (words.endswith(f" {each.replace('_', ' ')}") for each in (first, second))
    return of_first and not of_second


def _shared_letters(names: Sequence[str]) -> Iterator[int]:
    """How much all names may begin with before the class: nothing, up to the last mark between words, or all."""
    same = next((place for place, letters in enumerate(zip(*names, strict=False)) if len(set(letters)) > 1), 0)
    first = names[0][:same]
    marks = [place + 1 for place, letter in enumerate(first) if not letter.isalnum()]
    yield from dict.fromkeys((0, marks[-1] if marks else 0, same))


def _require_two_sides(answers: Sequence[Values], labels: Sequence[Values]) -> None:
    """Refuse one file as both sides."""
    same = all(np.array_equal(one, other) for one, other in (answers, labels))
    if same and len(np.unique(answers[0], axis=0)) > 2:  # labels alone may be the same by chance
        detail = (
            "it is train, row for row: nothing tells them apart, whatever leaks; give what the model says of "
            "rows that were held out"
        )
        raise fault("bad-records", "holdout", detail)


def _columns(
    names: Sequence[str], answers: Sequence[Values], truth: str, labels: Sequence[Values], outputs: str
) -> Iterator[ColumnReadAnswer]:
    """The columns that were read, and what each was taken for."""
    both = np.concatenate(answers)
    for name, column in zip(names, both.T if both.ndim == 2 else [both], strict=True):
        yield table_answers.column_read(outputs, name, column)
    yield table_answers.column_read("truth", truth, np.concatenate(labels))


def _split(question: ModelQuestion, train: Columns, holdout: Columns) -> SplitCheck | None:
    """Whether the sides differ in what the model read; None if no such column was named."""
    if not question.features or not question.check_sides:
        return None
    sides = encode_sides(
        {name: train[name] for name in question.features},
        {name: holdout[name] for name in question.features},
        categories=question.categories,
        use=question.use,
    )
    return check_rows(sides, confidence=question.confidence, seed=question.seed)
