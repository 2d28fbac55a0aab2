"""Several releases side by side: each end by hand, what holds for one query each, and how often differences err."""

from collections.abc import Mapping
from functools import partial

import numpy as np
import pytest

from estimators import Counts, Scores, advantage, compare, compare_releases, errors, paired_difference, release_queries
from estimators.audits.queries import encode, synthetic_scores
from tests.cases import each_case, refusals
from tests.estimators.audits.test_synthetic import drawn as tables
from tests.estimators.runs.test_series import drawn as steps_of
from tests.oracles import most_misses

pytestmark = pytest.mark.usefixtures("quick")

Releases = dict[str, dict[str, Scores]]


def drawn(rng: np.random.Generator, truths: Mapping[str, list[float]], n: int) -> Releases:
    """Queries of known advantages, of the same records; most of a record's noise is the same in all of them."""
    steps = iter(steps_of(rng, [truth for queries in truths.values() for truth in queries], n).values())
    return {name: {f"query {at}": next(steps) for at in range(len(each))} for name, each in truths.items()}


def test_a_pass_of_all_releases_names_the_fewest_changes_of_any_at_their_shared_level() -> None:
    releases = drawn(np.random.default_rng(7), {"model": [0.05, 0.0], "table": [0.0]}, 700)
    answer = compare_releases(releases, max_advantage=0.3, seed=3)
    held = partial(advantage, confidence=0.975, seed=3)
    kept = {name: min(held(q).holds_up_to(0.3) for q in each.values()) for name, each in releases.items()}

    assert {name: each.changes for name, each in answer.reach.items()} == kept
    assert f"change their guess at most {min(kept.values())} times along the score" in answer.covers[0]
    assert compare_releases(releases, max_advantage=-0.5).reach == {}


def test_of_one_query_each_it_is_a_comparison_of_columns() -> None:
    releases = drawn(np.random.default_rng(0), {"model": [0.4], "part": [0.3], "table": [0.0]}, 400)
    columns = {name: queries["query 0"] for name, queries in releases.items()}
    answer = compare_releases(columns, seed=3)
    plain = compare(columns, seed=3, pairs=[("part", "model"), ("table", "model")])

    assert [place.name for place in answer.comparison.ranking] == ["model", "part", "table"]
    for of in (lambda place: place.advantage.estimate, lambda place: (place.best_rank, place.worst_rank)):
        assert list(map(of, answer.comparison.ranking)) == list(map(of, plain.ranking))
    for end in ("lower", "upper"):
        assert getattr(answer.comparison.maximum, end) == getattr(plain.maximum, end)
    ours, theirs = ([each.estimate for each in of.differences] for of in (answer.comparison, plain))
    assert ours == theirs
    assert (answer.against, answer.decisions) == ("model", {})


@pytest.mark.slow
def test_of_several_queries_lower_ends_share_the_error_and_upper_ends_do_not() -> None:
    releases = drawn(np.random.default_rng(1), {"model": [0.1, 0.4, 0.35], "table": [0.0, 0.05]}, 400)
    answer = compare_releases(releases, max_advantage=0.25, confidence=0.9, seed=3)
    for place in answer.comparison.ranking:
        queries = releases[place.name]
        shared = {name: advantage(each, confidence=0.95, seed=3) for name, each in queries.items()}
        share = 1 - 0.05 / len(queries)
        lower = max(advantage(each, confidence=share, seed=3).lower for each in queries.values())
        assert place.advantage.upper == max(each.upper for each in shared.values())
        assert place.advantage.lower == pytest.approx(lower)
        assert place.advantage.value == pytest.approx(max(each.value for each in shared.values()))
        assert answer.riskiest[place.name] == max(shared, key=lambda name: shared[name].value)
    assert {name: each.value for name, each in answer.decisions.items()} == {"model": "fail", "table": "pass"}
    said = "for all 2 releases together, the advantage against 'model' over a coin toss is at least 0."
    assert said in answer.sentence
    assert answer.sentence.startswith("With 90% confidence")
    assert "(true rank 1), the largest by estimate; and the advantage against 'table' over" in answer.sentence


@pytest.mark.slow
def test_a_difference_holds_each_query_of_the_one_against_all_of_the_other() -> None:
    releases = drawn(np.random.default_rng(2), {"a": [0.5, 0.2], "b": [0.1, 0.25, 0.0]}, 300)
    [apart] = compare_releases(releases, against="b", seed=1).comparison.differences

    def ends(one: str, other: str, shares: int) -> tuple[float, float]:
        pair, confidence = (releases["a"][one], releases["b"][other]), 1 - 0.05 / shares
        estimate = paired_difference(*pair, confidence=confidence, seed=1).estimate
        return estimate.lower, estimate.upper

    least = max(min(ends(one, other, 2)[0] for other in releases["b"]) for one in releases["a"])
    most = min(max(ends(one, other, 3)[1] for one in releases["a"]) for other in releases["b"])
    assert (apart.estimate.lower, apart.estimate.upper) == (pytest.approx(least), pytest.approx(most))
    assert apart.decided
    assert 0.25 in apart.estimate.interval
    assert "row i of both is the same record" in apart.estimate.interval.guarantee.assumes


