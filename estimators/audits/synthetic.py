"""From a training, a hold-out and a released table to one verdict on the release.

Every query of the released table is asked of both sides. What is limited is limited for the riskiest of them: a limit
passes if it passes for all queries, which needs no correction, for one fixed query is truly the riskiest and its limit
has to be wrong (Berger 1982); it fails if it fails for one of them, and the lower ends share the error over all queries
and limits. Copies are counted: the training table is known whole, so that their number is a fact, and what the hold-out
says is how many of them chance explains. They are judged unasked, too: what would be a pass is a fail if training rows
are shown to be copied, at a tenth of the level, which comes on top of it. What tells the sides apart without the
release at all is said beside it, and turns a fail into "fail, or drift".

That no member is exposed is no limit that could be passed: no number of records shows that nobody is. What share of
them is exposed at a precision is one (``max_exposed``, ``at_precision``), and so is how many are found at a false
positive rate (``max_tpr``, ``at_fpr``); members that a query exposes are warned of beside any decision that is no fail.
"""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from estimators.adversary.learned import Learner
from estimators.arrays import random_of
from estimators.audits.copies import (
    NEAR_COPY,
    Copies,
    CopiesJudged,
    among_all_rows,
    copied_identifiers,
    copies_cautions,
    count_altered_copies,
    count_copies,
    count_near_copies,
    how_judged,
    judge_all,
    judge_copies,
    require_copies,
    unasked_fail,
)
from estimators.audits.queries.query import choose
from estimators.audits.queries.rows import (
    MEMBERS,
    NONMEMBERS,
    firsts,
    many_rows_repeat,
    require_two_sides,
    share_of_training_rows,
)
from estimators.audits.queries.synthetic import CATALOGUE, NEAREST, WITH_REFERENCE, SyntheticScores, synthetic_scores
from estimators.audits.queries.table import Encoding, Table, encode, encode_sides
from estimators.audits.sides import labels_of_sides, one_row_each, share_of_members
from estimators.audits.split import SPLIT_LEARNERS, Control, SplitCheck, check_rows
from estimators.decisions.compare import Comparison, compare
from estimators.decisions.exposed_members import AT_PRECISION, exposures_of
from estimators.decisions.riskiest import (
    AnyLimit,
    AuditVerdict,
    RiskiestLimit,
    by_groups,
    drift_of,
    judge_groups,
    judge_queries,
    limits_of,
    most_exposed,
    require_groups,
    verdict_of,
)
from estimators.decisions.tpr_limit import MaxTpr
from estimators.decisions.verdict import PUBLISHED, Decision, overall
from estimators.errors import InputError, OptionError, TooFewRecords, require_count, require_open_unit
from estimators.privacy.direction import Direction
from estimators.privacy.exposure import Exposure
from estimators.python.dataclass import dataclass, replace
from estimators.risk.groups import GroupRisks
from estimators.risk.within_groups import GroupAdvantage
from estimators.sample.doubts import DOUBTS, SAME
from estimators.sample.scores import MIN_RECORDS, Scores
from estimators.sample.scores import Query as ScoreKind
from estimators.statement import VERSION, Caution, Provenance

__all__ = ["Copies", "SyntheticAudit", "audit_synthetic", "release_queries"]


