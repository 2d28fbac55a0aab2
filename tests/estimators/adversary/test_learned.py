"""What is learned from vectors: on one thread, and never on the caller's account."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from threadpoolctl import threadpool_info, threadpool_limits

from estimators import LearnedTarget, Scores, advantage
from estimators.adversary.learned import BoxPosterior, Learner, boosting


def sizes() -> set[int]:
    """Threads of every pool that is loaded."""
    return {pool["num_threads"] for pool in threadpool_info()}


def vectors(n: int = 120) -> Scores:
    rng = np.random.default_rng(3)
    return Scores.of(rng.normal(0.5, 1, (n, 2)), rng.normal(0, 1, (n, 2)))


def test_learners_train_and_predict_on_one_thread_and_the_caller_s_number_comes_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "2")  # for what is loaded while learning
    inside: dict[str, set[int]] = {"fit": set(), "predict": set()}

    class Watch(BoxPosterior):
        def fit(self, rows: NDArray[np.float64], member: NDArray[np.int64]) -> None:
            inside["fit"] |= sizes()
            super().fit(rows, member)

        def predict_proba(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
            inside["predict"] |= sizes()
            return super().predict_proba(rows)

    def build(seed: int) -> Any:
        boosting().build(seed)  # loads the threads of OpenMP as late as it can
        return Watch()

    with threadpool_limits(limits=2):
        advantage(vectors(), target=LearnedTarget(learners=(Learner("watch", build),)))
        after = sizes()

    assert inside == {"fit": {1}, "predict": {1}}
    assert after == {2}


def test_one_thread_is_no_other_answer() -> None:
    with threadpool_limits(limits=2):
        wide = advantage(vectors(), target=LearnedTarget(learners=(boosting(),)))
    with threadpool_limits(limits=1):
        narrow = advantage(vectors(), target=LearnedTarget(learners=(boosting(),)))

    assert (wide.lower, wide.value, wide.upper) == (narrow.lower, narrow.value, narrow.upper)
