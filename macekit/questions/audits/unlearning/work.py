"""``/v1/unlearning``: what is left of records that a model was to forget."""

from collections.abc import Iterator, Mapping
from itertools import chain, combinations

import numpy as np

from estimators.arrays import Floats
from estimators.audits.unlearning import CutExcess, audit_unlearning
from estimators.risk.groups import one_kind
from estimators.sample.digests import digest
from estimators.sample.doubts import SAME
from estimators.sample.integers import require_different_floats
from estimators.statement import Caution
from macekit.call import Call, Reply
from macekit.decoding.body import DecodedBody
from macekit.decoding.roles import SCORE_NAMES
from macekit.decoding.whole_tables import require_tables
from macekit.operations import encode
from macekit.operations.options import parse_question, reply_of
from macekit.problems import fault
from macekit.questions.audits.table_answers import Columns, Values, column_of, column_read, provenance
from macekit.questions.audits.unlearning import CutExcessAnswer, UnlearningAnswer, UnlearningQuestion

RETRAINED = "retrained"  # what the column of a retrained model's score is called, if nobody says


def answer(call: Call, body: DecodedBody) -> Reply:
    """The residual advantage, the excess over retraining, and the share that remains."""
    question = parse_question(UnlearningQuestion, body)
    require_tables(call.operation, body.tables)
    tables, again, names = body.tables, question.retrained, {}
    sides = {name: tables[name] for name in ("forgotten", "unseen")}
    if again is None and all(RETRAINED in side for side in sides.values()):
        again = RETRAINED
    score = question.score or _score_of(sides["forgotten"], (again, question.id))
    scores = _numbers(tables, score, "score")
    read = [column_read("score", score, np.concatenate([*scores.values()]))]
    retrained = []
    if again is not None:
        retrained = [*_numbers(sides, again, RETRAINED).values()]
        read.append(column_read(RETRAINED, again, np.concatenate(retrained)))
    if question.id is not None:
        names = {name: column_of(name, table, question.id, "id") for name, table in tables.items()}
        read.append(column_read("id", question.id, np.concatenate([*names.values()])))
    audit = audit_unlearning(
        scores["forgotten"],
        scores["unseen"],
        scores.get("retained"),
        (retrained[0], retrained[1]) if retrained else None,
        question.max_advantage,
        question.confidence,
        question.seed,
        question.accept_exposure,
        [*_shared_records(names)],
    )
    excess, share = audit.excess, audit.share
    verdict = None if audit.verdict is None else encode.verdict(audit.verdict)
    if verdict is not None:
        verdict["covers"] = list(audit.covers)
    sizes = len(scores["forgotten"]), len(scores["unseen"])
    sha256 = digest(*(scores[name] for name in sorted(scores)), *retrained)
    content = encode.as_answer(
        UnlearningAnswer,
        audit,
        residual=encode.certified(audit.residual),
        excess=None if excess is None else encode.interval(excess.estimate),
        excess_least_limit=None if excess is None else excess.least_limit,
        cuts=[] if excess is None else [_cut(each) for each in excess.cuts],
        remaining_share=None if share is None else encode.interval(share.estimate),
        remaining_cut=None if share is None else share.cut,
        verdict=verdict,
        n_retained=len(scores.get("retained", ())),
        warnings=encode.warnings(audit.cautions),
        provenance=provenance(call, question, sizes, sha256, "one score a record", read),
    )
    return reply_of(call, content)


def _cut(each: CutExcess) -> CutExcessAnswer:
    return encode.as_answer(CutExcessAnswer, each, **encode.interval(each.estimate))


def _shared_records(names: Mapping[str, Values]) -> Iterator[Caution]:
    """That records stand in two tables: then these are no sides to be told apart."""
    own = {table: {*column.tolist()} for table, column in names.items()}
    name_of = one_kind(chain.from_iterable(own.values()), "id")
    for first, second in combinations(own, 2):
        if both := len({*map(name_of.get, own[first])} & {*map(name_of.get, own[second])}):
            words = f"records of {first} stand in {second}, too, by their id: {both:,} of them"
            yield Caution(SAME, f"{words}; leave each out of one of both")


def _score_of(table: Columns, others: tuple[str | None, ...]) -> str:
    """The only column that is left, or the one that is name_of as scores usually are."""
    free = [name for name in table if name not in others]
    usual = [name for name in free if name.lower() in SCORE_NAMES]
    for names in (free, usual):
        if len(names) == 1:
            return names[0]
    words = f"{len(usual or free)} columns of forgotten could be the score; say which with score=NAME"
    raise fault("missing-field", "score", words)


def _numbers(tables: Mapping[str, Columns], name: str, option: str) -> dict[str, Floats]:
    columns = {side: column_of(side, table, name, option) for side, table in tables.items()}
    for side, column in columns.items():
        if column.dtype.kind not in "iuf":
            words = f"column {name!r} of {side} holds no numbers; name that of the score"
            raise fault("wrong-type", option, words)
    require_different_floats([*columns.values()], option, option)
    return {side: column.astype(np.float64) for side, column in columns.items()}