@dataclass(frozen=True, slots=True)
class SyntheticAudit:
    """What a released table gives away about the rows it was made from; ``audit_synthetic`` makes it.

    Attributes:
        comparison: Every query with its advantage, and the riskiest of them, whose interval holds for all together.
        exposures: For each query, whether some members' scores are out of nonmembers' reach; they hold together.
        copies: Rows that were released as they are.
        near_copies: Rows that have a near copy in the release, those that have an exact one included.
        copies_judged: Whether copies were limited, judged unasked, or accepted; None if nothing was limited.
        split: Whether the two sides differ without the release; None if that was not asked, or no column can tell.
        control: The advantage of a score whose release was made of neither side; None if there is none.
        limits: Each limit with its decision.
        groups: Mean risk of each group by the riskiest query, whichever that is; None if no groups were given.
        by_group: The advantage within each group by that query; they hold together.
        confidence: 1 less twice the probability that the decision errs either way.
        cautions: What looks wrong with the tables, exposed members, sides that differ, and what was left out.
        provenance: Method, version, numbers of rows, prior and seed.
        tables: The tables as they were understood.
        accept_exposure: Whether a severe exposure was accepted.
        shared: The share of the hold-out that is of the training side, too: its rows, or their persons.

    Example:
        >>> import numpy as np
        >>> from estimators.audits.synthetic import audit_synthetic
        >>> rng = np.random.default_rng(0)
        >>> people = lambda n: {"age": rng.normal(45, 12, n), "income": rng.normal(3, 1, n)}
        >>> train, holdout, released = people(500), people(500), people(500)
        >>> released = {name: np.r_[column, train[name][:25]] for name, column in released.items()}
        >>> audit = audit_synthetic(train, holdout, released, max_copies_over_holdout=0)
        >>> audit.copies.members, audit.verdict.word
        (25, 'fail')
        >>> print(audit.sentence)
        Fail: with 97.5% confidence (one end of a 95% interval) at least 20 training rows were copied beyond what
        chance explains, above 0.
    """

    comparison: Comparison
    exposures: Mapping[str, Exposure]
    copies: Copies
    near_copies: Copies
    copies_judged: CopiesJudged | None
    split: SplitCheck | None
    control: Control | None
    limits: tuple[RiskiestLimit, ...]
    groups: GroupRisks | None
    by_group: tuple[GroupAdvantage, ...]
    confidence: float
    cautions: tuple[Caution, ...]
    provenance: Provenance
    tables: Encoding
    accept_exposure: bool = False
    shared: float = 0.0

    @property
    def riskiest(self) -> str:
        """The query with the largest estimated advantage."""
        return self.comparison.ranking[0].name

    @property
    def verdict(self) -> AuditVerdict:
        """The decision over all limits, which is ``fail, or drift`` where the sides differ anyway."""
        accepted = self.copies_judged == "accepted"
        return verdict_of(
            self.limits,
            self.split,
            "release",
            self.control,
            self.exposures,
            self.accept_exposure,
            [each for each in self.cautions if each.code not in (SAME, PUBLISHED if accepted else "")],
            self.provenance.prior,
            self.shared,
        )

    @property
    def decision(self) -> Decision | None:
        """Fail if any limit fails, pass if all pass; None if nothing was limited.

        A pass does not stand beside a severe exposure, unless exposure is limited or was accepted.
        """
        return self.verdict.decision

    @property
    def most_exposed(self) -> tuple[str, Exposure]:
        """The query that exposes members most surely, and what it shows."""
        return most_exposed(self.exposures)

    @property
    def sentence(self) -> str:
        """The verdict and what it rests on, in plain words."""
        return self.verdict.sentence or self.comparison.sentence


