"""The questions as methods of a client, those of theory too, and the client that answers them in this process.

Arrays come as lists, NumPy arrays or frames; a table or a file holds all of them, and its columns are then named.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Unpack

from macekit.catalogue import OPERATIONS
from macekit.client.body import File
from macekit.client.options import (
    AdvantageOptions,
    AuditOptions,
    CompareOptions,
    CountsOptions,
    Data,
    DpOptions,
    GateOptions,
    MetricsOptions,
    MipFiniteOptions,
    MipOptions,
    MisOptions,
    MisOverfittingOptions,
    PlanOptions,
    PmpExponentialOptions,
    PmpGaussianOptions,
    ReportOptions,
    RiskOptions,
    TogetherOptions,
    Values,
)
from macekit.client.problems import answer_of, as_mace_problems
from macekit.client.question import Question, pose, pose_arrays, pose_several
from macekit.client.result import Result

Ask = Callable[[Callable[[], Question]], Result]
"""The function that answers a question."""


class Theory:
    """The questions of theory, of one who answers."""

    def __init__(self, ask: Ask) -> None:
        self._ask = ask

    def dp(self, **options: Unpack[DpOptions]) -> Result:
        """What a promise of differential privacy allows, every bound side by side.

        State the promise in one way: ``epsilon`` and ``delta``, ``mu``, ``rdp``, or ``noise_multiplier`` and
        ``steps``. The last needs the package ``dp-accounting``.

        Args:
            epsilon: Epsilon of the promise, from 0 to 700.
            delta: Delta that goes with ``epsilon``, from 0 up to but not including 1; 0 by default. With the other
                ways to promise, the delta to state an epsilon at.
            mu: Mu of Gaussian differential privacy, from 0 to 1000.
            rdp: Pairs ``[order, epsilon]`` of Renyi differential privacy; needs ``delta``.
            noise_multiplier: Standard deviation of the Gaussian noise of a step over the norm that one record is
                clipped to, from 0.01 to 1,000,000; needs ``steps`` and ``delta``.
            steps: How many noisy steps were made, at least 1.
            sampling_rate: Probability that a record is in a step, above 0 and at most 1. 1 by default.
            adjacency: Which training sets the promise compares: ``"replace"`` (one record in the place of another) or
                ``"add_remove"`` (with a record and without it, as most accountants have it). By default what
                ``inclusion`` needs.
            inclusion: How records became members: ``"fixed_number"`` (so many of them drawn at random), the default,
                or ``"independent"`` (each by a coin of its own).
            prior: Probability that a record is a member before its score is seen, strictly between 0 and 1. 0.5 by
                default.
            member_weight: What a true positive weighs against a true negative (lambda of membership inference
                security), above 0. 1 by default.
            false_positive_rates: Rates, each strictly between 0 and 1, at which to bound the true positive rate.
                0.001, 0.01 and 0.1 by default.
            advantage: Largest advantage that is acceptable: the answer says which epsilon, and which mu, keep it.

        Returns:
            a ``Result``: ``bounds``, one of each quantity marked as the tightest that is proven; ``roc``, ``stated``,
            ``keeping``.

        Raises:
            MaceProblem: an option is missing, out of its range, or does not go with another; it says which and why.

        Example:
            >>> import macekit
            >>> promise = macekit.theory.dp(epsilon=1.0, delta=1e-5)
            >>> for bound in promise.bounds:
            ...     if bound.quantity == "advantage" and bound.tightest:
            ...         print(round(bound.value, 4))
            0.4621
        """
        return self._ask(partial(pose, "dp", "theory/dp", None, None, options))

    def together(
        self, members: Data = None, nonmembers: Values = None, **options: Unpack[TogetherOptions]
    ) -> Result:
        """A claimed epsilon and delta: what theory allows, what was measured, whether they agree.

        Records can contradict a claim, and never prove it.

        Args:
            members, nonmembers: As for ``macekit.estimate``.
            claimed_epsilon: Epsilon of the differential privacy that was promised, at least 0. At most 700; None if
                nothing was promised.
            claimed_delta: Delta that was promised with it, from 0 up to but not including 1. 0 by default.
            direction: Which end of the scores speaks for membership: ``"high"``, ``"low"`` or ``"either"``, the
                default. Knowing it makes the bound sharper; it has to be known before the scores are looked at.
            adjacency: Which training sets the promise compares: ``"replace"`` (one record in the place of another) or
                ``"add_remove"`` (with a record and without it, as most accountants have it). By default what
                ``inclusion`` needs.
            inclusion: How records became members: ``"fixed_number"`` (so many of them drawn at random), the default,
                or ``"independent"`` (each by a coin of its own).
            operating_points: False positive rates, each strictly between 0 and 1, at which to state the true positive
                rate. 0.001, 0.01 and 0.1 by default.
            confidence: Probability that both ends of an interval hold, strictly between 0 and 1. 0.95 by default; at
                least 0.5. It is that of all rows together.
            prior, seed, query, counts, units, score, member, group, unit: As for ``macekit.estimate``.
            members_column, nonmembers_column: As for ``macekit.estimate``.

        Returns:
            a ``Result``: ``decision`` and ``rows``, each with what is allowed, what was measured, and ``agrees``.

        Example:
            >>> import macekit
            >>> import numpy as np
            >>> rng = np.random.default_rng(0)
            >>> members, nonmembers = rng.normal(2, 1, 500), rng.normal(0, 1, 500)
            >>> result = macekit.theory.together(members, nonmembers, claimed_epsilon=0.5)
            >>> result.decision, sorted({row.agrees for row in result.rows})
            ('contradicted', ['no', 'open', 'yes'])
        """
        return self._ask(partial(pose, "together", "theory/together", members, nonmembers, options))

    def mip(
        self,
        draws: Data = None,
        *,
        before: Values = None,
        after: Values = None,
        record: Values = None,
        **options: Unpack[MipOptions],
    ) -> Result:
        """Membership inference privacy: the noise that keeps every attack within ``eta`` of guessing.

        The noise is added once to parameters fitted to a fresh random half of the data. Give ``draws``, or
        ``before``, ``after`` and ``record``, or both.

        Args:
            draws: Parameters fitted to random halves of the data, one fit a row.
            before: Parameters fitted to a random training set with a record in it, one swap a row.
            after: Parameters after that record was swapped for a random one from outside, row by row.
            record: Which record was swapped: a label for each row. Each record of the data needs swaps.
            column: Name of the table's column, or names of its columns, that hold the first array.
            records: How many records the data set has, at least 2. Without it, swaps cover only the records seen in
                ``record``.
            eta: Accuracy that any attack may have above guessing, above 0 and below 0.5. 0.1 by default.
            noise: ``"gaussian"``, the default, or ``"laplace"``.
            norm: For Laplace noise: ``"moment"`` (the paper's, which weighs every coordinate by its spread), the
                default, ``"euclid"``, ``"max"`` or ``"one"``.
            moment: Order of the moment that stands for the spread, from 1 to 100. 2 by default.
            spread: Noise of the coordinates in proportion, fixed beforehand. By default the spread of the draws;
                equal without draws.
            confidence: Probability that what is certified holds, from 0.5 to 0.999999. 0.95 by default.

        Returns:
            a ``Result``: ``noise`` with its scale, whether that is ``certified``, and ``calibrations``, every way to
            find it.

        Example:
            >>> import macekit
            >>> import numpy as np
            >>> rng = np.random.default_rng(0)
            >>> before = rng.normal(size=(400, 2))
            >>> after = before + 0.01 * rng.normal(size=(400, 2))
            >>> result = macekit.theory.mip(before=before, after=after, record=np.arange(400) % 4, eta=0.2)
            >>> result.certified, result.swaps, result.noise.kind
            (True, 400, 'gaussian')
        """
        arrays = {"draws": draws, "before": before, "after": after, "record": record}
        return self._arrays("mip", arrays, options)

    def mip_finite(self, laws: Data, **options: Unpack[MipFiniteOptions]) -> Result:
        """Membership inference privacy of an algorithm with finitely many outputs, exactly.

        Args:
            laws: Probabilities of the outputs, a row for each training set of ``k`` of the records 0 to n-1, in
                lexicographic order.
            column: Name of the table's column, or names of its columns, that hold the first array.
            n: Records in the data set, at least 2; some 20 can be gone through.
            k: Records in a training set. Half of ``n`` by default.

        Returns:
            a ``Result``: ``eta``, how much more often than guessing the best attack on the worst record is right.

        Example:
            >>> import macekit
            >>> # one of two records is drawn; the output tells which, nine times out of ten
            >>> round(macekit.theory.mip_finite([[0.9, 0.1], [0.1, 0.9]], n=2).eta, 3)
            0.4
        """
        return self._arrays("mip_finite", {"laws": laws}, options)

    def mis(
        self,
        values: Data = None,
        *,
        tallies: Values = None,
        probabilities: Values = None,
        **options: Unpack[MisOptions],
    ) -> Result:
        """Membership inference security: what any algorithm may give away of data in categories.

        Give one of ``values``, ``tallies`` and ``probabilities``.

        Args:
            values: One categorical value a record.
            tallies: Records in each category.
            probabilities: The distribution itself, which leaves nothing to estimate.
            column: Name of the table's column, or names of its columns, that hold the first array.
            sizes: Sizes of the training set, the one that matters most first. A curve by default.
            nonmember_share: Share of nonmembers among those asked about (the paper's nu), strictly between 0 and 1.
                The worst share by default.
            member_weight: What a true positive weighs against a true negative (lambda of membership inference
                security), above 0. 1 by default.
            delta: Largest Delta = 1 - security that is acceptable: the answer says how many training records keep it.
            coarsen_to: Numbers of cells: the answer says what merging the categories into so many buys.
            universe: How many categories there are, seen or not. Without it C_K has no upper end.
            confidence: Probability that both ends of an interval hold, strictly between 0 and 1. 0.95 by default; at
                least 0.5.

        Returns:
            a ``Result``: ``curve`` over sizes, diversity of the categories, and what was asked besides.

        Example:
            >>> import macekit
            >>> result = macekit.theory.mis(probabilities=[0.5, 0.3, 0.2], sizes=[100, 1000])
            >>> [round(delta, 3) for delta in result.curve.delta]
            [0.054, 0.017]
        """
        arrays = {"values": values, "tallies": tallies, "probabilities": probabilities}
        return self._arrays("mis", arrays, options)

    def mis_overfitting(
        self, train_losses: Data, heldout_losses: Values = None, **options: Unpack[MisOverfittingOptions]
    ) -> Result:
        """Membership inference security: what training and held-out losses say it can be at most.

        Args:
            train_losses: Losses of training records; or a table or a file with a column of losses and one of
                membership.
            heldout_losses: Losses of records that were not trained on. None with a table or a file.
            score, member: Names of the table's columns of losses and of membership. Not needed if they are called
                ``score`` and ``member``.
            members_column, nonmembers_column: In place of both: names of two columns, one with the losses of each side.
            losses_of: ``"one_model"``, the default, or ``"independent_trainings"``: each loss from a training of its
                own.
            thresholds: Losses to cut at, chosen without these records. Ranks of the held-out losses by default.
            nonmember_share: Share of nonmembers among those asked about (the paper's nu), strictly between 0 and 1.
                0.5 by default.
            member_weight: What a true positive weighs against a true negative (lambda of membership inference
                security), above 0. 1 by default.
            confidence: Probability that the upper bound holds over all cuts together, from 0.5 to 0.999999. 0.95 by
                default.

        Returns:
            a ``Result``: the upper bound of security and the cut that gives it.

        Example:
            >>> import macekit
            >>> import numpy as np
            >>> rng = np.random.default_rng(0)
            >>> result = macekit.theory.mis_overfitting(rng.exponential(1, 500), rng.exponential(3, 500))
            >>> print(result.sentence)
            This model's security is at most 0.770 (95% confidence): a cut of the loss alone has an accuracy of at
            least 0.615, against a baseline of 0.500 for guessing.
        """
        arrays = {"train_losses": train_losses, "heldout_losses": heldout_losses}
        return self._arrays("mis_overfitting", arrays, options)

    def pmp_exponential(self, losses: Data, **options: Unpack[PmpExponentialOptions]) -> Result:
        """Practical membership privacy of an exponential mechanism, on these records.

        The attacker knows the 2n records, and not which n of them were used. Give ``epsilon`` or
        ``practical_epsilon``.

        Args:
            losses: Loss of every outcome: a row for each of the 2n records, or for each training set in lexicographic
                order.
            column: Name of the table's column, or names of its columns, that hold the first array.
            rows: What a row of losses is: ``"records"``, the default, or ``"training_sets"``.
            loss: Whether the loss of a training set is the ``"sum"`` of its records' losses, the default, or their
                ``"mean"``.
            sensitivity: Most that the loss of a training set changes when one record is exchanged, over all data;
                above 0.
            epsilon: Epsilon of the mechanism's differential privacy.
            practical_epsilon: In place of ``epsilon``: find the epsilon that keeps this practical epsilon.
            draws: How many training sets to draw at random, at least 100, when there are too many to go through.
            confidence: Probability that both ends of an interval hold, strictly between 0 and 1. 0.95 by default; at
                least 0.5.
            seed: Whole number from which everything random is drawn; the same seed gives the same answer. 0 by
                default.

        Returns:
            a ``Result``: ``practical_epsilon``, ``ratio`` to epsilon, ``success`` of the best attacker.

        Example:
            >>> import macekit
            >>> losses = [[0, 1], [0, 1], [1, 0], [1, 0]]  # four records, two outcomes
            >>> result = macekit.theory.pmp_exponential(losses, sensitivity=1.0, epsilon=1.0)
            >>> result.method, round(result.practical_epsilon, 3)
            ('exact', 0.311)
        """
        return self._arrays("pmp_exponential", {"losses": losses}, options)

    def pmp_gaussian(self, points: Data, **options: Unpack[PmpGaussianOptions]) -> Result:
        """Practical membership privacy of a sum or a mean with Gaussian noise, on these records.

        The attacker knows the 2n records, and not which n of them were used. Give one of ``sigma``, ``epsilon`` and
        ``practical_epsilon``.

        Args:
            points: The 2n records, one row each.
            column: Name of the table's column, or names of its columns, that hold the first array.
            clip: Euclidean norm to which each row is shortened; above 0.
            query: What noise is added to: the ``"mean"``, the default, or the ``"sum"``.
            delta: The delta that goes with every epsilon here, strictly between 0 and 1.
            sigma: Standard deviation of the noise in each coordinate.
            epsilon: In place of ``sigma``: the least noise that is (epsilon, delta)-DP.
            practical_epsilon: In place of ``sigma``: the least noise that keeps this practical epsilon.

        Returns:
            a ``Result``: ``practical_epsilon``, ``sigma``, ``success`` of the best attacker.

        Example:
            >>> import macekit
            >>> import numpy as np
            >>> points = np.random.default_rng(0).normal(size=(20, 2))
            >>> result = macekit.theory.pmp_gaussian(points, clip=1.0, sigma=0.5, delta=1e-5)
            >>> result.practical_epsilon < result.epsilon
            True
        """
        return self._arrays("pmp_gaussian", {"points": points}, options)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Callable[..., Result]:
            """Any other question of theory that the table of operations has; its arrays come in their order."""
            row = next((each for each in OPERATIONS if each.paper and each.key == name), None)
            if row is None:
                raise AttributeError(f"theory has no {name}")
            return lambda *arrays, **options: self._arrays(
                name, dict(zip(row.arrays, arrays, strict=False)), options
            )

    def _arrays(self, name: str, arrays: Mapping[str, object], options: Mapping[str, Any]) -> Result:
        operation = f"theory/{name.replace('_', '-')}"
        return self._ask(partial(pose_arrays, name, operation, arrays, options))


# --- client -------------------------------------------------------------------------------------------------
# The questions as methods: the same for what answers here and for a server, which differ in one method.


class Client(ABC):
    """The methods that all clients share.

    Scores come as members and nonmembers; or as a table (any frame, Arrow, a dict of columns) or a file that holds
    both, its columns named by ``score=``, ``member=``, ``group=`` and ``unit=`` where they have not the usual names.
    """

    @abstractmethod
    def _answer(self, question: Question) -> dict[str, Any]:
        """The answer, its JSON decoded; raises ``MaceProblem``."""

    def estimate(
        self, members: Data = None, nonmembers: Values = None, **options: Unpack[AdvantageOptions]
    ) -> Result:
        """The optimal membership advantage, certified, and what belongs to it.

        The advantage says how much better than guessing the best adversary tells members from nonmembers by this
        score: 0 is a coin toss, 1 is certainty. Decide by the interval and not by the point estimate.

        Args:
            members: Scores of the records that the model was trained on, one each: a list, a NumPy array, a column of
                a frame, or the path of a ``.npy`` file; a higher score need not mean member. Or a table of both sides
                (a frame, an Arrow table, a dict of columns), or the path of a file that holds one.
            nonmembers: Scores of records that it has never seen, likewise. None with a table, a file of both sides,
                or ``counts``.
            threshold: Largest advantage that is acceptable, from -1 to 1. No verdict without it.
            metric: A further metric at its optimum: a name (see ``estimators.PRESETS``), a dict such as ``{"preset":
                "f_beta", "beta": 2}``, or ``{"coefficients": {...}, "name": ...}`` for one of your own.
                ``"accuracy"`` by default; None for none.
            estimator: Which adversaries the interval speaks of, as a dict. Its ``kind`` is ``"histogram"`` or
                ``"kde"`` (any adversary who sees the score at the resolution of some cells), ``"threshold"`` or
                ``"two_sided"`` (the best adversary is taken to have that form), ``"learned"`` (classifiers, for
                vectors) or ``"auto"``, the default: cells for one score a record, classifiers for vectors. Beside it,
                ``bins`` is the number of cells (histogram, learned), ``universe`` the number of categories if some
                were not seen (histogram), ``bandwidth`` that of kernel densities (kde), and ``learners`` names the
                classifiers (learned).
            claimed_epsilon: Epsilon of the differential privacy that was promised, at least 0. At most 700; None if
                nothing was promised.
            claimed_delta: Delta that was promised with it, from 0 up to but not including 1. 0 by default.
            operating_points: False positive rates, each strictly between 0 and 1, at which to state the true positive
                rate. 0.001, 0.01 and 0.1 by default.
            score, member: Names of the table's columns of scores (several in a list, for vectors) and of membership.
                Not needed if they are called ``score`` and ``member``.
            members_column, nonmembers_column: In place of both: names of two columns, one with the scores of each side.
            group, unit: Names of the table's columns of groups and of units.
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
            a ``Result``: ``advantage``, ``baseline``, ``metric``, ``roc``, ``epsilon``, ``verdict``, ``warnings`` and
            more.

        Raises:
            MaceProblem: the records or an option cannot be used, or the server refused; it says which and why.

        Example:
            >>> import macekit
            >>> import numpy as np
            >>> rng = np.random.default_rng(0)
            >>> members, nonmembers = rng.normal(0.5, 1, 500), rng.normal(0, 1, 500)
            >>> result = macekit.estimate(members, nonmembers, threshold=0.1)
            >>> result.decision
            'fail'
            >>> round(result.advantage.lower, 3), round(result.advantage.upper, 3)
            (0.121, 0.273)
        """
        return self._records("estimate", "advantage", members, nonmembers, options)

    def report(
        self, members: Data = None, nonmembers: Values = None, **options: Unpack[ReportOptions]
    ) -> Result:
        """Everything about one sample: the advantage, distributions, ROC, individual risk and groups.

        Args:
            members, nonmembers: As for ``estimate``.
            groups: A label for each record, members first, or as a dict of ``members`` and ``nonmembers``.
            threshold, metric, estimator, claimed_epsilon, claimed_delta, operating_points: As for ``estimate``.
            prior, confidence, seed, query, counts, units, score, member, group, unit: As for ``estimate``.
            members_column, nonmembers_column: As for ``estimate``.

        Returns:
            a ``Result``; ``to_html()``, ``to_markdown()`` and ``to_card()`` write it for readers.

        Example:
            >>> import macekit
            >>> import numpy as np
            >>> rng = np.random.default_rng(0)
            >>> members, nonmembers = rng.normal(0.5, 1, 500), rng.normal(0, 1, 500)
            >>> result = macekit.report(members, nonmembers, threshold=0.1, groups=["young", "old"] * 500)
            >>> [chart.name for chart in result.charts()]
            ['interval', 'distribution', 'roc', 'low-fpr', 'risk', 'groups']
            >>> result.to_html("report.html").startswith("<!doctype html>")
            True
        """
        return self._records("report", "report", members, nonmembers, options)

    def risk(self, members: Data = None, nonmembers: Values = None, **options: Unpack[RiskOptions]) -> Result:
        """The risk of each record, and of each group; ``top=k`` keeps the most surely exposed.

        The risk of a record is how far its score moves the probability of membership from a coin toss, from 0 to 1.

        Args:
            members, nonmembers: As for ``estimate``.
            targets: Scores to state the risk of. Every record by default; needed with ``counts``.
            groups: A label for each record, members first, or as a dict of ``members`` and ``nonmembers``; with
                ``targets`` a label for each of them. Mean risks are stated by group.
            top: How many records to answer with, at least 1, the most surely exposed first. All by default, in their
                order.
            metric: A metric to state of each record, too, written as for ``estimate``. None by default.
            bins: Into how many cells of about equal size scores with an order are joined, at least 2. The cube root
                of the number of records by default.
            interval: How a cell is bounded: ``"mover_fieller"`` (narrow), ``"conditional"`` (exact) or ``"auto"``,
                the default: the first for categories, the second for other scores.
            threshold: Signed risk above which a record is flagged, from -1 up to but not including 1. By default 2 x
                prior - 1, which is that of every record if nothing leaks.
            over: What the expected share of false flags, at most 1 - confidence, is a share of: ``"records"``, the
                default, or ``"cells"``.
            prior, confidence, seed, query, counts, units, score, member, group, unit: As for ``estimate``.
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
            [0.92, 0.92, 0.92]
        """
        return self._records("risk", "individual-risk", members, nonmembers, options)

    def metrics(
        self, members: Data = None, nonmembers: Values = None, **options: Unpack[MetricsOptions]
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
            bins: Into how many cells of about equal size scores with an order are joined, at least 2. The cube root
                of the number of records by default.
            prior, confidence, seed, query, counts, units, score, member, group, unit: As for ``estimate``.
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
            accuracy 0.56 0.64 guessing: 0.5
            precision 0.66 0.93 guessing: 0.5
        """
        return self._records("metrics", "metrics", members, nonmembers, options)

    def compare(self, queries: Data, **options: Unpack[CompareOptions]) -> Result:
        """Several scores of one model, or several models: ``{name: (members, nonmembers)}``, or a table.

        Args:
            queries: Under each name a pair of members' and nonmembers' scores, counts, or a dict of either; or a
                table or a file with a column for each query and one for membership.
            paired: Whether the same records were scored each time. True by default; False for independent samples,
                whose differences have narrower intervals.
            against: Name of the query that all others are subtracted from. All pairs by default.
            confidence: Probability that both ends of an interval hold, strictly between 0 and 1. 0.95 by default; at
                least 0.5. It is that of all statements of a table together.
            estimator, prior, seed, query, score, member, group, unit: As for ``estimate``.
            members_column, nonmembers_column: As for ``estimate``.

        Returns:
            a ``Result``: ``maximum``, ``ranking``, ``differences``.

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
            (0.112, 0.273)
        """
        return self._result_of(lambda: pose_several(queries, options))

    def audit(
        self, members: Data = None, nonmembers: Values = None, **options: Unpack[AuditOptions]
    ) -> Result:
        """A promised epsilon against what the records show.

        Records can contradict a promise of differential privacy, and never prove it.

        Args:
            members, nonmembers: As for ``estimate``.
            claimed_epsilon: Epsilon of the differential privacy that was promised, at least 0. At most 700; None if
                nothing was promised.
            claimed_delta: Delta that was promised with it, from 0 up to but not including 1. 0 by default.
            direction: Which end of the scores speaks for membership: ``"high"``, ``"low"`` or ``"either"``, the
                default. Knowing it makes the bound sharper; it has to be known before the scores are looked at.
            prior, confidence, seed, query, counts, units, score, member, group, unit: As for ``estimate``.
            members_column, nonmembers_column: As for ``estimate``.

        Returns:
            a ``Result``: ``epsilon``, what epsilon must be at least; ``claim``, whether that contradicts the promise.

        Example:
            >>> import macekit
            >>> import numpy as np
            >>> rng = np.random.default_rng(0)
            >>> members, nonmembers = rng.normal(2, 1, 500), rng.normal(0, 1, 500)
            >>> result = macekit.audit(members, nonmembers, claimed_epsilon=1.0, direction="high")
            >>> result.claim.decision, round(result.epsilon.lower_bound, 2)
            ('contradicted', 2.69)
        """
        return self._records("audit", "audit", members, nonmembers, options)

    def plan(self, **options: Unpack[PlanOptions]) -> Result:
        """How many records a decision at a threshold takes, or an interval of a width.

        Give ``threshold`` or ``width``. The answer is enough in four samples of five.

        Args:
            expected: The advantage that you expect, from the baseline |2 x prior - 1| up to but not including 1.
            threshold: Largest advantage that is acceptable, from -1 to 1. The nearer to ``expected``, the more
                records.
            width: Largest distance between the two ends of the interval, strictly between 0 and 1.
            prior: Probability that a record is a member before its score is seen, strictly between 0 and 1. 0.5 by
                default.
            member_share: Share of members among the records that you will score, strictly between 0 and 1. 0.5 by
                default; from 0.001 to 0.999.
            confidence: Probability that both ends of an interval hold, strictly between 0 and 1. 0.95 by default; at
                least 0.5.

        Returns:
            a ``Result``: ``records``, ``members``, ``nonmembers``.

        Example:
            >>> import macekit
            >>> macekit.plan(expected=0.3, threshold=0.1).records
            318
        """
        return self._records("plan", "plan", None, None, options)

    def counts(
        self, members: Data = None, nonmembers: Values = None, **options: Unpack[CountsOptions]
    ) -> Result:
        """Scores as counts that merge with any others, or several ``shards=`` merged.

        Counts stand for scores in every other question that looks at no single record.

        Args:
            members, nonmembers: As for ``estimate``.
            shards: Counts of several samples, to be merged into one; then without scores.
            cells: ``"grid"`` (merges with any other grid), ``"categories"``, ``"equal_mass"`` (needs no agreement,
                but does not merge), ``"edges"`` or ``"auto"``, the default: categories for text, booleans and
                integers, else a grid.
            bins: How many cells of equal mass, from 2 to 65,536; with ``cells="equal_mass"``.
            edges: Increasing scores that separate neighbouring cells; with ``cells="edges"``.
            seed, query, counts, units, score, member, group, unit: As for ``estimate``.
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
            (500, 0.2)
        """
        return self._records("counts", "counts", members, nonmembers, options)

    def gate(self, members: Data = None, nonmembers: Values = None, **options: Unpack[GateOptions]) -> Result:
        """Limits that must hold: pass, fail, or inconclusive with the records still needed.

        Give at least one limit, chosen before the records are looked at. The gate fails if any limit fails and passes
        if all pass.

        Args:
            members, nonmembers: As for ``estimate``.
            max_advantage: Largest acceptable advantage, from -1 to 1.
            max_epsilon: Largest acceptable epsilon of this score's two distributions at ``delta``, from 0 to 700.
            delta: Delta that goes with ``max_epsilon``, from 0 up to but not including 1. 0 by default, at which the
                limit cannot pass.
            metric: A metric to limit at its optimum, written as for ``estimate``; with ``max``.
            max: Largest acceptable value of ``metric``.
            max_group_risk: Largest acceptable mean risk of any group, from 0 to 1; needs groups, and a prior of 0.5.
            groups: A label for each record, members first, or as a dict of ``members`` and ``nonmembers``.
            estimator: As for ``estimate``.
            prior, confidence, seed, query, counts, units, score, member, group, unit: As for ``estimate``.
            members_column, nonmembers_column: As for ``estimate``.

        Returns:
            a ``Result``: ``decision``, ``limits``, ``records_needed``.

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
        """
        return self._records("gate", "gate", members, nonmembers, options)

    @property
    def theory(self) -> Theory:
        """What theory promises: differential privacy, and three papers, a question each."""
        return Theory(self._result_of)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Callable[..., Result]:
            """Any other command that the table of operations has; its keywords are the fields of its question."""
            row = next((each for each in OPERATIONS if each.command == name), None)
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


# --- local --------------------------------------------------------------------------------------------------
# Questions answered in this process, by the operations of the service; arrays reach them as they are.


class Local(Client):
    """What answers here."""

    def __repr__(self) -> str:
        return "macekit.client.client.Local()"

    def _answer(self, question: Question) -> dict[str, Any]:
        from macekit.call import Call
        from macekit.operations import answer, perform
        from macekit.schemas.query import query_pairs

        records, options = question.records, dict(question.options)
        if isinstance(records, File):
            pairs = query_pairs(options)
            if pairs is not None:
                with records.body() as body:
                    reply = perform(records.call(question.operation, question.roles + pairs), body)
                return answer_of(question.operation, reply)
            records = records.decode(question.operation, question.roles)
        reply = answer(Call(question.operation), replace(records, options=options, textual=False))
        return answer_of(question.operation, reply)
