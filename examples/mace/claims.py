"""What the paper's estimates and certified intervals say of one query of one model, and what becomes of a claim.

A claim is judged by intervals alone: each is of something that the claim says is above 0, for one model each, and all
of them hold together.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from estimators import Advantage, Interval, Scores, advantage
from estimators.decisions.difference import Difference
from estimators.errors import InputError
from estimators.paper import EqualWidth, Kernel, PaperAdvantage, algorithm_1
from estimators.statement import at_least, at_most
from examples.theory.table import table

CONFIDENCE = 0.95
BINS = 100
"""Equal slices of each axis: the paper's."""


@dataclass(frozen=True)
class Row:
    """One query of one model: the paper's two estimates and ours, of the same scores."""

    query: str
    w: PaperAdvantage
    u: PaperAdvantage | None
    certified: Advantage
    at_random: Advantage
    """Certified, from the same scores with their labels shuffled: the truth is 0."""

    @classmethod
    def of(cls, query: str, scores: Scores, seed: int, prior: float = 0.5, models: int = 1) -> Row:
        """All ``models`` certified intervals of a query hold together."""
        confidence = together(models)
        try:
            u = algorithm_1(scores, prior, reading=Kernel())
        except InputError:  # scores without a density
            u = None
        return cls(
            query,
            algorithm_1(scores, prior, reading=EqualWidth(BINS)),
            u if u is not None and u.statistic == "U_N" else None,
            advantage(scores, prior, confidence=confidence, seed=seed),
            advantage(shuffle_labels(scores, seed), prior, confidence=confidence, seed=seed),
        )


def shuffle_labels(scores: Scores, seed: int) -> Scores:
    """The same records, and who is a member drawn anew."""
    pooled = np.concatenate([scores.members, scores.nonmembers])
    pooled = pooled[np.random.default_rng([seed, 2]).permutation(len(pooled))]
    return Scores.of(pooled[: scores.n_members], pooled[scores.n_members :])


def together(models: int) -> float:
    """The confidence of one interval where those of all models are to hold together (Bonferroni)."""
    return 1.0 - (1.0 - CONFIDENCE) / models


@dataclass(frozen=True)
class Claim:
    """What the paper says, how that is judged, and the intervals it is judged by.

    Attributes:
        figure: Where the paper says it.
        paper: What it says, in plain words.
        rule: Of what the intervals are; the claim says that it is above 0.
        intervals: One for each model, or for each part of the claim and model, all holding together.
        advantages: Where the claim is empty of models that give nothing away: what these models give away.
    """

    figure: str
    paper: str
    rule: str
    intervals: tuple[Interval, ...]
    advantages: tuple[Interval, ...] = ()

    @property
    def verdict(self) -> str:
        """``survives`` if all intervals lie above 0, ``contradicted here`` if one lies below, else ``not shown``.

        What is not shown says which differences so many records would show: half the width of the widest interval.
        ``says nothing`` if it is about models of which none is shown to give anything away.
        """
        above = sum(each.lower > 0.0 for each in self.intervals)
        below = sum(each.upper < 0.0 for each in self.intervals)
        number = len(self.intervals)
        if self.advantages and not any(each.lower > 0.0 for each in self.advantages):
            return f"says nothing (none of {len(self.advantages)} models is shown to give anything away)"
        if below:
            return f"contradicted here ({below} of {number} below 0)"
        if above == number:
            return f"survives ({above} of {above} above 0)"
        least = max(each.upper - each.lower for each in self.intervals) / 2.0
        return f"not shown ({above} of {number} above 0; so few records show differences from {at_most(least, 2)} on)"


def limit_less(limit: float, interval: Interval, share: float = 1.0) -> Interval:
    """Of ``limit`` less what the interval is of, times ``share``."""
    return Interval(
        limit - share * interval.upper, limit - share * interval.lower, interval.confidence, interval.guarantee
    )


@dataclass(frozen=True)
class Figure:
    """What a figure comes to: its tables by name, and its claims."""

    tables: Mapping[str, str]
    claims: tuple[Claim, ...]


def join(parts: Iterable[Figure]) -> Figure:
    """The parts of a figure as one."""
    each = list(parts)
    return Figure(
        {name: text for part in each for name, text in part.tables.items()},
        tuple(claim for part in each for claim in part.claims),
    )


HEAD = (
    "query",
    "W_N",
    "W_N, labels shuffled",
    "U_N",
    "U_N, labels shuffled",
    "certified, a model each",
    "certified, labels shuffled",
)


def markdown(rows: Iterable[Row], extra: Mapping[str, Mapping[str, str]] | None = None) -> str:
    """A line for each query, over all models; ``extra`` are further columns, by name and query."""
    extra = extra or {}
    by_query: dict[str, list[Row]] = {}
    for row in rows:
        by_query.setdefault(row.query, []).append(row)
    lines = []
    for query, each in by_query.items():
        u = [row.u for row in each if row.u is not None]
        lines.append(
            (
                query,
                *_paper([row.w for row in each]),
                *(_paper(u) if u else ("-", "-")),
                intervals(row.certified.estimate.interval for row in each),
                intervals(row.at_random.estimate.interval for row in each),
                *(column.get(query, "") for column in extra.values()),
            )
        )
    return table((*HEAD, *extra), lines)


def _paper(estimates: Sequence[PaperAdvantage]) -> tuple[str, str]:
    return spread([each.value for each in estimates]), f"{np.mean([each.null_level for each in estimates]):.3f}"


def spread(values: Sequence[float]) -> str:
    """Mean over the models, and the least and the largest if there are several."""
    if len(values) == 1:
        return f"{values[0]:.3f}"
    return f"{np.mean(values):.3f} ({min(values):.3f} to {max(values):.3f})"


def intervals(each: Iterable[Interval]) -> str:
    """One after the other."""
    return " ".join(f"[{at_least(one.lower, 2)}, {at_most(one.upper, 2)}]" for one in each)


def intervals_of(apart: Iterable[Difference]) -> tuple[Interval, ...]:
    """Of differences."""
    return tuple(each.estimate.interval for each in apart)


def claims_table(claims: Iterable[Claim]) -> str:
    """A line for each claim."""
    head = ("figure", "the paper's claim", "judged by", "intervals", "verdict")
    return table(
        head,
        [(each.figure, each.paper, each.rule, intervals(each.intervals), f"**{each.verdict}**") for each in claims],
    )