def audit_synthetic(
    train: Table,
    holdout: Table,
    synthetic: Table,
    reference: Table | None = None,
    *,
    max_advantage: float | None = None,
    max_tpr: float | None = None,
    at_fpr: float = 0.001,
    max_exposed: float | None = None,
    at_precision: float = AT_PRECISION,
    max_group_advantage: float | None = None,
    max_copies_over_holdout: int | None = None,
    max_near_copies_over_holdout: int | None = None,
    accept_copies: bool = False,
    accept_exposure: bool = False,
    queries: Sequence[str] | None = None,
    prior: float = 0.5,
    confidence: float = 0.95,
    seed: int = 0,
    check_sides: bool = True,
    learners: Sequence[Learner] = SPLIT_LEARNERS,
    categories: Sequence[str] = (),
    leave_out: Sequence[str] = (),
    use: Sequence[str] = (),
    unit: str | None = None,
    groups: str | ArrayLike | None = None,
    control: Control | None = None,
) -> SyntheticAudit:
    """Ask every query of a released table, and hold what they find against limits.

    Args:
        train: Columns by name of the rows that the release was made from: numbers, booleans, texts, dates, missing
            values.
        holdout: The same columns of rows like these that it was not made from.
        synthetic: The same columns of the released rows.
        reference: The same columns of further rows, of neither side; without it, queries that need one are not asked.
        max_advantage: Largest advantage of the riskiest query that is acceptable.
        max_tpr: Largest true positive rate at ``at_fpr`` that is acceptable, of any query; attackers may toss coins
            among equal scores.
        at_fpr: The false positive rate that goes with it, strictly between 0 and 1.
        max_exposed: Largest share of training rows that is acceptable in one range of any query's score that makes
            membership at least ``at_precision`` probable.
        at_precision: How probable that is, above the prior and below 1.
        max_group_advantage: Largest advantage of any query that is acceptable within any group, on the group's own
            rows; needs groups. A group with rows of one side only, or with too few, leaves it open.
        max_copies_over_holdout: Most training rows that may be copied beyond what chance explains, at least 0. If it is
            left out, what would be a pass is a fail if any are shown to be, at a tenth of the level.
        max_near_copies_over_holdout: The same of rows that have a near copy; it is judged only if it is given.
        accept_copies: Whether copies that nobody limited are no reason to fail.
        accept_exposure: Whether a pass may stand beside a severe exposure that no limit judges.
        queries: Names of the queries to ask, at least 2 (``estimators.audits.queries.SYNTHETIC``); None for all that
            can be.
        prior, seed: As for ``advantage``.
        confidence: Probability that both ends of an interval hold, strictly between 0 and 1. The decision over all
            limits that are given errs either way with half of the rest at most; copies that nobody limited make it
            fail by mistake with a tenth of that at most, in addition.
        check_sides: Whether to look for what tells the sides apart without the release.
        learners: Classifiers that compete for that.
        categories: Columns of numbers that are names of something, such as codes.
        leave_out: Columns that are not to be used.
        use: Columns that are to be used although they look like identifiers.
        unit: Column of both sides that says whom a row belongs to: one row of each person, drawn at random, is asked
            about, copies are counted among all, and the column is used for nothing else.
        groups: Column of both sides by which to state mean risks; or a label for each row, those of ``train`` first.
        control: The advantage of a score of both sides by a release that was made of neither
            (``estimators.control``): if it has one, a fail is "fail, or drift".

    Raises:
        InputError: tables that cannot be read together, or fewer than 8 rows on a side; the text says which column and
            what to do.
        OptionError: a limit out of its range, fewer than two queries, or one that needs a reference.

    Example:
        >>> import numpy as np
        >>> from estimators.audits.synthetic import audit_synthetic
        >>> rng = np.random.default_rng(0)
        >>> people = lambda n: {"age": rng.normal(45, 12, n), "income": rng.normal(3, 1, n)}
        >>> tables = [people(500) for _ in range(4)]
        >>> audit = audit_synthetic(*tables, max_advantage=0.2, max_copies_over_holdout=0)
        >>> audit.verdict.word, [(limit.name, limit.decision.value) for limit in audit.limits]
        ('pass', [('advantage', 'pass'), ('copies', 'pass')])
    """
    confidence, prior = require_open_unit("confidence", confidence), require_open_unit("prior", prior)
    require_count("seed", seed, 0)
    audit_limits = limits_of(max_advantage, max_tpr, at_fpr, Direction.EITHER, max_exposed, at_precision)
    further = require_copies(max_copies_over_holdout, max_near_copies_over_holdout, accept_copies)
    require_groups(max_group_advantage, grouped=groups is not None)
    further += max_group_advantage is not None
    names = choose(CATALOGUE, queries, ("synthetic",) if reference is None else WITH_REFERENCE)
    if len(names) < 2:
        raise OptionError.about("queries", f"got {len(names)}, need at least 2")
    labels = None if groups is None else labels_of_sides(groups, train, holdout)
    if isinstance(groups, str) and groups not in synthetic:
        leave_out = [*leave_out, groups]
    whole = train, holdout, synthetic
    train, holdout, rows, notes = one_row_each(unit, train, holdout, seed)
    if unit is not None:
        labels = None if labels is None else labels[rows]
        leave_out = [*leave_out, unit]
    tables = encode(train, holdout, synthetic, reference, categories=categories, leave_out=leave_out, use=use)
    every = None if unit is None else encode_all_rows(*whole, tables, categories)
    require_rows(tables)
    of_training = max(share_of_training_rows(tables.members, tables.nonmembers), share_of_members(unit, *whole[:2]))
    if many_rows_repeat(tables.members, tables.nonmembers):
        every, (tables, kept) = every or tables, each_row_once(tables)
        labels = None if labels is None else labels[kept]
    of_queries = synthetic_scores(tables, [*dict.fromkeys([*names, NEAR_COPY])])
    scores = {name: each for name, each in scores_of(of_queries).items() if name in names}
    shared = 1.0 - (1.0 - confidence) / max(len(audit_limits) + further, 1)
    copies, near_copies = count_copies(tables, shared), count_near_copies(of_queries, tables, shared)
    if every is not None:
        copies = among_all_rows(copies, count_copies(every, shared))
        near = count_near_copies(synthetic_scores(every, [NEAR_COPY]), every, shared)
        near_copies = among_all_rows(near_copies, near)
    split = None
    if check_sides:
        split = compare_sides(train, holdout, tables, confidence, seed, learners, categories, use, notes)
    drift = drift_of(split, control, prior, of_training)
    limits = list(_judge(audit_limits, scores, prior, confidence, seed, further, drift))
    if max_group_advantage is not None and labels is not None:
        number = len(audit_limits) + further - 1
        of_each = dict.fromkeys(scores, labels)
        limits.append(judge_groups(max_group_advantage, scores, of_each, prior, confidence, seed, number, drift=drift))
    if max_copies_over_holdout is not None:
        limits.append(judge_all(tables, copies, max_copies_over_holdout, confidence))
    if max_near_copies_over_holdout is not None:
        limits.append(judge_copies(near_copies, max_near_copies_over_holdout))
    limits = [_with_identifiers(limit, tables) for limit in limits]
    judged = how_judged(bool(limits), max_copies_over_holdout, accept_copies)
    if judged == "unasked" and overall(limit.decision for limit in limits) is Decision.PASS:
        limits += unasked_fail(tables, confidence)
    comparison = compare(scores, prior, confidence=confidence, seed=seed)
    risks: GroupRisks | None = None
    within: tuple[GroupAdvantage, ...] = ()
    if labels is not None:
        risks, within = by_groups(scores, comparison, labels, prior, confidence, seed)
    audit = SyntheticAudit(
        comparison,
        exposures_of(scores, prior, confidence, Direction.EITHER),
        copies,
        near_copies,
        judged,
        split,
        control,
        tuple(limits),
        risks,
        within,
        confidence,
        (),
        Provenance("synthetic", VERSION, len(tables.members), len(tables.nonmembers), prior, seed),
        tables,
        accept_exposure,
        of_training,
    )
    return _with_cautions(audit, tables, notes, queries is None and reference is None)


