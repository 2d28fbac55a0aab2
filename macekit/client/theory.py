"""The questions of theory as methods: ``macekit.theory.dp(epsilon=1)``, and the same of a server."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Unpack

from macekit.catalogue import OPERATIONS
from macekit.client import keywords
from macekit.client.options import Data, Values, explain
from macekit.client.question import Question, pose, pose_arrays
from macekit.client.result import Result

Ask = Callable[[Callable[[], Question]], Result]  # the function that answers a question


class Theory:
    """The questions of theory, of one who answers."""

    def __init__(self, ask: Ask) -> None:
        self._ask = ask

    def dp(self, **options: Unpack[keywords.DpOptions]) -> Result:
        """What a promise of differential privacy allows, every bound side by side.

        State the promise in one way: ``epsilon`` and ``delta``, ``mu``, ``rdp``, or ``noise_multiplier`` and
        ``steps``. The last needs the package ``dp-accounting``.

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
        return self._ask(partial(pose, "theory/dp", None, None, options))

    def convert(self, **options: Unpack[keywords.ConvertOptions]) -> Result:
        """An advantage, an eta, an epsilon or a mu in the units of the others, and as a TPR at an FPR.

        Give one number. It is read twice: as a lower end, which was measured, and as an upper limit, which was
        promised. An epsilon found from an advantage is what epsilon must be at least, and no guarantee.

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
        return self._ask(partial(pose, "theory/convert", None, None, options))

    def together(
        self, members: Data = None, nonmembers: Values = None, **options: Unpack[keywords.TogetherOptions]
    ) -> Result:
        """A claimed epsilon and delta: what theory allows, what was measured, whether they agree.

        Records can contradict a claim, and never prove it.

        Args:
            members, nonmembers: As for ``macekit.estimate``.

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
        return self._ask(partial(pose, "theory/together", members, nonmembers, options))

    def one_run(
        self, members: Data = None, nonmembers: Values = None, **options: Unpack[keywords.OnerunOptions]
    ) -> Result:
        """What one training run shows of a promise, and how large epsilon is at least, whatever the mechanism.

        Args:
            members, nonmembers: As for ``macekit.estimate``.
            model: Of several independent runs which one's model scored each record: a column's name, or labels, of
                members first. What is stated holds after each run, in the order of their names; stop after any.

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
        return self._ask(partial(pose, "theory/one-run", members, nonmembers, options))

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
        self, train_losses: Data, heldout_losses: Values = None, **options: Unpack[keywords.MisOverfittingOptions]
    ) -> Result:
        """Membership inference security: what training and held-out losses say it can be at most.

        Args:
            train_losses: Losses of training records; or a table or a file with a column of losses and one of
                membership.
            heldout_losses: Losses of records that were not trained on. None with a table or a file.

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

        Returns:
            a ``Result``: ``delta``, ``curve`` over sizes, ``records_needed``.

        Example:
            >>> import macekit
            >>> result = macekit.theory.mis_mean(sizes=[100, 1000], delta=0.01)
            >>> [round(delta, 4) for delta in result.curve.delta], result.records_needed
            ([0.0321, 0.0101], 1015)
        """
        return self._ask(partial(pose, "theory/mis-mean", None, None, options))

    def pmp_exponential(self, losses: Data, **options: Unpack[keywords.PmpExponentialOptions]) -> Result:
        """Practical membership privacy of an exponential mechanism, on these records.

        The attacker knows the 2n records, and not which n of them were used. Give ``epsilon`` or
        ``practical_epsilon``.

        Args:
            losses: Loss of every outcome: a row for each of the 2n records, or for each training set in lexicographic
                order.

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
            return lambda *arrays, **options: self._arrays(name, dict(zip(row.arrays, arrays, strict=False)), options)

    def _arrays(self, name: str, arrays: Mapping[str, object], options: Mapping[str, Any]) -> Result:
        return self._ask(partial(pose_arrays, f"theory/{name.replace('_', '-')}", arrays, options))


for _method in vars(Theory).values():
    explain(_method, keywords)