def test_rows_that_are_not_the_same_are_not_paired() -> None:
    rng = np.random.default_rng(3)
    one, other = (drawn(rng, {"x": [truth]}, n)["x"] for truth, n in ((0.5, 300), (0.0, 500)))
    releases = {"one": one, "other": other}
    answers = (compare_releases(releases, paired=each).comparison for each in (True, False))
    paired, apart = (each.differences[0] for each in answers)

    assert "any dependence" in paired.estimate.interval.guarantee.assumes
    assert "independent" in apart.estimate.interval.guarantee.assumes
    assert apart.estimate.interval.width < paired.estimate.interval.width


def test_who_has_several_releases_may_do_better_is_said_and_counts_are_releases_as_well() -> None:
    releases = drawn(np.random.default_rng(5), {"a": [0.1], "b": [0.1]}, 100)
    [caution] = compare_releases(releases).comparison.cautions
    below = compare_releases(releases, prior=0.1, max_advantage=0.5).comparison.cautions[0]
    counted = compare_releases({"a": Counts.of([10, 90], [90, 10]), "b": Counts.of([50, 50], [50, 50])}).comparison

    assert (caution.code, below.code) == ("joint_query_may_exceed", "limit_below_baseline")
    assert "all releases together" in caution.message
    assert [place.name for place in counted.ranking] == ["a", "b"]
    assert counted.differences[0].decided


def test_queries_of_a_table_are_scores_in_the_order_of_its_rows() -> None:
    train, holdout, released, reference = tables(4, 100)
    alone = synthetic_scores(encode(train, holdout, released, reference))
    queries = release_queries(train, holdout, released, reference)

    assert queries.keys() == alone.members.keys()
    for name, scores in queries.items():
        np.testing.assert_array_equal(scores.members, alone.members[name])
        np.testing.assert_array_equal(scores.nonmembers, alone.nonmembers[name])
    person = {"person": np.arange(100) // 4}
    few = release_queries(train | person, holdout | person, released, unit="person", seed=1)
    assert all((scores.n_members, scores.n_nonmembers) == (25, 25) for scores in few.values())
    with pytest.raises(errors.TooFewRecords):
        release_queries({"x": [1.0, 2.0]}, {"x": [1.0, 2.0]}, {"x": [1.0, 2.0]})


SCORES = Scores.of(np.arange(10.0), np.arange(10.0) + 0.5)


test_what_cannot_be_compared_is_refused = refusals(
    "releases, options, error",
    ({}, {}, errors.OptionError),
    ({"a": SCORES}, {}, errors.OptionError),
    ([SCORES, SCORES], {}, errors.OptionError),
    ({"a": SCORES, "b": {}}, {}, errors.OptionError),
    ({"a": SCORES, "b": [1.0]}, {}, errors.InputError),
    ({"a": SCORES, "b": Scores.of(np.ones((9, 2)), np.zeros((9, 2)))}, {}, errors.DimensionMismatch),
    ({"a": SCORES, "b": SCORES}, {"against": "c"}, errors.UnknownName),
    ({"a": SCORES, "b": SCORES}, {"max_advantage": 1.5}, errors.OutOfRange),
    ({"a": SCORES, "b": SCORES}, {"confidence": 1.0}, errors.OutOfRange),
    ({"a": SCORES, "b": SCORES}, {"prior": 0.0}, errors.OutOfRange),
    ask=lambda releases, options: compare_releases(releases, **options),
)


@pytest.mark.slow
@each_case(
    "truths",
    {"a": [0.3, 0.3], "b": [0.3]},  # equal, and any query may look riskiest
    {"a": [0.2], "b": [0.4, 0.4]},
)
def test_differences_and_advantages_are_where_they_are_said_to_be(truths) -> None:
    runs, apart, missed, outside = 5, max(truths["b"]) - max(truths["a"]), 0, 0
    for run in range(runs):
        releases = drawn(np.random.default_rng([6, run]), truths, 150)
        comparison = compare_releases(releases, seed=run).comparison
        missed += apart not in comparison.differences[0].estimate.interval
        ranking = comparison.ranking
        outside += any(max(truths[each.name]) not in each.advantage.estimate.interval for each in ranking)

    assert missed <= most_misses(runs, 0.05)
    assert outside <= most_misses(runs, 0.05)