def each_row_once(tables: Encoding) -> tuple[Encoding, NDArray[np.intp]]:
    """The tables with each different row of a side once, and which rows of both these are."""
    of_members, of_nonmembers = firsts(tables.members), firsts(tables.nonmembers)
    members, nonmembers = tables.members.part(of_members), tables.nonmembers.part(of_nonmembers)
    for side, name in ((members, MEMBERS), (nonmembers, NONMEMBERS)):
        if len(side) < MIN_RECORDS:
            raise TooFewRecords.about(name, f"got {len(side)} different rows, need at least {MIN_RECORDS}")
    kept = np.concatenate([of_members, of_nonmembers + len(tables.members)])
    return replace(tables, members=members, nonmembers=nonmembers), kept


def encode_all_rows(
    train: Table, holdout: Table, synthetic: Table, tables: Encoding, categories: Sequence[str]
) -> Encoding:
    """Every row of each person, in the columns that are compared where each person has one."""
    names = [column.name for column in tables.columns]
    several = ({name: table[name] for name in names} for table in (train, holdout, synthetic))
    return encode(*several, categories=[name for name in categories if name in names], use=names)


def release_queries(
    train: Table,
    holdout: Table,
    synthetic: Table,
    reference: Table | None = None,
    *,
    queries: Sequence[str] | None = None,
    categories: Sequence[str] = (),
    leave_out: Sequence[str] = (),
    use: Sequence[str] = (),
    unit: str | None = None,
    seed: int = 0,
) -> dict[str, Scores]:
    """The scores of both sides by each query of a released table, to be held beside those of other releases.

    Args:
        train, holdout, synthetic, reference, categories, leave_out, use: As for ``audit_synthetic``.
        queries: Names of the queries to ask (``estimators.audits.queries.SYNTHETIC``); None for all that can be.
        unit: Column of both sides that says whom a row belongs to: one row of each person is asked about.
        seed: Whole number from which everything random is drawn; the same seed gives the same answer.
            Take the same for all releases that are compared.

    Returns:
        ``Scores`` of each query under its name, their rows in the order of the tables.

    Example:
        >>> import numpy as np
        >>> from estimators import compare_releases, release_queries
        >>> rng = np.random.default_rng(0)
        >>> people = lambda n: {"age": rng.normal(45, 12, n), "income": rng.normal(3, 1, n)}
        >>> train, holdout, drawn = people(500), people(500), people(500)
        >>> blurred = {name: column + rng.normal(0, 0.05, 500) for name, column in train.items()}
        >>> tables = {"drawn": drawn, "blurred": blurred}
        >>> answer = compare_releases({name: release_queries(train, holdout, each) for name, each in tables.items()})
        >>> [(place.name, place.best_rank, place.worst_rank) for place in answer.comparison.ranking]
        [('blurred', 1, 1), ('drawn', 2, 2)]
    """
    train, holdout, *_ = one_row_each(unit, train, holdout, seed)
    if unit is not None:
        leave_out = [*leave_out, unit]
    tables = encode(train, holdout, synthetic, reference, categories=categories, leave_out=leave_out, use=use)
    require_rows(tables)
    return scores_of(synthetic_scores(tables, queries))


