"""The questions of theory as methods: ``macekit.theory.dp(epsilon=1)``, and the same of a server."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Unpack

from macekit.catalogue import OPERATIONS
from macekit.client import keywords
from macekit.client.options import Data, Values
from macekit.client.question import Question, pose, pose_arrays
from macekit.client.result import Result

Ask = Callable[[Callable[[], Question]], Result]
"""The function that answers a question."""


class Theory:
    """The questions of theory, of one who answers."""

    def __init__(self, ask: Ask) -> None:
        self._ask = ask

    def dp(self, **options: Unpack[keywords.DpOptions]) -> Result:
        """What a promise of differential privacy allows, every bound side by side.

        State the promise in one way: ``epsilon`` and ``delta``, ``mu``, ``rdp``, or ``noise_multiplier`` and
        ``steps``. The last needs the package ``dp-accounting``.

        Args:
            epsilon: Epsilon of the promise, from 0 to 700.
            delta: Delta that goes with ``epsilon``, from 0 up to but not including 1; 0 by default. With the other
                ways to promise, the delta to state an epsilon at.
            mu: Mu of Gaussian differential privacy, from 0 to 1000.
            rdp: Pairs ``[order, epsilon]`` of Renyi differential privacy; needs ``delta``.
            curve: Pairs ``[epsilon, delta]`` of an accountant, all of which hold.
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

    def convert(self, **options: Unpack[keywords.ConvertOptions]) -> Result:
        """An advantage, an eta, an epsilon or a mu in the units of the others, and as a TPR at an FPR.

        Give one number. It is read twice: as a lower end, which was measured, and as an upper limit, which was
        promised. An epsilon found from an advantage is what epsilon must be at least, and no guarantee.

        Args:
            advantage: An advantage, from the baseline |2 prior - 1| up to but not including 1.
            eta: An eta of membership inference privacy: accuracy beyond guessing, from 0 up to but not including the
                smaller of ``prior`` and 1 - ``prior``.
            epsilon: An epsilon at ``delta``, from 0 to 700.
            mu: A mu of Gaussian differential privacy, from 0 to 1000.
            delta: Delta that goes with every epsilon, from 0 up to but not including 1. 0 by default.
            prior: Probability that a record is a member before its score is seen, strictly between 0 and 1. 0.5 by
                default.
            false_positive_rates: Rates, each strictly between 0 and 1, at which to state the true positive rate.
                0.001, 0.01 and 0.1 by default.
            adjacency, inclusion: As for ``macekit.theory.dp``.

        Returns:
            a ``Result``: ``rows``, each a quantity with ``at_least`` and ``at_most``; None where nothing follows.

        Raises:
            MaceProblem: no number or several, or one out of its range; it says which and why.

        Example:
            >>> import macekit
            >>> for row in macekit.theory.convert(advantage=0.2).rows:
            ...     if row.quantity in ("eta", "epsilon", "mu"):
            ...         print(row.quantity, round(row.at_least, 3), row.at_most)
            eta 0.1 0.1
            epsilon 0.405 None
            mu 0.507 None
        """
        return self._ask(partial(pose, "convert", "theory/convert", None, None, options))

    def together(
        self, members: Data = None, nonmembers: Values = None, **options: Unpack[keywords.TogetherOptions]
    ) -> Result:
        """A claimed epsilon and delta: what theory allows, what was measured, whether they agree.

        Records can contradict a claim, and never prove it.

        Args:
            members, nonmembers, claimed_epsilon, claimed_delta, operating_points: As for ``macekit.estimate``.
            direction: Which end of the scores speaks for membership: ``"high"``, ``"low"`` or ``"either"``, the
                default. Knowing it makes the bound sharper; it has to be known before the scores are looked at.
            adjacency, inclusion: As for ``macekit.theory.dp``.
            confidence: Probability that both ends of an interval hold, strictly between 0 and 1. 0.95 by default; at
                least 0.5. It is that of all rows together.
            prior, seed, query, counts, units, score, member, group, unit, cluster: As for ``macekit.estimate``.
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

    def one_run(
        self, members: Data = None, nonmembers: Values = None, **options: Unpack[keywords.OnerunOptions]
    ) -> Result:
        """What one training run shows of a promise, and how large epsilon is at least, whatever the mechanism.

        Args:
            members, nonmembers: As for ``macekit.estimate``.
            draw: How members were drawn: ``"coin"`` (each record by a fair coin of its own; post all of them),
                ``"split"`` (the sides are a random split of one list) or ``"chosen"`` (nothing is certified then).
            epsilon, delta, mu, rdp, noise_multiplier, steps, sampling_rate: What was promised, if anything, as for
                ``macekit.theory.dp``. Epsilon is bounded at ``delta``, 0 by default.
            curve: Pairs ``[epsilon, delta]`` of an accountant, all of which hold;
                ``estimators.theory.accounting.curve_of`` makes them of an object of ``dp_accounting``.
            adjacency: Which training sets the promise compares: ``"replace"`` (one record in the place of another) or
                ``"add_remove"`` (with a record and without it, as most accountants have it). Needed with a promise
                where members were not drawn by coins.
            gaussian: Whether the mechanism is known to be Gaussian: its mu is then bounded, too. False by default.
            direction: Which end of the scores speaks for membership: ``"high"``, ``"low"`` or ``"either"``, the
                default. Knowing it makes all of this sharper; it has to be known before the scores are looked at.
            confidence: All that is stated together has the error of one end of an interval of this confidence. 0.95
                by default; at least 0.5.
            model: Of several independent runs which one's model scored each record: a column's name, or labels, of
                members first. What is stated holds after each run, in the order of their names; stop after any.
            seed, query, counts, units, score, member, group, unit, cluster: As for ``macekit.estimate``.
            members_column, nonmembers_column: As for ``macekit.estimate``.
            cluster: Refused: name a ``unit`` whose coin it was.

        Returns:
            a ``Result``: ``decision``, ``epsilon``, ``promise`` with its p-value, ``gaussian``, ``stops``; with
            ``model`` also ``runs``, each with its ``lower_bound``.

        Example:
            >>> import macekit
            >>> import numpy as np
            >>> rng = np.random.default_rng(0)
            >>> member = rng.random(1000) < 0.5  # a fair coin for each canary
            >>> scores = rng.normal(2.0 * member, 1)
            >>> result = macekit.theory.one_run(scores[member], scores[~member], draw="coin", mu=0.5, delta=1e-5)
            >>> result.decision, round(result.epsilon.lower_bound, 2)
            ('contradicted', 3.38)
        """
        return self._ask(partial(pose, "onerun", "theory/one-run", members, nonmembers, options))

    def mip(
        self,
        draws: Data = None,
        *,
        before: Values = None,
        after: Values = None,
        record: Values = None,
        **options: Unpack[keywords.MipOptions],
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

    def mip_finite(self, laws: Data, **options: Unpack[keywords.MipFiniteOptions]) -> Result:
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
        **options: Unpack[keywords.MisOptions],
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
        self,
        train_losses: Data,
        heldout_losses: Values = None,
        **options: Unpack[keywords.MisOverfittingOptions],
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
            member_weight: As for ``macekit.theory.mis``.
            alpha: Share of training losses that may lie above a cut, strictly between 0 and 1: ``by_mean`` has the
                cut that their mean alone vouches for. Needs losses of at least 0.
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

    def mis_divergence(self, outputs: Data, **options: Unpack[keywords.MisDivergenceOptions]) -> Result:
        """Membership inference security of one output, from its two laws, exactly.

        Args:
            outputs: A row for each output: its probability for a member, then for a nonmember.
            column: Name of the table's column, or names of its columns, that hold the first array.
            nonmember_share, member_weight: As for ``macekit.theory.mis``.

        Returns:
            a ``Result``: ``delta``, and ``says_member``, the outputs at which the best attack says member.

        Example:
            >>> import macekit
            >>> result = macekit.theory.mis_divergence([[0.7, 0.2], [0.2, 0.3], [0.1, 0.5]])
            >>> round(result.delta, 3), result.says_member
            (0.5, [0])
        """
        return self._arrays("mis_divergence", {"outputs": outputs}, options)

    def mis_mean(self, **options: Unpack[keywords.MisMeanOptions]) -> Result:
        """Membership inference security of the mean of Gaussian records, exactly.

        The one case in which Theorem 13 of the paper can be evaluated: for other records its constant is not explicit.

        Args:
            dimension: Coordinates of a record. 1 by default.
            sizes: Numbers of records in the mean, the one that matters most first. A curve by default.
            nonmember_share, member_weight: As for ``macekit.theory.mis``.
            delta: Largest Delta = 1 - security that is acceptable: the answer says how many records keep it.

        Returns:
            a ``Result``: ``delta``, ``curve`` over sizes, ``records_needed``.

        Example:
            >>> import macekit
            >>> result = macekit.theory.mis_mean(sizes=[100, 1000], delta=0.01)
            >>> [round(delta, 4) for delta in result.curve.delta], result.records_needed
            ([0.0321, 0.0101], 1015)
        """
        return self._ask(partial(pose, "mis_mean", "theory/mis-mean", None, None, options))

    def pmp_exponential(self, losses: Data, **options: Unpack[keywords.PmpExponentialOptions]) -> Result:
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

    def pmp_finite(self, laws: Data, **options: Unpack[keywords.PmpFiniteOptions]) -> Result:
        """Practical membership privacy of an algorithm with finitely many outputs, exactly.

        The attacker knows the 2n records, and not which n of them were used.

        Args:
            laws: Probabilities of the outputs, a row for each half of the records in lexicographic order: 2, 6, 20,
                70, ... rows for 2, 4, 6, 8, ... records.
            column: Name of the table's column, or names of its columns, that hold the first array.
            delta: The delta that goes with the practical epsilon, from 0 up to but not including 1. 0 by default.

        Returns:
            a ``Result``: ``practical_epsilon`` (None if none is enough at ``delta``), ``success`` of the best
            attacker, the ``worst`` record with the outputs that tell it, ``curve``.

        Example:
            >>> import macekit
            >>> # one of two records is drawn; the output tells which, nine times out of ten
            >>> result = macekit.theory.pmp_finite([[0.9, 0.1], [0.1, 0.9]], delta=0.1)
            >>> round(result.practical_epsilon, 3), round(result.success, 3)
            (2.079, 0.9)
        """
        return self._arrays("pmp_finite", {"laws": laws}, options)

    def pmp_gaussian(self, points: Data, **options: Unpack[keywords.PmpGaussianOptions]) -> Result:
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
