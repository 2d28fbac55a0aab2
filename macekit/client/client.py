"""The questions as methods of a client, and the client that answers them in this process."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import wraps
from inspect import signature
from typing import TYPE_CHECKING, Any, TypeVar, Unpack

from macekit.call import JSON, NPZ, Call
from macekit.catalogue import OPERATIONS
from macekit.client import keywords
from macekit.client.options import Data, Values, explain
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
from macekit.client.tables import File
from macekit.client.theory import Theory
from macekit.text import POSITIONAL, require_by_name

C = TypeVar("C")


def _with_options_by_name(client: type[C]) -> type[C]:
    """The class, whose methods say of an argument without a place how it is given."""
    for name, method in list(vars(client).items()):
        if options := explain(method, keywords):
            setattr(client, name, _by_name(method, options))
    return client


def _by_name(method: Callable[..., Result], names: Sequence[str]) -> Callable[..., Result]:
    places = [name for name, each in signature(method).parameters.items() if each.kind in POSITIONAL]

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
        return self._records("advantage", members, nonmembers, options)

    def procedure(
        self, members: Data = None, nonmembers: Values = None, **options: Unpack[keywords.ProcedureOptions]
    ) -> Result:
        """What a training procedure gives away, from several models that it trained, and what its next model will.

        ``estimators.runs.procedure.procedure_advantage`` is the library's own.

        Args:
            members, nonmembers: As for ``estimate``; those of all models together, at least 8 of either for each.
            model: Which model scored each record: the name of a column of the table; or labels, members first, or as a
                dict of ``members`` and ``nonmembers``. At least 4 different ones.

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
            ('inconclusive', 131)
            >>> round(result.next_model.lower, 3), round(result.next_model.upper, 3)
            (0.015, 0.423)
        """
        return self._records("procedure", members, nonmembers, options)

    def report(
        self, members: Data = None, nonmembers: Values = None, **options: Unpack[keywords.ReportOptions]
    ) -> Result:
        """Everything about one sample: the advantage, distributions, ROC, individual risk and groups.

        Args:
            members, nonmembers: As for ``estimate``.

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
        return self._records("report", members, nonmembers, options)

    def risk(self, members: Data = None, nonmembers: Values = None, **options: Unpack[keywords.RiskOptions]) -> Result:
        """The risk of each record, and of each group; ``top=k`` keeps the most surely exposed.

        The risk of a record is how far its score moves the probability of membership from a coin toss, from 0 to 1. Of
        vectors it is that of a learned score, from a learner that has not seen the record.

        Args:
            members, nonmembers: As for ``estimate``.
            estimator: A dict. Its ``bins`` is into how many cells of about equal size scores with an order are joined,
                at least 2; the cube root of the number of records by default. Its ``kind`` states risk and metric of
                each record as the paper does, too; what is certified stays as it is: ``"histogram"``, categories as
                they are and numbers in ``bins`` (100) equal slices of their range, or ``"kde"``, kernel densities of
                numbers, whose ``bandwidth`` is a rule's name or a number above 0. None, the default: not stated.

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
        return self._records("individual-risk", members, nonmembers, options)

    def metrics(
        self, members: Data = None, nonmembers: Values = None, **options: Unpack[keywords.MetricsOptions]
    ) -> Result:
        """Several accuracy-like metrics, each at its optimum.

        Each is stated for the adversary who is best at it, so the rules behind them differ.

        Args:
            members, nonmembers: As for ``estimate``.
            metrics: Which: a list of names (see ``estimators.PRESETS``) and of dicts as ``estimate`` takes. Every
                name by default.

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
        return self._records("metrics", members, nonmembers, options)

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
            (0.07, 0.22)
        """
        return self._records("attack", members, nonmembers, options)

    def compare(self, queries: Data, **options: Unpack[keywords.CompareOptions]) -> Result:
        """Several scores of one model, or several models: ``{name: (members, nonmembers)}``, or a table.

        Args:
            queries: Under each name a pair of members' and nonmembers' scores, counts, or a table or a file of both
                sides; or one table or file with a column for each query and one for membership.

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
            releases: Under each name what ``compare`` takes for a query, ``estimators.Scores``, or a dict of several
                queries by name, such as ``estimators.release_queries`` makes of tables. Or a table or a file with a
                column for each, called ``model/loss`` and ``model/margin`` where a release has several.

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
            counts: In place of ``steps``, counts whose groups are the steps: ``macekit.counts(..., group="step")``
                has them under ``counts``.
            groups: The same of a request in JSON; here ``by`` names the column of a table.

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
            member: Of a file of both sides, the field that says who is a member, or ``"FIELD=VALUE"``.

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
        return self._result_of(lambda: pose_arrays("shadows", arrays, options))

    def check_split(self, train: Data, holdout: Data, **options: Unpack[keywords.CheckOptions]) -> Result:
        """Whether training and hold-out rows differ without any model: is the hold-out fair?

        Args:
            train: The rows that a model was trained on: a frame, a mapping of columns, or the path of a CSV, Parquet
                or Arrow file.
            holdout: The rows that were held out, with the same columns.

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
            cluster: Refused: name a ``unit``, of which one record is listed.
            counts: Not taken: they hold no records that could be listed.

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
        return self._records("exposed", members, nonmembers, options)

    def usage(
        self, members: Data, nonmembers: Data, candidates: Data, **options: Unpack[keywords.UsageOptions]
    ) -> Result:
        """How large a share of some records was trained on.

        Args:
            members: The model's scores of records known to be trained on: numbers, a frame, a mapping of columns, or
                the path of a file.
            nonmembers: Those of records of the same kind and date, known not to be trained on.
            candidates: Those of the records in question.

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
            ('pass', 0.003125)
        """
        groups = {"members": members, "nonmembers": nonmembers, "candidates": candidates}
        return self._result_of(lambda: pose_groups("usage", groups, options))

    def unlearning(
        self, forgotten: Data, unseen: Data, retained: Data = None, **options: Unpack[keywords.UnlearningOptions]
    ) -> Result:
        """What one score of a model still tells of records that it was to forget.

        Args:
            forgotten: The records that it was to forget: a frame, a mapping of columns, or the path of a CSV, Parquet
                or Arrow file, with a column of scores.
            unseen: Records of the same kind that it has never seen, with the same columns.
            retained: Records of that kind that it was trained on and kept, for the share that remains.

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
            members, nonmembers: As for ``estimate``.

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
        return self._records("audit", members, nonmembers, options)

    def plan(self, **options: Unpack[keywords.PlanOptions]) -> Result:
        """How many records a decision about a limit takes, or an interval of a width.

        Give ``max_advantage`` or ``width``. The answer is enough in four samples of five.

        Args:
            member_share: Share of members among the records that you will score, strictly between 0 and 1. 0.5 by
                default; from 0.001 to 0.999.

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
        return self._records("plan", None, None, options)

    def counts(
        self, members: Data = None, nonmembers: Values = None, **options: Unpack[keywords.CountsOptions]
    ) -> Result:
        """Scores as counts that merge with any others, or several ``shards=`` merged.

        Counts stand for scores in every other question that looks at no single record. Vectors are counted by one score
        that is learned from some of them; their counts say so (``learned``) and do not merge.

        Args:
            members, nonmembers: As for ``estimate``.
            shards: Counts of several samples, to be merged into one; then without scores.

        Returns:
            a ``Result``: ``counts``, ``n_members``, ``n_nonmembers``, ``input_sha256``.

        Example:
            >>> import macekit
            >>> import numpy as np
            >>> rng = np.random.default_rng(0)
            >>> members, nonmembers = rng.normal(0.5, 1, 500), rng.normal(0, 1, 500)
            >>> first = macekit.counts(members[:250], nonmembers[:250])
            >>> second = macekit.counts(members[250:], nonmembers[250:])
            >>> merged = macekit.counts(shards=[first, second])
            >>> merged.n_members, round(macekit.estimate(counts=merged).advantage.estimate, 2)
            (500, 0.21)
        """
        return self._records("counts", members, nonmembers, options)

    def gate(self, members: Data = None, nonmembers: Values = None, **options: Unpack[keywords.GateOptions]) -> Result:
        """Limits that must hold: pass, fail, or undecided with the records still needed.

        Give at least one limit, chosen before the records are looked at. The gate fails if any limit fails and passes
        if all pass.

        Args:
            members, nonmembers: As for ``estimate``.
            state: With ``anytime``: the ``state`` of the result of the batch before; it fixes what is asked. None with
                the first.

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
        return self._records("gate", members, nonmembers, options)

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
                row.name, members, nonmembers, options
            )

    def _records(self, operation: str, members: object, nonmembers: object, options: Mapping[str, Any]) -> Result:
        return self._result_of(lambda: pose(operation, members, nonmembers, options))

    def _result_of(self, posing: Callable[[], Question]) -> Result:
        with as_mace_problems():
            question = posing()
            return Result.now(question.operation, self._answer(question), question.source)


class Local(Client):
    """What answers in this process, by the operations of the service; arrays reach them as they are."""

    def __repr__(self) -> str:
        return "macekit.client.client.Local()"

    def _answer(self, question: Question) -> dict[str, Any]:
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
    from macekit.questions.counts.work import EXPANSION, LARGE, counts_suffice, vectors_suffice

    call = file.call(question.operation, question.roles)
    blockwise = file.media_type not in (JSON, NPZ)
    if "group" not in dict(question.roles):
        suffice = counts_suffice(call, question.options) or vectors_suffice(call, question.options)
        return blockwise and file.size > LARGE and suffice
    if call.operation == "counts":
        return blockwise
    return blockwise and file.size * EXPANSION > LARGE and counts_suffice(call, question.options)
