"""The questions as methods of a client, and the client that answers them in this process."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import wraps
from inspect import signature
from typing import TYPE_CHECKING, Any, TypeVar, Unpack

from macekit.catalogue import OPERATIONS
from macekit.client import keywords
from macekit.client.body import File
from macekit.client.options import Data, Values
from macekit.client.problems import answer_of, as_mace_problems
from macekit.client.question import (
    Dataset,
    Question,
    pose,
    pose_arrays,
    pose_groups,
    pose_several,
    pose_tables,
    pose_texts,
)
from macekit.client.result import Result
from macekit.client.theory import Theory
from macekit.text import POSITIONAL, require_by_name

C = TypeVar("C")


def _with_options_by_name(client: type[C]) -> type[C]:
    """The class, whose methods say of an argument without a place how it is given."""
    for name, method in list(vars(client).items()):
        options = str(getattr(method, "__annotations__", {}).get("options", ""))
        if options.startswith("Unpack["):
            setattr(
                client, name, _by_name(method, options.removeprefix("Unpack[keywords.").removesuffix("]"))
            )
    return client


def _by_name(method: Callable[..., Result], options: str) -> Callable[..., Result]:
    places = [name for name, each in signature(method).parameters.items() if each.kind in POSITIONAL]
    names = getattr(keywords, options).__annotations__

    @wraps(method)
    def wrapper(*arguments: Any, **others: Any) -> Result:
        require_by_name(method.__name__, places, len(arguments), names)
        return method(*arguments, **others)

    return wrapper


@_with_options_by_name
class Client(ABC):
    """The methods that all clients share.

    Scores come as members and nonmembers; or as a table (any frame, Arrow, a dict of columns) or a file that holds
    both, its columns named by ``score=``, ``member=``, ``group=`` and ``unit=`` where they have not the usual names.
    """

    @abstractmethod
    def _answer(self, question: Question) -> dict[str, Any]:
        """The answer, its JSON decoded; raises ``MaceProblem``."""

    def estimate(
        self, members: Data = None, nonmembers: Values = None, **options: Unpack[keywords.AdvantageOptions]
    ) -> Result:
        """The optimal membership advantage, certified, and what belongs to it.

        The advantage says how much better than guessing the best adversary tells members from nonmembers by this
        score: 0 is a coin toss, 1 is certainty. Decide by the interval and not by the point estimate.

        Args:
            members: Scores of the records that the model was trained on, one each: a list, a NumPy array, a column of
                a frame, or the path of a ``.npy`` file; a higher score need not mean member. Or a table of both sides
                (a frame, an Arrow table, a dict of columns), or the path of a file that holds one; or several paths, a
                folder, a pattern, an address (``s3://``, ``gs://``, ``abfs://``, ``hdfs://``) and whatever gives Arrow
                batches, read in blocks and counted as they come where they are many.
            nonmembers: Scores of records that it has never seen, likewise. None with a table, a file of both sides,
                or ``counts``.
            max_advantage: Largest advantage that is acceptable, from -1 to 1. No verdict without it.
            accept_exposure: Whether a pass may stand beside a severe exposure that no limit judges; without it the
                decision is then ``"inconclusive"`` and ``undecided_because`` ``"exposed"``. False by default.
            threshold: Its former name, understood with a ``FutureWarning``.
            changes: How often attackers whom the upper end covers may change their guess along the score, at any
                places, from 0 to 1000: a pass then holds for all of them. 2 by default; the ``changes`` of
                ``estimator`` by its shorter name.
            metric: A further metric at its optimum: a name (see ``estimators.PRESETS``), a dict such as ``{"preset":
                "f_beta", "beta": 2}``, or ``{"coefficients": {...}, "name": ...}`` for one of your own.
                ``"accuracy"`` by default; None for none.
            estimator: Which adversaries the interval speaks of, as a dict. Its ``kind`` is ``"histogram"`` or
                ``"kde"`` (any adversary who sees the score at the resolution of some cells; they differ in the paper's
                statistic, W_N or U_N, which vectors of up to ten numbers have, too), ``"threshold"`` or
                ``"two_sided"`` (the best adversary is taken to have that form), ``"learned"`` (classifiers, for
                vectors) or ``"auto"``, the default: cells for one score a record, classifiers for vectors. Beside it,
                ``bins`` is the number of cells (histogram, learned), ``changes`` how often attackers whom the upper end
                covers may change their guess along the score, wherever (2), ``universe`` the number of categories if
                some were not seen (histogram), ``bandwidth`` that of kernel densities (kde), ``learners`` names the
                classifiers, and ``accept_learned_score`` lets a verdict pass by their score (learned).
            claimed_epsilon: Epsilon of the differential privacy that was promised, at least 0. At most 700; None if
                nothing was promised.
            claimed_delta: Delta that was promised with it, from 0 up to but not including 1. 0 by default.
            operating_points: False positive rates, each strictly between 0 and 1, at which to state the true positive
                rate. 0.001, 0.01 and 0.1 by default.
            set_members, set_nonmembers: How many records of each side there are in the whole set of which these were
                drawn at random, or are all: ``on_this_set`` then states the advantage on exactly that set. If one is
                left out, all records of that side were sent.
            score, member: Names of the table's columns of scores (several in a list, for vectors) and of membership.
                Not needed if they are called ``score`` and ``member``.
            members_column, nonmembers_column: In place of both: names of two columns, one with the scores of each side.
            group, unit: Names of the table's columns of groups and of units.
            cluster: Whom each record belongs to, if several belong together (a person, a document): the name of a
                column of the table, or two that cross in a list; or labels, members first, or as a dict of ``members``
                and ``nonmembers``, two columns that cross in a dict by their names. All records are used, and intervals
                allow for records that are alike. ``report`` and ``compare`` take it, too; other questions refuse it.
            counts: Counts in place of scores: ``estimators.Counts``, what ``macekit.counts`` answered under
                ``counts``, or a dict of ``members``, ``nonmembers`` and ``edges``.
            units: Whom each record belongs to, members first, or as a dict of ``members`` and ``nonmembers``. Of each
                person or household one record is kept, at random: records of one person are not independent.
            query: How scores are read: ``"continuous"``, ``"discrete"`` (every value is a category) or ``"auto"``,
                the default.
            prior: Probability that a record is a member before its score is seen, strictly between 0 and 1. 0.5 by
                default.
            confidence: Probability that both ends of an interval hold, strictly between 0 and 1. 0.95 by default; at
                least 0.5.
            seed: Whole number from which everything random is drawn; the same seed gives the same answer. 0 by
                default.

        Returns:
            a ``Result``: ``advantage``, ``baseline``, ``metric``, ``roc``, ``epsilon``, ``exposure``, ``verdict``,
            ``warnings`` and more.

        Raises:
            MaceProblem: the records or an option cannot be used, or the server refused; it says which and why.

        Example:
            >>> import macekit
            >>> import numpy as np
            >>> rng = np.random.default_rng(0)
            >>> members, nonmembers = rng.normal(0.5, 1, 500), rng.normal(0, 1, 500)
            >>> result = macekit.estimate(members, nonmembers, max_advantage=0.1)
            >>> result.decision
            'fail'
            >>> round(result.advantage.lower, 3), round(result.advantage.upper, 3)
            (0.122, 0.293)
        """
        return self._records("estimate", "advantage", members, nonmembers, options)

    def procedure(
        self, members: Data = None, nonmembers: Values = None, **options: Unpack[keywords.ProcedureOptions]
    ) -> Result:
        """What a training procedure gives away, from several models that it trained, and what its next model will.

        ``estimators.runs.procedure.procedure_advantage`` is the library's own.

        Args:
            members, nonmembers: As for ``estimate``; those of all models together, at least 8 of either for each.
            model: Which model scored each record: the name of a column of the table; or labels, members first, or as a
                dict of ``members`` and ``nonmembers``. At least 4 different ones.
            max_advantage: Largest acceptable advantage, on average over trainings, from -1 to 1. No verdict without
                it.
            threshold: Its former name, as for ``estimate``.
            accept_exposure, members_column, nonmembers_column: As for ``estimate``.
            accept_simulated: Let the verdict rest on the simulated interval of the mean, which assumes that trainings
                vary without rare extremes. Without it, it rests on ``any_variation``, which takes more models.
            prior, confidence, seed, query, counts, units, score, member, group, unit, cluster: As for ``estimate``;
                what does not say which model scored a record, or leaves records out, is refused.

        Returns:
            a ``Result``: ``advantage`` (the mean), ``next_model``, ``any_variation`` (the mean, proven), ``spread``,
            ``records_cannot``, ``verdict`` with ``models_needed`` and ``records_needed``, ``models``.

        Example:
            >>> import macekit
            >>> import numpy as np
            >>> rng = np.random.default_rng(0)
            >>> leaks, model = rng.normal(0.5, 0.2, 8), np.repeat(np.arange(8), 500)
            >>> members, nonmembers = rng.normal(leaks[model], 1), rng.normal(0, 1, 4000)
            >>> result = macekit.procedure(members, nonmembers, model=np.tile(model, 2), max_advantage=0.15)
            >>> result.decision, result.verdict.models_needed
            ('inconclusive', 147)
            >>> round(result.next_model.lower, 3), round(result.next_model.upper, 3)
            (0.015, 0.423)
        """
        return self._records("procedure", "procedure", members, nonmembers, options)

    def report(
        self, members: Data = None, nonmembers: Values = None, **options: Unpack[keywords.ReportOptions]
    ) -> Result:
        """Everything about one sample: the advantage, distributions, ROC, individual risk and groups.

        Args:
            members, nonmembers: As for ``estimate``.
            groups: A label for each record, members first, or as a dict of ``members`` and ``nonmembers``.
            max_group_advantage: Largest acceptable advantage within any group, as for ``gate``; needs groups. The
                decision over it and ``max_advantage`` is then one, in ``gate``.
            max_advantage, accept_exposure, threshold, changes, metric, estimator: As for ``estimate``.
            claimed_epsilon, claimed_delta, operating_points: As for ``estimate``.
            prior, confidence, seed, query, counts, units, score, member, group, unit, cluster: As for ``estimate``.
            set_members, set_nonmembers, members_column, nonmembers_column: As for ``estimate``.

        Returns:
            a ``Result``; ``to_html()``, ``to_markdown()`` and ``to_card()`` write it for readers.

        Example:
            >>> import macekit
            >>> import numpy as np
            >>> rng = np.random.default_rng(0)
            >>> members, nonmembers = rng.normal(0.5, 1, 500), rng.normal(0, 1, 500)
            >>> result = macekit.report(members, nonmembers, max_advantage=0.1, groups=["young", "old"] * 500)
            >>> [chart.name for chart in result.charts()]
            ['interval', 'distribution', 'roc', 'low-fpr', 'risk', 'posterior', 'groups']
            >>> result.to_html("report.html").startswith("<!doctype html>")
            True
        """
        return self._records("report", "report", members, nonmembers, options)

    def risk(
        self, members: Data = None, nonmembers: Values = None, **options: Unpack[keywords.RiskOptions]
    ) -> Result:
        """The risk of each record, and of each group; ``top=k`` keeps the most surely exposed.

        The risk of a record is how far its score moves the probability of membership from a coin toss, from 0 to 1. Of
        vectors it is that of a learned score, from a learner that has not seen the record.

        Args:
            members, nonmembers: As for ``estimate``.
            targets: Scores to state the risk of. Every record by default; needed with ``counts``.
            groups: A label for each record, members first, or as a dict of ``members`` and ``nonmembers``; with
                ``targets`` a label for each of them. Mean risks are stated by group.
            top: How many records to answer with, at least 1, the most surely exposed first. All by default, in their
                order.
            metric: A metric to state of each record, too, written as for ``estimate``. None by default.
            estimator: A dict. Its ``bins`` is into how many cells of about equal size scores with an order are joined,
                at least 2; the cube root of the number of records by default. Its ``kind`` states risk and metric of
                each record as the paper does, too; what is certified stays as it is: ``"histogram"``, categories as
                they are and numbers in ``bins`` (100) equal slices of their range, or ``"kde"``, kernel densities of
                numbers, whose ``bandwidth`` is a rule's name or a number above 0. None, the default: not stated.
            bins: The former place of ``estimator={"bins": ...}``, taken until the next version.
            interval: How a cell is bounded: ``"conditional"``, exact at every confidence, or ``"mover_fieller"``, which
                is narrower for categories and misses more often than it says above 95%. The first by default
                (``"auto"``).
            threshold: Signed risk above which a record is flagged, from -1 up to but not including 1. By default 2 x
                prior - 1, which is that of every record if nothing leaks.
            over: What the expected share of false flags, at most 1 - confidence, is a share of: ``"records"``, the
                default, or ``"cells"``.
            prior, confidence, seed, query, counts, units, score, member, group, unit, cluster: As for ``estimate``.
            members_column, nonmembers_column: As for ``estimate``.

        Returns:
            a ``Result``: ``records`` as columns, ``groups``, ``flags``, ``cells``; ``to_frame()`` has a row for each
            record.

        Example:
            >>> import macekit
            >>> import numpy as np
            >>> rng = np.random.default_rng(0)
            >>> members = np.concatenate([rng.normal(0, 1, 300), rng.normal(6, 1, 100)])  # 100 records are exposed
            >>> result = macekit.risk(members, rng.normal(0, 1, 400), top=3)
            >>> result.flags.records
            89
            >>> [round(lower, 2) for lower in result.records.lower]
            [0.84, 0.84, 0.84]
        """
        return self._records("risk", "individual-risk", members, nonmembers, options)

    def metrics(
        self, members: Data = None, nonmembers: Values = None, **options: Unpack[keywords.MetricsOptions]
    ) -> Result:
        """Several accuracy-like metrics, each at its optimum.

        Each is stated for the adversary who is best at it, so the rules behind them differ.

        Args:
            members, nonmembers: As for ``estimate``.
            metrics: Which: a list of names (see ``estimators.PRESETS``) and of dicts as ``estimate`` takes. Every
                name by default.
            min_positive_share: Least share of all records that the adversary must guess member (for NPV: nonmember),
                from 0 up to but not including 1. By default 5% for metrics such as precision, which would otherwise
                be best for an adversary who hardly ever guesses; else 0.
            estimator: Into how many cells scores are joined (``bins``), and how the paper's Algorithms 2 and 3 learn
                the posterior (``kind``), written as for ``risk``. By default by the cells of what is certified.
            bins: The former place of ``estimator={"bins": ...}``, taken until the next version.
            prior, confidence, seed, query, counts, units, score, member, group, unit, cluster: As for ``estimate``.
            members_column, nonmembers_column: As for ``estimate``.

        Returns:
            a ``Result``; ``metrics`` has a part for each.

        Example:
            >>> import macekit
            >>> import numpy as np
            >>> rng = np.random.default_rng(0)
            >>> members, nonmembers = rng.normal(0.5, 1, 500), rng.normal(0, 1, 500)
            >>> for metric in macekit.metrics(members, nonmembers, metrics=["accuracy", "precision"]).metrics:
            ...     print(metric.name, round(metric.lower, 2), round(metric.upper, 2), "guessing:", metric.trivial)
            accuracy 0.56 0.65 guessing: 0.5
            precision 0.65 0.96 guessing: 0.5
        """
        return self._records("metrics", "metrics", members, nonmembers, options)

    def attack(
        self, members: Data = None, nonmembers: Values = None, **options: Unpack[keywords.AttackOptions]
    ) -> Result:
        """The advantage of an attack that you have, and how far it is from the best attacker's.

        Args:
            members: The attack's guesses about the records that the model was trained on, true or false (or 1 or 0) for
                each; or its scores, with a ``rule``. Otherwise as for ``estimate``.
            nonmembers: The same of records that it has never seen.
            rule: How scores become guesses, as a dict. ``{"threshold": 0.5}`` accuses from a threshold on;
                ``{"kind": "top"}`` as many records as there are members, or ``records``; ``{"quantile": 0.9, "of":
                "nonmembers"}`` beyond a quantile of ``"all"`` records, the ``"members"`` or the ``"nonmembers"``.
                ``side`` is ``"above"``, the default, or ``"below"``. ``"chosen_before": False`` says that a threshold
                was chosen by looking at these records: the interval then holds however it was chosen. By default
                (``{"kind": "guesses"}``) the scores are guesses.
            metrics: Metrics of the attack, written as for ``metrics``. Every name by default.
            prior, confidence, seed, query, units, score, member, group, unit, cluster: As for ``estimate``.
            members_column, nonmembers_column: As for ``estimate``.
            counts: Not taken: an attack is judged record by record.

        Returns:
            a ``Result``: ``attack``, ``rule``, ``true_positive_rate``, ``false_positive_rate``, ``metrics``,
            ``optimum``, ``gap``, ``share_of_optimum``.

        Example:
            >>> import macekit
            >>> import numpy as np
            >>> rng = np.random.default_rng(0)
            >>> members, nonmembers = rng.normal(1, 1, 500), rng.normal(0, 1, 500)
            >>> result = macekit.attack(members, nonmembers, rule={"threshold": 1.5})
            >>> round(result.attack.lower, 2), round(result.attack.upper, 2)
            (0.21, 0.32)
            >>> round(result.gap.lower, 2), round(result.gap.upper, 2)
            (0.06, 0.22)
        """
        return self._records("attack", "attack", members, nonmembers, options)

    def compare(self, queries: Data, **options: Unpack[keywords.CompareOptions]) -> Result:
        """Several scores of one model, or several models: ``{name: (members, nonmembers)}``, or a table.

        Args:
            queries: Under each name a pair of members' and nonmembers' scores, counts, or a dict of either; or a
                table or a file with a column for each query and one for membership.
            paired: Whether the same records were scored each time, in the same order. True by default; False for
                independent samples.
            against: Name of the query that all others are subtracted from. All pairs by default.
            max_advantage: Largest advantage that is acceptable, of the riskiest of the queries, from -1 to 1:
                ``decision`` is one for all of them together. No decision without a limit. Of vectors, ask ``gate``.
            max_group_advantage: Largest acceptable advantage of any query within any group, as for ``gate``; needs
                groups.
            groups: A label for each record, members first, or as a dict of ``members`` and ``nonmembers``: those of
                every query.
            accept_exposure, estimator, prior, seed, query, score, member, group, unit, cluster: As for ``estimate``.
            confidence: Probability that both ends of an interval hold, strictly between 0 and 1. 0.95 by default; at
                least 0.5. It is that of all statements of a table together.
            members_column, nonmembers_column: As for ``estimate``.

        Returns:
            a ``Result``: ``decision`` and ``limits``, if there is a limit; ``maximum``, ``ranking``, ``differences``.

        Example:
            >>> import macekit
            >>> import numpy as np
            >>> rng = np.random.default_rng(0)
            >>> members, nonmembers = rng.normal(0.5, 1, 500), rng.normal(0, 1, 500)
            >>> queries = {"before": (members, nonmembers), "after": (members - 0.4, nonmembers)}
            >>> result = macekit.compare(queries)
            >>> [place.name for place in result.ranking]
            ['before', 'after']
            >>> round(result.maximum.lower, 3), round(result.maximum.upper, 3)
            (0.114, 0.293)
            >>> limited = macekit.compare(queries, max_advantage=0.1)
            >>> limited.decision, limited.limits[0].query
            ('fail', 'before')
        """
        return self._result_of(lambda: pose_several("compare", queries, options))

    def compare_releases(self, releases: Data, **options: Unpack[keywords.CompareReleasesOptions]) -> Result:
        """Which of several releases of one training set gives away least, each by its riskiest query.

        A release is a model, a part of it, or a table: whatever is scored for the same records in the same order.
        ``estimators.compare_releases`` is the library's own.

        Args:
            releases: Under each name a pair of members' and nonmembers' scores, ``estimators.Scores``, counts, or a
                dict of several queries by name, such as ``estimators.release_queries`` makes of tables. Or a table or
                a file with a column for each, called ``model/loss`` and ``model/margin`` where a release has several.
            max_advantage: Largest advantage that is acceptable, from -1 to 1. No decisions without it.
            accept_exposure, prior, seed, query, score, member, group, unit, cluster: As for ``estimate``.
            against: Name of the release that is subtracted from every other; name it before you look at the scores.
                The first by default.
            paired: Whether row i is the same record in all releases. True by default; False for independent samples.
            confidence: Probability that both ends of an interval hold, strictly between 0 and 1. 0.95 by default; at
                least 0.5. Those of all releases hold together, and again those of all differences.
            members_column, nonmembers_column: As for ``estimate``.

        Returns:
            a ``Result``: ``ranking``, ``releases``, ``differences``; with a limit, ``decision``: pass if all releases
            keep it, fail if one does not.

        Example:
            >>> import macekit
            >>> import numpy as np
            >>> rng = np.random.default_rng(0)
            >>> members, nonmembers = rng.normal(size=(2, 2000))
            >>> result = macekit.compare_releases(
            ...     {
            ...         "model": {"loss": (members + 0.6, nonmembers), "entropy": (members, nonmembers)},
            ...         "table": (members + 0.05, nonmembers),
            ...     },
            ...     max_advantage=0.1,
            ... )
            >>> [(release.name, release.query, release.decision) for release in result.releases]
            [('model', 'loss', 'fail'), ('table', 'table', 'pass')]
            >>> [(each.first, each.second, each.decided) for each in result.differences]
            [('table', 'model', True)]
        """
        return self._result_of(lambda: pose_several("compare-releases", releases, options))

    def advantage_series(
        self, steps: Data = None, *, by: str | None = None, **options: Unpack[keywords.SeriesOptions]
    ) -> Result:
        """The advantage at every step of a series, such as checkpoints, and how far a limit is kept.

        ``estimators.advantage_series`` is the library's own.

        Args:
            steps: For each step, in an order that was fixed before the scores were seen, what ``compare_releases``
                takes for a release. Or, with ``by``, one table of the scores at all steps: whatever ``estimate`` takes,
                frames that count where they lie among it.
            by: The column of steps of such a table: numbers, which are ordered as such, or names, whose numbers are.
            max_advantage: Largest advantage that is acceptable, from -1 to 1. No decisions without it.
            accept_exposure, prior, seed, query, score, member, group, unit, cluster: As for ``estimate``.
            confidence: Probability that both ends of an interval hold, strictly between 0 and 1. 0.95 by default; at
                least 0.5. Those of all steps hold together.
            counts: In place of ``steps``, counts whose groups are the steps: ``macekit.counts(..., group="step")``
                has them under ``counts``.
            groups: The same of a request in JSON; here ``by`` names the column of a table.
            members_column, nonmembers_column: As for ``estimate``.

        Returns:
            a ``Result``: ``last_passed``, ``first_failed``, ``steps``.

        Example:
            >>> import macekit
            >>> import numpy as np
            >>> rng = np.random.default_rng(0)
            >>> members, nonmembers = rng.normal(size=(2, 2000))
            >>> epochs = {f"epoch {k}": (members + k / 50, nonmembers) for k in (1, 5, 20)}
            >>> result = macekit.advantage_series(epochs, max_advantage=0.1)
            >>> result.last_passed, result.first_failed, result.decision
            ('epoch 5', 'epoch 20', 'fail')
            >>> table = {
            ...     "score": np.concatenate([members, nonmembers, members + 0.4, nonmembers]),
            ...     "member": [True] * 2000 + [False] * 2000 + [True] * 2000 + [False] * 2000,
            ...     "step": [900] * 4000 + [1000] * 4000,
            ... }
            >>> result = macekit.advantage_series(table, by="step", max_advantage=0.1)
            >>> [(step.name, step.decision) for step in result.steps]
            [('900', 'pass'), ('1000', 'fail')]
        """
        if by is not None:
            options["group"] = by
        return self._result_of(lambda: pose_several("series", steps, options))

    def audit_synthetic(
        self,
        train: Data,
        holdout: Data,
        synthetic: Data,
        reference: Data = None,
        **options: Unpack[keywords.SyntheticOptions],
    ) -> Result:
        """What a released table gives away about the rows it was made from.

        Each table is a frame, a mapping of columns, or the path of a CSV, Parquet or Arrow file: numbers, booleans,
        texts, dates, with missing values.

        Args:
            train: The rows that the release was made from.
            holdout: Rows like these that it was not made from, with the same columns.
            synthetic: The released rows, with the same columns.
            reference: Further rows, of neither side; without them, queries that need them are not asked.
            max_advantage: Largest acceptable advantage of the riskiest query.
            max_tpr: Largest acceptable true positive rate of any query, at the false positive rate ``at_fpr``.
            at_fpr: The false positive rate that goes with it. 0.001 by default.
            max_exposed: Largest acceptable share of training rows in one range of any query's score that makes
                membership at least ``at_precision`` probable.
            at_precision: How probable that is, above the prior and below 1. 0.9 by default.
            max_group_advantage: Largest acceptable advantage of any query within any group, on the group's own rows;
                needs ``group``. A group with rows of one side only, or with too few, leaves it open.
            max_copies_over_holdout: Most training rows that may be copied beyond what chance explains. If it is left
                out, what would be a pass is a fail if any are shown to be, at a tenth of the level, on top of it.
            max_near_copies_over_holdout: The same of rows that have a near copy; it is judged only if it is given.
            accept_copies: Whether copies that nobody limited are no reason to fail. False by default.
            accept_exposure: As for ``estimate``; ``max_tpr`` and ``max_exposed`` judge exposure themselves.
            queries: Names of the queries to ask, at least 2 (docs/queries.md). All that can be by default.
            categories: Columns of numbers that are names of something, such as codes.
            leave_out: Columns that are not to be used.
            use: Columns that are to be used although they look like identifiers.
            unit: Column of both sides that says whom a row belongs to: one row of each, drawn at random, is asked
                about.
            group: Column of both sides by which risks are stated.
            check_sides: Whether to look for what tells training from hold-out rows without the release. True by
                default.
            control: Column of both sides with a control score, that of a release that was made of neither: if it tells
                them apart, a fail is "fail, or drift". It is used for nothing else.
            prior, confidence, seed: As for ``estimate``.

        Returns:
            a ``Result``: ``decision``, ``limits``, ``ranking``, ``copies``, ``near_copies``, ``split``.

        Example:
            >>> import macekit
            >>> import numpy as np
            >>> rng = np.random.default_rng(0)
            >>> people = lambda n: {"age": rng.normal(45, 12, n), "income": rng.normal(3, 1, n)}
            >>> train, holdout, released = people(500), people(500), people(500)
            >>> released = {name: np.r_[column, train[name][:25]] for name, column in released.items()}
            >>> result = macekit.audit_synthetic(train, holdout, released, max_copies_over_holdout=0)
            >>> result.decision, result.copies.members
            ('fail', 25)
        """
        tables = {"train": train, "holdout": holdout, "synthetic": synthetic, "reference": reference}
        return self._result_of(lambda: pose_tables("synthetic", tables, options))

    def release_size(
        self,
        train: Data,
        holdout: Data,
        synthetic: Data,
        reference: Data = None,
        **options: Unpack[keywords.ReleaseSizeOptions],
    ) -> Result:
        """How many rows of a released table may go out: the advantage against their number.

        Tables are those of ``audit_synthetic``; ``estimators.release_size`` is the library's own.

        Args:
            train: The rows that the release was made from.
            holdout: Rows like these that it was not made from, with the same columns.
            synthetic: All the rows that might be released, with the same columns.
            reference: Further rows, of neither side; without them, queries that need them are not asked.
            sizes: Numbers of released rows to ask about, chosen before the data are looked at. 10, 20, 50, 100 and so
                on, up to all rows, by default.
            max_advantage, max_exposed, at_precision, max_copies_over_holdout: As for ``audit_synthetic``; a size has to
                keep all of them.
            max_near_copies_over_holdout, accept_copies, accept_exposure, queries: As for ``audit_synthetic``.
            categories, leave_out, use, unit: As for ``audit_synthetic``.
            prior, confidence, seed: As for ``estimate``.

        Returns:
            a ``Result``: ``largest``, the ``rows`` of that size by their places, ``steps``.

        Example:
            >>> import macekit
            >>> import numpy as np
            >>> rng = np.random.default_rng(0)
            >>> people = lambda n: {"age": rng.normal(45, 12, n), "income": rng.normal(3, 1, n)}
            >>> result = macekit.release_size(people(500), people(500), people(2000), max_advantage=0.2)
            >>> result.largest, len(result.rows)
            (2000, 2000)
        """
        tables = {"train": train, "holdout": holdout, "synthetic": synthetic, "reference": reference}
        return self._result_of(lambda: pose_tables("release-size", tables, options))

    def audit_predictions(
        self,
        train: Data,
        holdout: Data,
        planted: Data = None,
        spared: Data = None,
        **options: Unpack[keywords.ModelOptions],
    ) -> Result:
        """What a model's predictions give away about the rows it was trained on.

        Each table is a frame, a mapping of columns, or the path of a CSV, Parquet or Arrow file: what the model
        predicts for each row, and what is true of it. ``audit_model`` asks a model itself.

        Args:
            train: A row for each row that the model was trained on.
            holdout: The same columns of rows like these that it was not trained on.
            planted: The same columns, of what twins of the model predict for records that were planted in their
                training: how strong the queries are is then stated, and a pass says it. ``audit_model`` trains twins.
            spared: The same for records that were drawn with these, and left out.
            copies: How many times each planted record stands in the training of its twin. 1 by default.
            truth: Column that says what is true; by default the one called truth, label, target or y.
            predictions: Columns of what the model predicts, one a class. By default those called after the classes
                (``p_cat``), else all numbers that have no other part.
            outputs: What they are: ``"probabilities"``, ``"logits"`` (scores before the softmax), ``"predictions"`` of
                a regressor or ``"labels"``. Read off them by default.
            features: Columns that the model read: a fail is then "fail, or drift", if the sides differ in them anyway.
            together: Whether to learn a score of all queries together from 40% of the rows, as one query more.
            max_advantage, max_tpr, at_fpr, max_exposed, at_precision: As for ``audit_synthetic``.
            accept_exposure, max_group_advantage, leave_out, unit, group, check_sides: As for ``audit_synthetic``.
            control: Column of both sides with a control score, that of a model that saw neither, as for
                ``audit_synthetic``.
            categories, use: Of features, as for ``audit_synthetic``.
            queries: Names of the queries to ask (docs/queries.md). All that apply by default.
            prior, confidence, seed: As for ``estimate``.

        Returns:
            a ``Result``: ``decision``, ``limits``, ``ranking``, ``fit``, ``not_asked``.

        Example:
            >>> import macekit
            >>> import numpy as np
            >>> rng = np.random.default_rng(0)
            >>> truth = np.repeat([0, 1], 300)
            >>> says = lambda own: {"y": truth, "p": np.where(truth == 1, own, 1 - own)}
            >>> sure, unsure = says(rng.beta(9, 1, 600)), says(rng.beta(2, 1, 600))
            >>> result = macekit.audit_predictions(sure, unsure, max_advantage=0.1)
            >>> result.decision, result.ranking[0].name
            ('fail', 'loss')
        """
        tables = {"train": train, "holdout": holdout, "planted": planted, "spared": spared}
        return self._result_of(lambda: pose_tables("model", tables, options))

    def audit_text(
        self, members: Any = None, nonmembers: Any = None, **options: Unpack[keywords.TextOptions]
    ) -> Result:
        """What a language model's log-probabilities give away about texts, by every query that they allow.

        Args:
            members: The log-probabilities of each text that the model was trained on: a list or an array for each, or a
                dict with ``logprobs`` and, as far as there are, ``text``, ``mean`` and ``std``, ``reference_logprobs``;
                or what a server answered about it (docs/queries.md). Or a file of them; or, alone, a file of both
                sides, whose records say who is a member.
            nonmembers: The same of texts like these that it has not seen.
            max_advantage, max_tpr, at_fpr, max_exposed, at_precision: As for ``audit_synthetic``.
            accept_exposure, prior, confidence, seed: As for ``estimate``.
            layout: How they were written: ``"mace"``, as above; ``"prompt_logprobs"``, ``"completions"``, ``"chat"``,
                ``"lm_eval"``. Read off the first text by default.
            by: Field that names the document or person a text is of: one score for each.
            how: How the scores of one are put together: ``"mean"``, the default, ``"max"``, ``"logsumexp"``,
                ``"top_share"``.
            share: Share of tokens for Min-K%, and of texts for ``"top_share"``. 0.2 by default.
            keep: Further fields to copy beside the scores.
            member: Of a file of both sides, the field that says who is a member, or ``"FIELD=VALUE"``.
            scores: Whether ``records`` holds the scores of each text. False by default.

        Returns:
            a ``Result``: ``decision``, ``limits``, ``ranking``, ``not_asked``; with ``scores=True`` ``records``, of
            which ``to_frame()`` has a row for each text.

        Example:
            >>> import macekit
            >>> import numpy as np
            >>> rng = np.random.default_rng(0)
            >>> seen = [-rng.exponential(1.0, 50) for _ in range(200)]
            >>> unseen = [-rng.exponential(1.2, 50) for _ in range(200)]
            >>> result = macekit.audit_text(seen, unseen, max_advantage=0.1)
            >>> result.decision, result.ranking[0].name
            ('fail', 'text_loss')
        """
        return self._result_of(lambda: pose_texts(members, nonmembers, options))

    def audit_shadows(
        self,
        target: Data = None,
        signals: Values = None,
        member: Values = None,
        membership: Values = None,
        *,
        id: Values = None,  # noqa: A002 - what it is called in the archive
        group: Values = None,
        unit: Values = None,
        features: Data = None,
        calibration_features: Data = None,
        calibration_signal: Values = None,
        **options: Unpack[keywords.ShadowsOptions],
    ) -> Result:
        """LiRA, RMIA and calibrated loss from the signals of a model and of its shadows, and one verdict over them.

        ``audit_model`` trains shadows of a model by itself.

        Args:
            target: The audited model's signal of each record, higher for members. Or, alone, an NPZ archive of arrays
                by these names.
            signals: The shadows' signals: a row a shadow, a column a record.
            member: Whether the audited model was trained on the record.
            membership: Whether the shadow was, in the shape of ``signals``; without it no shadow was on any.
            id, group, unit: A value for each record; copied beside its scores.
            features, calibration_features, calibration_signal: For quantile regression: a row of numbers for each
                record, and for others that are no members, with the audited model's signal of these.
            scale: What the signals are: ``"logit"``, log(p / (1 - p)) of a record's own class; ``"log"``, log p;
                ``"plain"``, the default, any other number, of which RMIA makes nothing.
            max_advantage, max_tpr, at_fpr, max_exposed, at_precision: As for ``audit_synthetic``.
            accept_exposure, prior, confidence, seed: As for ``estimate``.
            scores: Whether ``records`` holds the scores of each record. False by default.

        Returns:
            a ``Result``: ``decision``, ``limits``, ``ranking``, ``not_asked``; with ``scores=True`` ``records``, of
            which ``to_frame()`` has a row for each record.

        Example:
            >>> import macekit
            >>> import numpy as np
            >>> from estimators.audits.queries.shadows import random_halves
            >>> rng = np.random.default_rng(0)
            >>> member, hard = np.arange(400) < 200, rng.normal(0, 3, 400)
            >>> membership = random_halves(16, 400, seed=0)
            >>> signals = hard + membership + rng.normal(0, 0.5, (16, 400))
            >>> target = hard + member + rng.normal(0, 0.5, 400)
            >>> result = macekit.audit_shadows(target, signals, member, membership, scale="logit", max_advantage=0.1)
            >>> result.decision, result.ranking[0].name
            ('fail', 'rmia')
        """
        arrays = {
            "target": target,
            "signals": signals,
            "member": member,
            "membership": membership,
            "id": id,
            "group": group,
            "unit": unit,
            "features": features,
            "calibration_features": calibration_features,
            "calibration_signal": calibration_signal,
        }
        return self._result_of(lambda: pose_arrays("audit_shadows", "shadows", arrays, options))

    def check_split(self, train: Data, holdout: Data, **options: Unpack[keywords.CheckOptions]) -> Result:
        """Whether training and hold-out rows differ without any model: is the hold-out fair?

        Args:
            train: The rows that a model was trained on: a frame, a mapping of columns, or the path of a CSV, Parquet
                or Arrow file.
            holdout: The rows that were held out, with the same columns.
            control: Column of both sides with a control score: that of a model, or of a release, that was made of
                neither side. Its advantage says how much of the sides' difference reaches such a score.
            match: Whether to look for rows of both sides that are alike (a heuristic), and to check those again. False
                by default.
            categories, leave_out, use: As for ``audit_synthetic``.
            confidence, seed: As for ``estimate``.

        Returns:
            a ``Result``: ``differs``, ``advantage``, ``columns``, ``control``, ``match``.

        Example:
            >>> import macekit
            >>> import numpy as np
            >>> age = np.arange(800) // 10  # sorted, and split in the middle
            >>> result = macekit.check_split({"age": age[:400]}, {"age": age[400:]})
            >>> result.differs, result.columns[0].name
            (True, 'age')
        """
        tables = {"train": train, "holdout": holdout}
        return self._result_of(lambda: pose_tables("check", tables, options))

    def frontier(self, candidates: Data, **options: Unpack[keywords.FrontierOptions]) -> Result:
        """The most useful of several candidates that is shown to keep a limit.

        Args:
            candidates: For each, in an order that was declared before the scores were seen, what ``compare_releases``
                takes for a release.
            utility: How useful each is, in their order: an accuracy, say, on other records than these.
            max_advantage: Largest advantage that is acceptable, from -1 to 1.
            in_order: Whether the order was declared, the most cautious first. True by default; without it the level is
                shared (Holm).
            starts: From how many places of the order candidates are tried, where it is doubtful. 1 by default.
            accept_exposure, prior, confidence, seed, query, score, member, group, unit, cluster: As for ``estimate``.
            members_column, nonmembers_column: As for ``estimate``.

        Returns:
            a ``Result``: ``best``, ``decision``, ``steps``.

        Example:
            >>> import macekit
            >>> import numpy as np
            >>> rng = np.random.default_rng(0)
            >>> members, nonmembers = rng.normal(size=(2, 2000))
            >>> noise = {f"noise {k}": (members + 1 / k, nonmembers) for k in (50, 10, 2)}
            >>> result = macekit.frontier(noise, utility=[0.71, 0.76, 0.8], max_advantage=0.15)
            >>> result.best, result.decision
            ('noise 10', 'pass')
        """
        return self._result_of(lambda: pose_several("frontier", candidates, options))

    def exposed(
        self, members: Data = None, nonmembers: Values = None, **options: Unpack[keywords.ExposedOptions]
    ) -> Result:
        """Which members are exposed, by name, and how many of the list may be false.

        Args:
            members, nonmembers: As for ``estimate``; nonmembers of the same kind and date, not trained on.
            max_false_share: Largest share of the listed members that score as a nonmember would. 0.1 by default.
            direction: Which end of the scores speaks for membership: ``"high"``, ``"low"`` or ``"either"``, the
                default, which costs half the level.
            confidence, seed, query, counts, units, score, member, group, unit: As for ``estimate``.
            members_column, nonmembers_column: As for ``estimate``.
            cluster: Refused: name a ``unit``, of which one record is listed.

        Returns:
            a ``Result``: ``at_least``, ``listed``, ``most_false``, ``lists``.

        Example:
            >>> import macekit
            >>> import numpy as np
            >>> rng = np.random.default_rng(0)
            >>> members = np.append(rng.normal(size=950), rng.normal(8, 1, 50))  # fifty were memorised
            >>> result = macekit.exposed(members, rng.normal(size=5000))
            >>> result.at_least > 35, min(result.listed[:40]) >= 950
            (True, True)
        """
        return self._records("exposed", "exposed", members, nonmembers, options)

    def usage(
        self, members: Data, nonmembers: Data, candidates: Data, **options: Unpack[keywords.UsageOptions]
    ) -> Result:
        """How large a share of some records was trained on.

        Args:
            members: The model's scores of records known to be trained on: numbers, a frame, a mapping of columns, or
                the path of a file.
            nonmembers: Those of records of the same kind and date, known not to be trained on.
            candidates: Those of the records in question.
            score: Columns of scores; of several, that which tells members from nonmembers best is chosen on records
                that are set aside for it, unless ``combine`` joins them. If left out, the only column, or one with a
                usual name.
            unit: Column of all three that says whom a row belongs to, such as a document: one row of each, drawn at
                random, is asked about.
            per_unit: ``"mean"``: the mean of a unit's scores is asked about, and not ``"one"`` of its rows.
            combine: Whether several columns are combined into one score, by weights that are learned on known records
                set aside: ``"never"``, ``"always"``, or ``"auto"``, where that tells those records apart better.
            max_share: Largest acceptable share, for a verdict.
            direction: Which end of the scores speaks for use: ``"high"``, ``"low"`` or ``"either"``, the default. Not
                knowing costs some of the known records, on which it is learned.
            confidence, seed: As for ``estimate``.

        Returns:
            a ``Result``: ``share``, ``lower_whatever``, ``is_mixture``, ``none_used``, ``decision``, ``score``,
            ``weights``.

        Example:
            >>> import macekit
            >>> import numpy as np
            >>> rng = np.random.default_rng(0)
            >>> members, nonmembers, fresh = rng.normal(2, 1, 500), rng.normal(0, 1, 500), rng.normal(0, 1, 500)
            >>> result = macekit.usage(members, nonmembers, fresh, max_share=0.2)
            >>> result.decision, result.share.lower
            ('pass', 0.0)
        """
        groups = {"members": members, "nonmembers": nonmembers, "candidates": candidates}
        return self._result_of(lambda: pose_groups("usage", groups, options))

    def unlearning(
        self,
        forgotten: Data,
        unseen: Data,
        retained: Data = None,
        **options: Unpack[keywords.UnlearningOptions],
    ) -> Result:
        """What one score of a model still tells of records that it was to forget.

        Args:
            forgotten: The records that it was to forget: a frame, a mapping of columns, or the path of a CSV, Parquet
                or Arrow file, with a column of scores.
            unseen: Records of the same kind that it has never seen, with the same columns.
            retained: Records of that kind that it was trained on and kept, for the share that remains.
            score: Column of the score; the only one, or the one of a usual name, if left out.
            retrained: Column with the score of a model that was trained again without the forgotten records;
                ``"retrained"``, if left out and there. The limit is then on the excess over that model.
            id: Column that says which record a row is; nothing passes if one stands in two tables.
            max_advantage: Largest advantage, or excess, that is acceptable, from 0 to 1.
            accept_exposure, confidence, seed: As for ``estimate``.

        Returns:
            a ``Result``: ``verdict``, ``residual``, ``excess``, ``remaining_share``, ``least_limit``,
            ``records_to_pass``.

        Example:
            >>> import macekit
            >>> import numpy as np
            >>> rng = np.random.default_rng(0)
            >>> forgotten, unseen = {"loss": rng.normal(-1, 1, 500)}, {"loss": rng.normal(0, 1, 500)}
            >>> result = macekit.unlearning(forgotten, unseen, max_advantage=0.1)
            >>> result.verdict.decision, result.leans
            ('fail', 'below')
        """
        tables = {"forgotten": forgotten, "unseen": unseen, "retained": retained}
        return self._result_of(lambda: pose_tables("unlearning", tables, options))

    def audit(
        self, members: Data = None, nonmembers: Values = None, **options: Unpack[keywords.AuditOptions]
    ) -> Result:
        """A promised epsilon against what the records show.

        Records can contradict a promise of differential privacy, and never prove it.

        Args:
            members, nonmembers, claimed_epsilon, claimed_delta: As for ``estimate``.
            direction: Which end of the scores speaks for membership: ``"high"``, ``"low"`` or ``"either"``, the
                default. Knowing it makes the bound sharper; it has to be known before the scores are looked at.
            prior, confidence, seed, query, counts, units, score, member, group, unit, cluster: As for ``estimate``.
            members_column, nonmembers_column: As for ``estimate``.

        Returns:
            a ``Result``: ``epsilon``, what the mechanism's epsilon must be at least; ``claim``, whether that
            contradicts the promise.

        Example:
            >>> import macekit
            >>> import numpy as np
            >>> rng = np.random.default_rng(0)
            >>> members, nonmembers = rng.normal(2, 1, 500), rng.normal(0, 1, 500)
            >>> result = macekit.audit(members, nonmembers, claimed_epsilon=1.0, direction="high")
            >>> result.claim.decision, round(result.epsilon.lower_bound, 2)
            ('contradicted', 2.77)
        """
        return self._records("audit", "audit", members, nonmembers, options)

    def plan(self, **options: Unpack[keywords.PlanOptions]) -> Result:
        """How many records a decision about a limit takes, or an interval of a width.

        Give ``max_advantage`` or ``width``. The answer is enough in four samples of five.

        Args:
            expected: The advantage that you expect, from the baseline |2 x prior - 1| up to but not including 1.
            max_advantage: Largest advantage that is acceptable, from -1 to 1. The nearer to ``expected``, the more
                records.
            threshold: Its former name, as for ``estimate``.
            width: Largest distance between the two ends of the interval, strictly between 0 and 1.
            prior, confidence: As for ``estimate``.
            member_share: Share of members among the records that you will score, strictly between 0 and 1. 0.5 by
                default; from 0.001 to 0.999.
            design_effect: How many times as many records it takes because they come in clusters, at least 1: an
                earlier answer's.
            cluster_size: Records of one cluster; there will be 40 clusters at least. Beside ``design_effect``, or
                beside ``correlation``.
            correlation: Correlation of two scores of one cluster, from 0 to 1, in place of ``design_effect``.
            spread: Standard deviation of the advantage between trainings, such as an earlier ``procedure`` answered:
                the plan is then of models to train for a decision about their procedure.
            records_per_model: Records of each model, of both sides together, at least 16; with ``spread``.

        Returns:
            a ``Result``: ``records``, ``members``, ``nonmembers``, ``models``.

        Example:
            >>> import macekit
            >>> macekit.plan(expected=0.3, max_advantage=0.1).records
            256
            >>> macekit.plan(expected=0.3, max_advantage=0.1, cluster_size=5, correlation=0.5).records
            598
            >>> macekit.plan(expected=0.2, max_advantage=0.1, spread=0.05, records_per_model=1000).models
            8
        """
        return self._records("plan", "plan", None, None, options)

    def counts(
        self, members: Data = None, nonmembers: Values = None, **options: Unpack[keywords.CountsOptions]
    ) -> Result:
        """Scores as counts that merge with any others, or several ``shards=`` merged.

        Counts stand for scores in every other question that looks at no single record. Vectors are counted by one score
        that is learned from some of them; their counts say so (``learned``) and do not merge.

        Args:
            members, nonmembers, seed, query, counts, units, score, member, group, unit, cluster: As for ``estimate``.
            shards: Counts of several samples, to be merged into one; then without scores.
            cells: ``"grid"`` (merges with any other grid), ``"categories"``, ``"equal_mass"`` (needs no agreement,
                but does not merge), ``"edges"`` or ``"auto"``, the default: categories for text, booleans and
                integers, else a grid.
            bins: How many cells of equal mass, from 2 to 65,536; with ``cells="equal_mass"``.
            edges: Increasing scores that separate neighbouring cells; with ``cells="edges"``.
            groups: A label for each record, members first, or as a dict of ``members`` and ``nonmembers``: the counts
                then have those of each group, too (``by_group``), of which ``report`` and ``gate`` state the risk.
            members_column, nonmembers_column: As for ``estimate``.

        Returns:
            a ``Result``: ``counts``, ``n_members``, ``n_nonmembers``, ``input_sha256``.

        Example:
            >>> import macekit
            >>> import numpy as np
            >>> rng = np.random.default_rng(0)
            >>> members, nonmembers = rng.normal(0.5, 1, 500), rng.normal(0, 1, 500)
            >>> first = macekit.counts(members[:250], nonmembers[:250])
            >>> second = macekit.counts(members[250:], nonmembers[250:])
            >>> merged = macekit.counts(shards=[first["counts"], second["counts"]])
            >>> merged.n_members, round(macekit.estimate(counts=merged["counts"]).advantage.estimate, 2)
            (500, 0.21)
        """
        return self._records("counts", "counts", members, nonmembers, options)

    def gate(
        self, members: Data = None, nonmembers: Values = None, **options: Unpack[keywords.GateOptions]
    ) -> Result:
        """Limits that must hold: pass, fail, or undecided with the records still needed.

        Give at least one limit, chosen before the records are looked at. The gate fails if any limit fails and passes
        if all pass.

        Args:
            members, nonmembers, estimator: As for ``estimate``.
            max_advantage: Largest acceptable advantage, from -1 to 1.
            changes: As for ``estimate``; it goes with ``max_advantage``.
            max_tpr: Largest acceptable true positive rate at the false positive rate ``at_fpr``, from 0 to 1, of the
                best set of at most 4 ranges of the score, or labels: what an attacker finds who is hardly ever wrong.
            at_fpr: False positive rate that goes with ``max_tpr``, strictly between 0 and 1.
            max_epsilon: Largest acceptable epsilon of this score's two distributions at ``delta``, from 0 to 700.
            delta: Delta that goes with ``max_epsilon``, from 0 up to but not including 1. 0 by default, at which the
                limit cannot pass.
            metric: A metric to limit at its optimum, written as for ``estimate``; with ``max``.
            max: Largest acceptable value of ``metric``.
            max_group_advantage: Largest acceptable advantage within any group, on the group's own records, from -1 to
                1; needs groups. A group with records of one side only, or with too few, leaves it open.
            max_group_risk: Largest acceptable mean over a group's records of the risk read off all records together,
                from 0 to 1; needs groups, and a prior of 0.5. It looks at no group by itself.
            groups: A label for each record, members first, or as a dict of ``members`` and ``nonmembers``.
            accept_exposure: As for ``estimate``; ``max_tpr`` and ``max_epsilon`` judge exposure themselves.
            anytime: Whether the records are one batch of several. The ends then hold at all looks together, so that one
                may stop as soon as they decide; ``max_advantage`` is judged alone. False by default.
            planned: With the first batch of several: about how many records of both sides will come, at which the ends
                are best. 10,000 by default.
            state: With ``anytime``: the ``state`` of the result of the batch before; it fixes what is asked. None with
                the first.
            declaration: What was declared before the scores were seen, as ``mace declare`` wrote it: a question that is
                not that one is refused, and ``provenance`` names its SHA-256.
            prior, confidence, seed, query, counts, units, score, member, group, unit, cluster: As for ``estimate``.
            members_column, nonmembers_column: As for ``estimate``.

        Returns:
            a ``Result``: ``decision``, ``covers`` (of a pass), ``limits``, ``groups``, ``records_needed``, and
            ``exposure``, which is looked for unless ``anytime``; with it ``state`` and ``anytime``, how far the run has
            come.

        Example:
            >>> import macekit
            >>> import numpy as np
            >>> rng = np.random.default_rng(0)
            >>> members, nonmembers = rng.normal(0.5, 1, 500), rng.normal(0, 1, 500)
            >>> result = macekit.gate(members, nonmembers, max_advantage=0.3, metric="accuracy", max=0.55)
            >>> result.decision
            'fail'
            >>> [(limit.name, limit.decision) for limit in result.limits]
            [('advantage', 'pass'), ('metric', 'fail')]
            >>> result = macekit.gate(members, nonmembers, max_advantage=0.1, anytime=True, planned=2000)
            >>> while result.decision == "inconclusive":
            ...     batch = rng.normal(0.5, 1, 100), rng.normal(0, 1, 100)
            ...     result = macekit.gate(*batch, anytime=True, state=result.state)
            >>> result.decision, result.anytime.looks
            ('fail', 6)
        """
        return self._records("gate", "gate", members, nonmembers, options)

    @property
    def theory(self) -> Theory:
        """What theory promises: differential privacy, and three papers, a question each."""
        return Theory(self._result_of)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Callable[..., Result]:
            """Any other command that the table of operations has; its keywords are the fields of its question."""
            row = next((each for each in OPERATIONS if each.python == name), None)
            if row is None:
                raise AttributeError(f"{type(self).__name__} has no {name}")
            return lambda members=None, nonmembers=None, **options: self._records(
                name, row.name, members, nonmembers, options
            )

    def _records(
        self, name: str, operation: str, members: object, nonmembers: object, options: Mapping[str, Any]
    ) -> Result:
        return self._result_of(lambda: pose(name, operation, members, nonmembers, options))

    def _result_of(self, posing: Callable[[], Question]) -> Result:
        with as_mace_problems():
            question = posing()
        return self._result(question)

    def _result(self, question: Question) -> Result:
        with as_mace_problems():
            return Result.now(question.operation, self._answer(question), question.source)


class Local(Client):
    """What answers in this process, by the operations of the service; arrays reach them as they are."""

    def __repr__(self) -> str:
        return "macekit.client.client.Local()"

    def _answer(self, question: Question) -> dict[str, Any]:
        from macekit.call import Call
        from macekit.operations import answer, perform
        from macekit.problems import Problem
        from macekit.schemas.query_string import query_pairs
        from macekit.sources.reading import read
        from macekit.sources.shards import shards_of

        records, options = question.records, dict(question.options)
        if isinstance(records, Dataset):
            raise Problem("bad-option", f"{records!r}: is a service's; ask it, by macekit.Mace(url)")
        if isinstance(records, File) and _is_counted(records, question):
            source = shards_of([records.path])
            records = read(source, question.operation, options, question.roles)
            options = records.options
        if isinstance(records, File):
            pairs = query_pairs(options)
            if pairs is not None:
                with records.body() as body:
                    reply = perform(records.call(question.operation, question.roles + pairs), body)
                return answer_of(question.operation, reply)
            records = records.decode(question.operation, question.roles)
        reply = answer(Call(question.operation), replace(records, options=options, textual=False))
        return answer_of(question.operation, reply)


def _is_counted(file: File, question: Question) -> bool:
    """Whether a file is so large that it is counted as it is read, as the command does."""
    from macekit.call import JSON, NPZ
    from macekit.questions.counts.work import EXPANSION, LARGE, counts_suffice, vectors_suffice

    call = file.call(question.operation, question.roles)
    blockwise = file.media_type not in (JSON, NPZ)
    if "group" not in dict(question.roles):
        suffice = counts_suffice(call, question.options) or vectors_suffice(call, question.options)
        return blockwise and file.size > LARGE and suffice
    if call.operation == "counts":
        return blockwise
    return blockwise and file.size * EXPANSION > LARGE and counts_suffice(call, question.options)