def scores_of(of_queries: SyntheticScores) -> dict[str, Scores]:
    """Both sides' scores by each query; they are numbers with an order, however few different ones there are."""
    return {
        name: Scores(members, of_queries.nonmembers[name], ScoreKind.CONTINUOUS, "a query of the released table")
        for name, members in of_queries.members.items()
    }


def no_reference() -> Caution:
    """Which queries are not asked without a reference."""
    others = [query.name for query in CATALOGUE.values() if "reference" in query.needs]
    return Caution(
        "no_reference",
        f"not asked, for there is no reference: {', '.join(others)}; give rows like the others that belong to "
        "neither side",
    )


def few_rows(tables: Encoding) -> Iterator[Caution]:
    """Tables of fewer rows than queries by neighbours look for."""
    for rows, name in ((tables.synthetic, "released table"), (tables.reference, "reference")):
        if rows is not None and len(rows) < NEAREST:
            yield Caution(
                "few_rows",
                f"the {name} has {len(rows)} rows, and queries by neighbours look for the {NEAREST} nearest: they take "
                "the last there is, and tell less than of a larger one",
            )


def require_rows(tables: Encoding) -> None:
    """Refuse two sides that are one, and sides of fewer rows than any answer needs."""
    require_two_sides(tables.members, tables.nonmembers)
    for side, name in ((tables.members, "members"), (tables.nonmembers, "nonmembers")):
        if len(side) < MIN_RECORDS:
            raise TooFewRecords.about(name, f"got {len(side)} rows, need at least {MIN_RECORDS}")


