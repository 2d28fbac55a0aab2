"""What is learned from vectors: on one thread, and never on the caller's account."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from threadpoolctl import threadpool_info, threadpool_limits

from estimators import LearnedTarget, Scores, advantage
from estimators.adversary.learned import BoxPosterior, Learner, boosting, learn_halves, learn_score, logistic


def sizes() -> set[int]:
    """Threads of every pool that is loaded."""
    return {pool["num_threads"] for pool in threadpool_info()}


def vectors(n: int = 120) -> Scores:
    rng = np.random.default_rng(3)
    return Scores.of(rng.normal(0.5, 1, (n, 2)), rng.normal(0, 1, (n, 2)))


def test_learners_train_and_predict_on_one_thread_and_the_caller_s_number_comes_back(monkeypatch) -> None:
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


@pytest.mark.slow
def test_one_thread_is_no_other_answer() -> None:
    answers = []
    for limits in (2, 1):
        with threadpool_limits(limits=limits):
            answers.append(advantage(vectors(), target=LearnedTarget(learners=(boosting(),))).estimate)

    assert answers[0] == answers[1]


class Memory:
    """Knows every row it was taught, and nothing else: a record that it has seen gives its label away."""

    def fit(self, rows: NDArray[np.float64], member: NDArray[np.int64]) -> None:
        self.seen = {row.tobytes(): float(label) for row, label in zip(rows, member, strict=True)}

    def predict_proba(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        share = np.array([self.seen.get(row.tobytes(), 0.5) for row in rows])
        return np.stack([1.0 - share, share], axis=1)


MEMORY = Learner("memory", lambda _seed: Memory())


def test_both_halves_score_every_record_once_and_none_by_what_has_seen_it() -> None:
    scores = vectors(50)
    first, second = learn_halves(scores, learners=[MEMORY])

    for side in (0, 1):
        assert sorted([*first.rows[side], *second.rows[side]]) == list(range(50))
    for half, other in ((first, second), (second, first)):
        assert set(half.scores.members.tolist()) == set(half.scores.nonmembers.tolist()) == {0.5}
        taught = np.asarray(scores.members)[other.rows[0]]
        assert (half.score(taught) == 1.0).all()  # what it has seen it would give away
    assert (first.n_taught, second.n_taught) == (40, 60)


def test_the_first_half_is_the_learned_score_and_what_it_says_is_of_the_other_records() -> None:
    scores = vectors(200)
    alone = learn_score(scores, seed=4, learners=[logistic()])
    assert (alone.counts.members == learn_halves(scores, 0.5, 4, [logistic()])[0].counts.members).all()
    assert (alone.scores.n_members, alone.scores.n_nonmembers, alone.n_taught) == (120, 120, 160)
    assert "logistic, learned from 160 of the records and stated on the other 240" in alone.caution.message
    assert advantage(alone.counts).lower > 0.0
