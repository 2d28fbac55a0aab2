"""How many rows of a released table may go out: the advantage against the number of released rows (MACE, appendix H).

The released rows are put in a random order, and for each size of a grid that was fixed in advance the queries read the
first so many of them. The largest size up to which all sizes keep every limit needs no correction for the number of
sizes (``series``), nor for that of limits: the first size that breaks one breaks a fixed one, and gets past only if the
upper end of that one is wrong. The limits may be kept and broken in any order: more rows are not taken to give away
more. What fails shares the error over sizes, limits and queries. Copies that nobody limited are judged at a tenth of
the level, shared over sizes, and turn a pass into a fail.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from estimators.audits.copies import (
    NEAR_COPY,
    Copies,
    CopiesJudged,
    among_all_rows,
    copied_identifiers,
    copies_cautions,
    count_copies,
    count_near_copies,
    how_judged,
    judge_all,
    judge_copies,
    require_copies,
    unasked_fail,
)
from estimators.audits.queries.nested import default_sizes, nested_scores, require_sizes
from estimators.audits.queries.query import choose
from estimators.audits.queries.rows import many_rows_repeat, share_of_training_rows
from estimators.audits.queries.synthetic import CATALOGUE, WITH_REFERENCE
from estimators.audits.queries.table import Encoding, Table, encode
from estimators.audits.sides import one_row_each, share_of_members
from estimators.audits.split import SPLIT_LEARNERS
from estimators.audits.synthetic import (
    compare_sides,
    each_row_once,
    encode_all_rows,
    few_rows,
    no_reference,
    require_rows,
    scores_of,
)
from estimators.decisions.exposed_members import AT_PRECISION, Withheld
from estimators.decisions.riskiest import (
    RiskiestLimit,
    drift_beside,
    drift_of,
    hidden_by_drift,
    judge_queries,
    limits_of,
    most_exposed,
)
from estimators.decisions.verdict import PUBLISHED, Decision, opening, overall
from estimators.errors import OptionError, require_count, require_open_unit
from estimators.privacy.direction import Direction
from estimators.privacy.exposure import Exposure, exposure
from estimators.python.dataclass import dataclass, replace
from estimators.runs.series import Series, Step, judge_series, without_pass
from estimators.sample.doubts import DOUBTS
from estimators.sample.scores import Scores
from estimators.statement import IID, VERSION, Caution, Provenance, at_least, at_most, exactly, percent

LIMIT_WORDS = {
    "advantage": "the advantage",
    "exposed": "the share of exposed training rows",
    "copies": "the number of rows that are copied beyond chance",
    "near_copies": "the number of rows that have a near copy beyond chance",
}
"""What a size keeps at or below its limit."""

OF_ROWS = f"{IID}; the rows of each size are the first of one random order, and no others are ever released"


@dataclass(frozen=True, eq=False, slots=True)
class ReleaseSize:
    """What ever more rows of one release give away; ``release_size`` makes it.

    Attributes:
        series: Each size with its advantage and the decision over all limits; the label of a step is the number of
            released rows.
        limits: For each size, what is limited beside the advantage: exposed members, copies.
        order: The released rows in their random order, by their places in the table.
        copies: For each size, the training rows that stand among the first so many released ones as they are; the
            limits of all sizes hold together.
        near_copies: The same of training rows that have a near copy.
        copies_judged: Whether copies were limited, judged unasked, or accepted; None if nothing was limited.
        exposures: For each size, the query that exposes members most surely, and what it shows; likewise.
        cautions: What looks wrong with the tables, what no limit on an average shows, and what was left out.
        provenance: Method, version, numbers of rows, prior and seed.
        tables: The tables as they were understood, the released rows in their random order.

    Example:
        >>> import numpy as np
        >>> from estimators import release_size
        >>> rng = np.random.default_rng(0)
        >>> people = lambda n: {"age": rng.normal(45, 12, n), "income": rng.normal(3, 1, n)}
        >>> train, holdout = people(1000), people(1000)
        >>> released = {name: np.resize(column, 3000) for name, column in train.items()}
        >>> released["age"] = released["age"] + rng.normal(0, 0.1, 3000)  # each training row, three times, blurred
        >>> answer = release_size(train, holdout, released, sizes=[30, 300, 3000], max_advantage=0.2)
        >>> [(step.label, step.decision.value) for step in answer.series.steps], answer.largest
        ([(30, 'pass'), (300, 'inconclusive'), (3000, 'fail')], 30)
        >>> smaller = {name: column[answer.rows] for name, column in released.items()}  # what may go out
    """

    series: Series
    limits: tuple[tuple[RiskiestLimit, ...], ...]
    order: NDArray[np.int64]
    copies: tuple[Copies, ...]
    near_copies: tuple[Copies, ...]
    copies_judged: CopiesJudged | None
    exposures: tuple[tuple[str, Exposure], ...]
    cautions: tuple[Caution, ...]
    provenance: Provenance
    tables: Encoding

    @property
    def largest(self) -> int | None:
        """The largest size that keeps the limit, as do all smaller ones that were asked for; None if none is shown to.

        None as well if nothing was limited.
        """
        step = self.series.last_passed
        return None if step is None else int(step.label)

    @property
    def rows(self) -> NDArray[np.int64]:
        """Which rows of the released table are those of the largest size: they, and no others, keep the limit."""
        return self.order[: self.largest or 0]

    @property
    def sentence(self) -> str:
        """The result in plain words."""
        series, total = self.series, len(self.order)
        steps = series.steps
        if steps[0].decision is None:
            last = steps[-1].estimate
            return (
                f"{_rows(int(steps[-1].label), total).capitalize()} give an attacker an advantage between "
                f"{at_least(last.lower)} and {at_most(last.upper)}; with the intervals of all {len(steps)} sizes, this "
                f"holds with {percent(series.confidence)} confidence."
            )
        next_step, what = series.first_open, self._limit_words
        if next_step is None:
            return (
                f"With {series.sure} {_rows(int(steps[-1].label), total)} keep {what}, and so does every "
                "smaller size that was asked for."
            )
        why = f"{_rows(int(next_step.label), total).capitalize()}: {next_step.reason}"
        if self.largest is not None:
            beyond = "are not shown to"
            if next_step.decision is Decision.FAIL:
                limits = self.limits[steps.index(next_step)]
                exceeds = series.max_advantage is not None and next_step.estimate.lower > series.max_advantage
                exceeds = exceeds or any(limit.decision is Decision.FAIL for limit in limits)
                beyond = "exceed it" if exceeds else "hold copies of training rows"
            return (
                f"With {series.sure} {_rows(self.largest, total)}, in the order that was drawn, keep "
                f"{what}; more of them {beyond}. {why}."
            )
        alone = None if self.limits[0] else series.max_advantage
        one = "" if alone is None else exactly(alone)
        if next_step.decision is Decision.FAIL:
            if series.max_advantage is not None and next_step.estimate.lower <= series.max_advantage:
                one = ""  # copies that nobody limited
            return f"No size: with {series.sure} even the smallest exceeds {one or 'a limit'}. {why}."
        start = opening(next_step.decision or Decision.INCONCLUSIVE, next_step.records_needed is not None)
        if Decision.FAIL in {step.decision for step in steps}:  # of a larger size
            start = "Fail"
        return f"{start}: not even the smallest size is shown with {series.sure} to keep {one or 'every limit'}. {why}."

    @property
    def _limit_words(self) -> str:
        """What is limited, in words."""
        own = [] if self.series.max_advantage is None else [("advantage", self.series.max_advantage)]
        every_limit = [*own, *((limit.name, limit.maximum) for limit in self.limits[0])]
        words = [f"{LIMIT_WORDS[name]} at or below {exactly(maximum)}" for name, maximum in every_limit]
        return " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))


def release_size(
    train: Table,
    holdout: Table,
    synthetic: Table,
    reference: Table | None = None,
    *,
    sizes: Sequence[int] | NDArray[np.integer[Any]] | None = None,
    max_advantage: float | None = None,
    max_exposed: float | None = None,
    at_precision: float = AT_PRECISION,
    max_copies_over_holdout: int | None = None,
    max_near_copies_over_holdout: int | None = None,
    accept_copies: bool = False,
    accept_exposure: bool = False,
    queries: Sequence[str] | None = None,
    prior: float = 0.5,
    confidence: float = 0.95,
    seed: int = 0,
    categories: Sequence[str] = (),
    leave_out: Sequence[str] = (),
    use: Sequence[str] = (),
    unit: str | None = None,
) -> ReleaseSize:
    """The advantage against the number of released rows, and the largest number that keeps a limit.

    Args:
        train, holdout, reference, max_advantage, max_exposed, at_precision: As for ``audit_synthetic``.
        synthetic: The same columns of all the rows that might be released.
        sizes: Numbers of released rows to ask about, in any order; choose them before you look at the data. None: 10,
            20, 50, 100 and so on, up to all rows.
        max_copies_over_holdout: Most training rows that may be copied beyond what chance explains, at least 0. If it is
            left out, a size that would pass fails if any are shown to be, at a tenth of the level.
        max_near_copies_over_holdout: The same of rows that have a near copy; it is judged only if it is given.
        accept_copies: Whether copies that nobody limited are no reason to fail.
        accept_exposure: Whether a size may pass beside a severe exposure that no limit judges.
        queries: Names of the queries to ask (``estimators.audits.queries.SYNTHETIC``); None for all that can be.
        prior, seed, categories, leave_out, use, unit: As for ``audit_synthetic``.
        confidence: Probability that both ends of an interval hold, strictly between 0 and 1. Those of all sizes
            hold together with it. A largest size that breaks the limit is named with half of the rest at most.

    Raises:
        InputError: tables that cannot be read together, or fewer than 8 rows on a side.
        OutOfRange: sizes that are no whole numbers from 1 to the number of released rows.
        OptionError: no size, no query, or one that needs a reference; a limit out of its range.

    Example:
        >>> import numpy as np
        >>> from estimators import release_size
        >>> rng = np.random.default_rng(0)
        >>> people = lambda n: {"age": rng.normal(45, 12, n), "income": rng.normal(3, 1, n)}
        >>> answer = release_size(people(500), people(500), people(2000), sizes=[100, 2000])
        >>> [step.label for step in answer.series.steps], answer.largest
        ([100, 2000], None)
    """
    require_count("seed", seed, 0)
    confidence = require_open_unit("confidence", confidence)
    of_copies = require_copies(max_copies_over_holdout, max_near_copies_over_holdout, accept_copies)
    names = choose(CATALOGUE, queries, ("synthetic",) if reference is None else WITH_REFERENCE)
    if not names:
        raise OptionError.about("queries", "got none, need at least 1")
    whole = train, holdout, synthetic
    train, holdout, _, notes = one_row_each(unit, train, holdout, seed)
    if unit is not None:
        leave_out = [*leave_out, unit]
    tables = encode(train, holdout, synthetic, reference, categories=categories, leave_out=leave_out, use=use)
    every = None if unit is None else encode_all_rows(*whole, tables, categories)
    require_rows(tables)
    training = max(share_of_training_rows(tables.members, tables.nonmembers), share_of_members(unit, *whole[:2]))
    if many_rows_repeat(tables.members, tables.nonmembers):
        every, (tables, _) = every or tables, each_row_once(tables)
    split = None
    if max_advantage is not None or max_exposed is not None:
        split = compare_sides(train, holdout, tables, confidence, seed, SPLIT_LEARNERS, categories, use, notes)
    if split is not None and split.caution is not None:
        notes.append(split.caution)
    drift = drift_of(split, shared=training)
    total = len(tables.synthetic)
    further = limits_of(direction=Direction.EITHER, max_exposed=max_exposed, at_precision=at_precision)
    grid = default_sizes(total) if sizes is None else require_sizes(sizes, total)
    order = np.random.default_rng(seed).permutation(total).astype(np.int64)
    tables = replace(tables, synthetic=tables.synthetic.part(order))
    together = 1.0 - (1.0 - confidence) / len(grid)
    number = len(further) + of_copies + (max_advantage is not None)
    shares = len(grid) * max(number, 1)  # a fail may be wrong at any size, by any limit
    shared = 1.0 - (1.0 - confidence) / shares
    parts = [first_rows(tables, size) for size in grid]
    copies = [count_copies(each, shared) for each in parts]
    judgement = how_judged(number > 0, max_copies_over_holdout, accept_copies)
    unasked = [unasked_fail(each, confidence, len(grid)) if judgement == "unasked" else [] for each in parts]
    near_of_all: list[Copies | None] = [None] * len(grid)
    if every is not None:
        every = replace(every, synthetic=every.synthetic.part(order))
        copies = [*map(among_all_rows, copies, [count_copies(first_rows(every, size), shared) for size in grid])]
        near_of_all = [count_near_copies(each, every, shared) for each in nested_scores(every, grid, [NEAR_COPY])]
    near_copies: list[Copies] = []
    exposures: list[tuple[str, Exposure]] = []
    limits: list[tuple[RiskiestLimit, ...]] = []
    to_ask = [*dict.fromkeys([*names, NEAR_COPY])]

    def each_size() -> Iterator[tuple[int, dict[str, Scores]]]:
        for size, of_queries in zip(grid, nested_scores(tables, grid, to_ask), strict=True):
            scores = {name: each for name, each in scores_of(of_queries).items() if name in names}
            exposures.append(_most_exposed(scores, prior, together))
            near = count_near_copies(of_queries, tables, shared)
            near_copies.append(among_all_rows(near, near_of_all[len(limits)]))
            judged_steps = judge_queries(further, scores, prior, confidence, seed, shares - len(further), drift=drift)
            if max_copies_over_holdout is not None:
                of_size = parts[len(limits)], copies[len(limits)], max_copies_over_holdout
                judged_steps = (*judged_steps, judge_all(*of_size, confidence, len(grid)))
            if max_near_copies_over_holdout is not None:
                judged_steps = (*judged_steps, judge_copies(near_copies[-1], max_near_copies_over_holdout))
            limits.append(judged_steps)
            yield size, scores

    several = len(grid) if max_advantage is None else shares
    series = judge_series(each_size(), several, max_advantage, prior, confidence, seed, OF_ROWS, accept_exposure=None)
    published = () if judgement == "accepted" else (total,)  # at which size the whole table goes out
    withheld = [
        Withheld.by(
            {query: each},
            (limit.name for limit in of_size),
            accepted=accept_exposure,
            odd=[
                *(
                    []
                    if max_advantage is None
                    else drift_beside(step.decisive_upper, max_advantage, drift, prior, training)
                ),
                *hidden_by_drift(of_size, drift, prior, training),
                *(each for each in tables.cautions if each.code != PUBLISHED or step.label in published),
            ],
        )
        for step, (query, each), of_size in zip(series.steps, exposures, limits, strict=True)
    ]
    answer = ReleaseSize(
        _by_all_limits(series, limits, unasked, copies, withheld),
        tuple(limits),
        order,
        tuple(copies),
        tuple(near_copies),
        judgement,
        tuple(exposures),
        (),
        Provenance("release_size", VERSION, len(tables.members), len(tables.nonmembers), prior, seed),
        tables,
    )
    beside = [
        Caution(each.code, f"{step.label:,} released rows: {each.message}")
        for step, hides in zip(answer.series.steps, withheld, strict=True)
        for each in hides.cautions(Decision.PASS if step.undecided_because else step.decision)
    ]
    not_asked = (no_reference(),) if queries is None and reference is None else ()
    return replace(
        answer,
        cautions=tuple(
            dict.fromkeys((*notes, *beside, *_cautions(answer), *tables.cautions, *not_asked, *few_rows(tables)))
        ),
    )


def first_rows(tables: Encoding, size: int) -> Encoding:
    """The tables with so many of the released rows, the first ones."""
    return replace(tables, synthetic=tables.synthetic.part(slice(size)))


def _by_all_limits(
    series: Series,
    limits: Sequence[tuple[RiskiestLimit, ...]],
    unasked: Sequence[Sequence[RiskiestLimit]],
    copies: Sequence[Copies],
    withheld: Sequence[Withheld],
) -> Series:
    """Each size with the decision over the advantage and the further limits: a pass needs all, at all sizes before.

    Copies that nobody limited turn a pass into a fail, and nothing else; a severe exposure leaves it open, and so do
    training rows in a part of rows that are shown to hold copies.
    """
    steps: list[Step] = []
    for at, (step, further, copied, hides) in enumerate(zip(series.steps, limits, unasked, withheld, strict=True)):
        judged_steps = [(limit.decision, limit.reason) for limit in further]
        if step.decision is not None:
            judged_steps = [(step.decision, step.reason), *judged_steps]
        if judged_steps:
            decision = overall(each for each, _ in judged_steps)
            reason = "; ".join(why for each, why in judged_steps if each is decision)
            if decision is Decision.PASS and copied:
                decision, reason = Decision.FAIL, copied[0].reason
            if decision is Decision.PASS and any(unasked[at:]) and copies[at].more_than_chance:
                decision = Decision.INCONCLUSIVE
                reason = (
                    f"{copies[at].members:,} training rows stand among them, and more of these released rows are shown "
                    "to hold copies, which are judged unless they are limited otherwise or accepted (accept_copies)"
                )
            if decision is Decision.PASS and steps and steps[-1].decision is not Decision.PASS:
                decision = Decision.INCONCLUSIVE
                reason = "it keeps every limit, but a size before it is not shown to"
            others = tuple(line for limit in further for line in limit.coverage)
            judged = replace(step, decision=decision, reason=reason, reach=replace(step.reach, others=others))
            steps.append(without_pass(judged, hides))
        else:
            steps.append(step)
    return replace(series, steps=tuple(steps))


def _most_exposed(scores: dict[str, Scores], prior: float, confidence: float) -> tuple[str, Exposure]:
    """The query that exposes members most surely; the limits of all queries hold together."""
    together = 1.0 - (1.0 - confidence) / len(scores)
    exposures = {name: exposure(each, together, prior) for name, each in scores.items()}
    return most_exposed(exposures)


def _cautions(answer: ReleaseSize) -> Iterator[Caution]:
    """What a limit on an average does not show at the size that keeps it, or without a limit at all sizes."""
    series = answer.series
    yield from (each for each in series.cautions if each.code not in DOUBTS)
    sizes = [step.label for step in series.steps]
    if series.steps[0].decision is not None and answer.largest is None:
        return
    size = sizes[-1] if answer.largest is None else answer.largest
    at = sizes.index(size)
    name, worst = answer.exposures[at]
    for each in worst.cautions:
        yield Caution(each.code, f"{size:,} released rows, {name.replace('_', ' ')}: {each.message}")
    copies, near_copies = answer.copies[at], answer.near_copies[at]
    rows = f"of the first {size:,} released rows: "
    released = first_rows(answer.tables, int(size))
    identifiers = copied_identifiers(released, series.confidence)
    yield from copies_cautions(copies, near_copies, answer.copies_judged, answer.limits[at], rows, identifiers)


def _rows(size: int, total: int) -> str:
    if size == total:
        return f"all {total:,} released rows"
    return f"the first {size:,} of {total:,} released rows"