def compare_sides(
    train: Table,
    holdout: Table,
    tables: Encoding,
    confidence: float,
    seed: int,
    learners: Sequence[Learner],
    categories: Sequence[str],
    use: Sequence[str],
    notes: list[Caution],
) -> SplitCheck | None:
    """The sides without the release, in the columns that a score reads: what others say cannot reach it.

    ``notes`` gets why the sides were not compared, if they could not be.
    """
    names = [column.name for column in tables.columns]
    try:
        sides = encode_sides(
            {name: train[name] for name in names},
            {name: holdout[name] for name in names},
            categories=[name for name in categories if name in names],
            use=[name for name in use if name in names],
        )
        return check_rows(sides, confidence=confidence, seed=seed, learners=learners)
    except InputError as error:  # one value in every column, or the same few rows again and again
        notes.append(Caution("split_not_checked", f"the sides were not compared: {error.message}"))
        return None


def _judge(
    limits: Sequence[AnyLimit],
    scores: Mapping[str, Scores],
    prior: float,
    confidence: float,
    seed: int,
    further: int,
    drift: float,
) -> Iterator[RiskiestLimit]:
    """Each limit for every query; of equal scores attackers toss coins to reach a false positive rate."""
    for limit in limits:
        queries = scores
        if isinstance(limit, MaxTpr):
            queries = {name: _without_ties(each, seed) for name, each in scores.items()}
        yield from judge_queries([limit], queries, prior, confidence, seed, len(limits) - 1 + further, drift=drift)


def _without_ties(scores: Scores, seed: int) -> Scores:
    """The same order, with coins tossed among equal scores: then a threshold reaches any false positive rate."""
    both = np.concatenate([scores.members, scores.nonmembers])
    rng = random_of(seed, both)
    rank = np.empty(len(both))
    rank[np.lexsort((rng.random(len(both)), both))] = np.arange(len(both), dtype=np.float64)
    members, nonmembers = rank[: scores.n_members], rank[scores.n_members :]
    return Scores(members, nonmembers, ScoreKind.CONTINUOUS, scores.reason)


def _with_identifiers(limit: RiskiestLimit, tables: Encoding) -> RiskiestLimit:
    """A limit with what its pass does not cover: what is left out of all queries but for copied values."""
    if limit.decision is not Decision.PASS or not tables.identifiers:
        return limit
    names = ", ".join(repr(name) for name in tables.identifiers)
    line = f"Of columns that were left out as identifiers it covers values that are copied, and no more: {names}."
    return replace(limit, coverage=(*limit.coverage, line))


def _with_cautions(audit: SyntheticAudit, tables: Encoding, notes: Sequence[Caution], unasked: bool) -> SyntheticAudit:
    """The audit with what is to be known before its numbers are used, the worst first."""
    cautions = [*(note for note in notes if note.code == "shared_units"), *tables.cautions]
    name, worst = audit.most_exposed
    cautions += [Caution(each.code, f"{name.replace('_', ' ')}: {each.message}") for each in worst.cautions]
    cautions += audit.verdict.cautions
    identifiers = copied_identifiers(tables, audit.confidence)
    altered = count_altered_copies(tables, audit.copies.beyond_chance.interval.confidence)
    cautions += copies_cautions(
        audit.copies, audit.near_copies, audit.copies_judged, audit.limits, identifiers=identifiers, altered=altered
    )
    if audit.split is not None and audit.split.caution is not None:
        cautions.append(audit.split.caution)
    if audit.control is not None and audit.control.caution is not None:
        cautions.append(audit.control.caution)
    if unasked:
        cautions.append(no_reference())
    cautions += few_rows(tables)
    cautions += [note for note in notes if note.code != "shared_units"]
    of_queries = [
        *(each for limit in audit.limits for each in limit.cautions),
        *audit.comparison.ranking[0].advantage.cautions,
        *audit.comparison.cautions,
    ]
    cautions += [each for each in of_queries if each.code not in DOUBTS]  # of rows the tables say more
    return replace(audit, cautions=tuple(dict.fromkeys(cautions)))
