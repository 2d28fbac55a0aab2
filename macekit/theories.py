"""What theory promises, as methods: ``macekit.theory.dp(epsilon=1)``, and the same of a server.

Arrays come as lists, NumPy arrays or frames; a table or a file holds all of them, and its columns are then named.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Unpack

from macekit.options import (
    Data,
    DpOptions,
    MipFiniteOptions,
    MipOptions,
    MisOptions,
    MisOverfittingOptions,
    PmpExponentialOptions,
    PmpGaussianOptions,
    TogetherOptions,
    Values,
)
from macekit.posing import Question, pose, pose_arrays
from macekit.result import Result

Ask = Callable[[Callable[[], Question]], Result]
"""Whoever answers a question once it is posed."""


class Theory:
    """The questions of theory, of one who answers."""

    def __init__(self, ask: Ask) -> None:
        self._ask = ask

    def dp(self, **options: Unpack[DpOptions]) -> Result:
        """What a promise of differential privacy allows, every bound side by side."""
        return self._ask(partial(pose, "dp", "theory/dp", None, None, options))

    def together(
        self, members: Data = None, nonmembers: Values = None, **options: Unpack[TogetherOptions]
    ) -> Result:
        """A claimed epsilon and delta: what theory allows, what was measured, whether they agree."""
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
        """Membership inference privacy: the noise that keeps every attack within ``eta`` of guessing."""
        arrays = {"draws": draws, "before": before, "after": after, "record": record}
        return self._arrays("mip", arrays, options)

    def mip_finite(self, laws: Data, **options: Unpack[MipFiniteOptions]) -> Result:
        """Membership inference privacy of an algorithm with finitely many outputs, exactly."""
        return self._arrays("mip_finite", {"laws": laws}, options)

    def mis(
        self,
        values: Data = None,
        *,
        tallies: Values = None,
        probabilities: Values = None,
        **options: Unpack[MisOptions],
    ) -> Result:
        """Membership inference security: what any algorithm may give away of data in categories."""
        arrays = {"values": values, "tallies": tallies, "probabilities": probabilities}
        return self._arrays("mis", arrays, options)

    def mis_overfitting(
        self, train_losses: Data, heldout_losses: Values = None, **options: Unpack[MisOverfittingOptions]
    ) -> Result:
        """Membership inference security: what training and held-out losses say it can be at most."""
        arrays = {"train_losses": train_losses, "heldout_losses": heldout_losses}
        return self._arrays("mis_overfitting", arrays, options)

    def pmp_exponential(self, losses: Data, **options: Unpack[PmpExponentialOptions]) -> Result:
        """Practical membership privacy of an exponential mechanism, on these records."""
        return self._arrays("pmp_exponential", {"losses": losses}, options)

    def pmp_gaussian(self, points: Data, **options: Unpack[PmpGaussianOptions]) -> Result:
        """Practical membership privacy of a sum or a mean with Gaussian noise, on these records."""
        return self._arrays("pmp_gaussian", {"points": points}, options)

    def _arrays(self, name: str, arrays: Mapping[str, object], options: Mapping[str, Any]) -> Result:
        operation = f"theory/{name.replace('_', '-')}"
        return self._ask(partial(pose_arrays, name, operation, arrays, options))
