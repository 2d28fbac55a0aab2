"""Queries of language models: the authors' formulas text by text; padding; zeros; units; no leak where none is."""

import math
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.special import log_softmax, logsumexp

from estimators.audits.queries import TEXT, text
from estimators.errors import DimensionMismatch, InputError, NotFinite, OutOfRange, TooFewRecords, UnknownName
from tests.cases import each_case, refusals
from tests.estimators.audits.queries.nulls import RUNS, area, false_alarms

RNG = np.random.default_rng(0)
SIZES = RNG.integers(1, 60, 40)
VOCABULARY = 12


def answers(rng: np.random.Generator, sizes: np.ndarray) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """The log-probabilities of the vocabulary at each place of each text, and the tokens that stand there."""
    rows = [log_softmax(rng.normal(0, 2, (n, VOCABULARY)), axis=1) for n in sizes]
    return rows, [rng.integers(0, VOCABULARY, n) for n in sizes]


VOCABULARIES, TOKENS = answers(RNG, SIZES)
LOGS = [row[np.arange(len(t)), t] for row, t in zip(VOCABULARIES, TOKENS, strict=True)]
OTHERS = [row[np.arange(len(t)), t] for row, t in zip(*answers(RNG, SIZES), strict=True)]
MEANS = [(np.exp(row) * row).sum(axis=1) for row in VOCABULARIES]
DEVIATIONS = [np.sqrt((np.exp(row) * row**2).sum(axis=1) - mu**2) for row, mu in zip(VOCABULARIES, MEANS, strict=True)]
TEXTS = ["".join(chr(97 + t) for t in tokens) for tokens in TOKENS]


def padded(rows: list[np.ndarray], fill: float = float("nan")) -> np.ndarray:
    table = np.full((len(rows), max(len(row) for row in rows) + 2), fill)
    for at, row in enumerate(rows):
        table[at, : len(row)] = row
    return table


def smallest(row: np.ndarray, share: float) -> float:
    """Sorted, the first int(n * share) of them, averaged; one at least."""
    return float(np.mean(sorted(row)[: max(int(len(row) * share), 1)]))


# The authors' formulas


def test_the_loss_is_the_mean_of_each_text_and_min_k_of_all_tokens():
    np.testing.assert_allclose(text.text_loss(LOGS), [sum(row) / len(row) for row in LOGS])
    perplexity = [math.prod(math.exp(-v) for v in row) ** (1 / len(row)) for row in LOGS]
    np.testing.assert_allclose(np.exp(-text.text_loss(LOGS)), perplexity)

    np.testing.assert_allclose(text.mink(LOGS, share=1.0), text.text_loss(LOGS))
    tenths = np.arange(-100, 0) / 10
    assert text.mink([tenths], share=0.29) == pytest.approx([tenths[:29].mean()])  # although 0.29 * 100 < 29


def test_the_zlib_ratio_is_the_loss_over_the_bytes_of_the_text_compressed_in_utf_8() -> None:
    by_hand = [np.mean(row) / len(zlib.compress(t.encode())) for row, t in zip(LOGS, TEXTS, strict=True)]
    odd = ["grün", "grün".encode(), "", "\ud800"]

    np.testing.assert_allclose(text.zlib_ratio(LOGS, text.compressed_sizes(TEXTS)), by_hand)
    encoded = ("grün".encode(), "grün".encode(), b"", b"\xed\xa0\x80")
    assert text.compressed_sizes(odd).tolist() == [len(zlib.compress(each)) for each in encoded]


@each_case("share", (0.1, 0.2, 0.3, 0.5, 0.7, 1.0))
def test_min_k_is_the_mean_of_the_least_likely_tokens(share) -> None:
    np.testing.assert_allclose(text.mink(LOGS, share=share), [smallest(row, share) for row in LOGS])


@each_case("share", (0.1, 0.2, 1.0))
def test_min_k_plus_plus_standardises_by_the_vocabulary_first(share) -> None:
    by_hand = []
    for vocabulary, tokens in zip(VOCABULARIES, TOKENS, strict=True):
        scaled = []
        for row, token in zip(vocabulary, tokens, strict=True):
            mu = sum(math.exp(v) * v for v in row)
            sigma = math.sqrt(sum(math.exp(v) * (v - mu) ** 2 for v in row))
            scaled.append((row[token] - mu) / sigma)
        by_hand.append(smallest(np.array(scaled), share))

    np.testing.assert_allclose(text.minkpp(LOGS, MEANS, DEVIATIONS, share=share), by_hand)


def test_references_are_differences_and_ratios_of_losses_and_may_have_tokens_of_their_own():
    own, theirs = [-np.mean(row) for row in LOGS], [-np.mean(row) for row in OTHERS]

    np.testing.assert_allclose(text.reference_difference(LOGS, OTHERS), np.subtract(theirs, own))
    np.testing.assert_allclose(text.reference_ratio(LOGS, OTHERS), -np.divide(own, theirs))
    expected = [sum(a) - sum(b) for a, b in zip(LOGS, OTHERS, strict=True)]
    np.testing.assert_allclose(text.reference_difference(LOGS, OTHERS, total=True), expected)

    pieces = [np.repeat(row / 2, 2) for row in OTHERS]  # the same texts, in twice as many tokens
    more = [len(row) for row in pieces]
    total = text.reference_difference(LOGS, OTHERS, total=True)

    np.testing.assert_allclose(text.reference_difference(LOGS, pieces, total=True), total)
    options = {"lengths": SIZES, "reference_lengths": more, "total": True}
    np.testing.assert_allclose(text.reference_difference(padded(LOGS), padded(pieces), **options), total)


# One question, asked in different words

QUERIES: list[tuple[Any, ...]] = [
    (text.text_loss, LOGS), (text.mink, LOGS), (text.minkpp, LOGS, MEANS, DEVIATIONS),
    (text.reference_difference, LOGS, OTHERS), (text.reference_ratio, LOGS, OTHERS),
]  # fmt: skip


@each_case("query", QUERIES)
def test_padded_arrays_lists_and_single_precision_are_read_and_a_texts_score_is_its_own(query) -> None:
    ask, *rows = query
    expected = ask(*rows)
    single = [[row.astype(np.float32) for row in each] for each in rows]
    alone = np.concatenate([ask(*([each[i]] for each in rows)) for i in range(len(SIZES))])

    for fill in (float("nan"), 0.0, 7.0):  # padding is not read
        np.testing.assert_array_equal(ask(*(padded(each, fill) for each in rows), lengths=SIZES), expected)
    np.testing.assert_array_equal(ask(*([row.tolist() for row in each] for each in rows)), expected)
    np.testing.assert_allclose(ask(*single), expected, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(expected, alone, rtol=1e-12)


# Probabilities of 0 and 1


def test_a_probability_of_0_counts_as_1e_30_and_a_certain_model_is_no_division_by_zero() -> None:
    least, ratios = math.log(1e-30), text.reference_ratio([[0.0], [0.0], [-1.0]], [[0.0], [-1.0], [0.0]])

    assert text.text_loss([[-np.inf, 0.0]]) == pytest.approx([least / 2])
    assert text.mink([[-1000.0, -1.0]], share=0.5) == pytest.approx([least])
    assert text.reference_difference([[-np.inf]], [[-1e9]]).tolist() == [0.0]
    assert text.minkpp([[0.0, -2.0]], [[0.0, -2.0]], [[0.0, 0.0]], share=1.0).tolist() == [0.0]
    assert text.minkpp([[-2.0]], [[0.0]], [[0.0]]) == pytest.approx([-2e6])
    assert ratios == pytest.approx([-1, -1e-12, -1e12])


# Units


@each_case("labels", [[*"baccab"], [1, 0, 2, 2, 0, 1], np.array([*"baccab"], dtype=object)])
def test_units_have_one_score_each(labels) -> None:
    scores = np.array([1.0, 2.0, 5.0, -1.0, 4.0, 0.5])
    of_unit = {0: [2.0, 4.0], 1: [1.0, 0.5], 2: [5.0, -1.0]}

    for how, summary in (("mean", np.mean), ("max", np.max), ("logsumexp", logsumexp)):
        names, result = text.aggregate(scores, labels, how)
        assert names.tolist() == sorted(set(np.asarray(labels).tolist()))
        np.testing.assert_allclose(result, [summary(of_unit[each]) for each in range(3)])


def test_the_top_share_is_the_mean_of_the_highest_scores_and_large_ones_overflow_no_sum() -> None:
    scores, units = RNG.normal(size=300), RNG.integers(0, 7, 300)

    for share in (0.01, 0.2, 0.5, 1.0):
        names, result = text.aggregate(scores, units, "top_share", share=share)
        np.testing.assert_allclose(result, [-smallest(-scores[units == each], share) for each in names])
    _, result = text.aggregate([1e5, 1e5, -1e5], ["a", "a", "b"], "logsumexp")
    assert result == pytest.approx([1e5 + math.log(2), -1e5])


# Direction


def trained(rng: np.random.Generator, records: int, effect: float) -> tuple[list[np.ndarray], ...]:
    """Texts of 30 tokens that differ in how easy they are; tokens of the first half gain ``effect``."""
    ease = rng.normal(0, 1, records)
    result: tuple[list[np.ndarray], ...] = ([], [], [], [])
    for at in range(records):
        logits = rng.normal(0, 2, (30, VOCABULARY))
        logits[:, 0] += ease[at]
        reference = logits + rng.normal(0, 0.3, logits.shape)
        logits[:, 0] += effect * (at < records // 2)
        vocabulary = log_softmax(logits, axis=1)
        mu = (np.exp(vocabulary) * vocabulary).sum(axis=1)
        result[0].append(vocabulary[:, 0])
        result[1].append(log_softmax(reference, axis=1)[:, 0])
        result[2].append(mu)
        result[3].append(np.sqrt((np.exp(vocabulary) * vocabulary**2).sum(axis=1) - mu**2))
    return result


ASKED: dict[str, Callable[..., np.ndarray]] = {
    "text_loss": lambda own, other, mu, sigma: text.text_loss(own),
    "zlib_ratio": lambda own, other, mu, sigma: text.zlib_ratio(own, np.full(len(own), 25)),
    "mink": lambda own, other, mu, sigma: text.mink(own),
    "minkpp": lambda own, other, mu, sigma: text.minkpp(own, mu, sigma),
    "byte_loss": lambda own, other, mu, sigma: text.byte_loss([sum(each) for each in own], ["x" * 25] * len(own)),
    "reference_difference": lambda own, other, mu, sigma: text.reference_difference(own, other),
    "reference_ratio": lambda own, other, mu, sigma: text.reference_ratio(own, other),
}
HOW = ("mean", "max", "logsumexp", "top_share")


@each_case("name", TEXT)
def test_texts_that_a_model_was_trained_on_score_higher(name) -> None:
    assert area(ASKED[name](*trained(np.random.default_rng(1), 200, 1.5)), np.arange(200) < 100) > 0.7
    assert set(ASKED) == set(TEXT)


@pytest.mark.slow
@each_case("how", HOW)
def test_units_of_records_that_score_higher_score_higher_and_those_no_model_saw_show_no_leak(how):
    rng = np.random.default_rng(2)
    units = np.repeat(np.arange(200), 5)
    _, scores = text.aggregate(rng.normal(size=1000) + (units < 100), units, how)

    assert area(scores, np.arange(200) < 100) > 0.8

    def scored(rng: np.random.Generator, records: int) -> np.ndarray:
        units = np.repeat(np.arange(records), rng.integers(1, 6, records))
        return text.aggregate(rng.normal(size=len(units)) + rng.normal(size=records)[units], units, how)[1]

    assert false_alarms(scored) <= 0.05 * RUNS


# No leak


# What is wrong is named, with what to do

NAN = float("nan")


test_what_cannot_be_scored_is_named = refusals("ask, error, field, index, words", [
    (lambda: text.text_loss([[-1.0], []]), TooFewRecords, "log_probabilities", 1, "record 1 has no tokens"),
    (lambda: text.text_loss([[-1.0, 0.0]] * 2, lengths=[1, 0]), TooFewRecords, "log_probabilities", 1,
     "leave such"),
    (lambda: text.text_loss([]), TooFewRecords, "log_probabilities", None, "got none"),
    (lambda: text.text_loss([[-1.0], [NAN, -1.0]]), NotFinite, "log_probabilities", 1,
     "token 0 of record 1 is NaN; the first token of a text has no probability"),
    (lambda: text.text_loss([[-1.0], [-1.0, -1.0, NAN]]), NotFinite, "log_probabilities", 1, "token 2 of record 1"),
    (lambda: text.text_loss([[-1.0], [0.5]]), OutOfRange, "log_probabilities", 1, "not losses"),
    (lambda: text.text_loss([[-1.0], ["a"]]), InputError, "log_probabilities", 1, "record 1 is no row of numbers"),
    (lambda: text.text_loss([-1.0, -2.0]), InputError, "log_probabilities", 0, "record 0 is no row of numbers"),
    (lambda: text.text_loss("abc"), InputError, "log_probabilities", None, "got str"),
    (lambda: text.text_loss(-1.0), InputError, "log_probabilities", None, "got float"),
    (lambda: text.text_loss([[-1.0, -2.0]], lengths=[3]), OutOfRange, "lengths", 0, "from 1 to 2"),
    (lambda: text.text_loss([[-1.0, -2.0]], lengths=[1.5]), OutOfRange, "lengths", 0, "whole number"),
    (lambda: text.text_loss([[-1.0, -2.0]], lengths=[1, 1]), DimensionMismatch, "lengths", None, "got 2"),
    (lambda: text.text_loss([-1.0, -2.0], lengths=[1, 1]), DimensionMismatch, "log_probabilities", None,
     "no lengths"),
    (lambda: text.mink([[-1.0]], share=0.0), OutOfRange, "share", None, "above 0 and at most 1"),
    (lambda: text.zlib_ratio([[-1.0]], [0]), OutOfRange, "sizes", 0, "record 0 has none"),
    (lambda: text.zlib_ratio([[-1.0]], [1, 2]), DimensionMismatch, "sizes", None, "got 2"),
    (lambda: text.compressed_sizes("abc"), InputError, "texts", None, "single text"),
    (lambda: text.compressed_sizes(["abc", None]), InputError, "texts", 1, "record 1 is NoneType"),
    (lambda: text.minkpp([[-1.0], [-1.0, -2.0]], [[-1.0], [-1.0]], [[1.0], [1.0, 1.0]]), DimensionMismatch, "means",
     1, "record 1 has 1 numbers, need 2"),
    (lambda: text.minkpp([[-1.0]], [[-1.0]], [[1.0], [1.0]]), DimensionMismatch, "deviations", None, "got 2"),
    (lambda: text.minkpp([[-1.0]], [[-1.0]], [[NAN]]), NotFinite, "deviations", 0, "record 0 is NaN"),
    (lambda: text.minkpp([[-1.0]], [[-1.0]], [[-1.0]]), OutOfRange, "deviations", 0, "square root"),
    (lambda: text.minkpp([[-1.0]], [[1.0]], [[1.0]]), OutOfRange, "means", 0, "minus the entropy"),
    (lambda: text.reference_difference([[-1.0]], [[-1.0], [-1.0]]), DimensionMismatch, "reference", None, "got 2"),
    (lambda: text.reference_ratio([[-1.0]], [[1.0]]), OutOfRange, "reference", 0, "record 0 is above 0"),
    (lambda: text.aggregate([1.0, 2.0], ["a"]), DimensionMismatch, "units", None, "got 1"),
    (lambda: text.aggregate([1.0, NAN], ["a", "b"]), NotFinite, "scores", 1, "record 1 is NaN"),
    (lambda: text.aggregate([1.0, 2.0], [1.0, NAN]), NotFinite, "units", 1, "record 1 has no label"),
    (lambda: text.aggregate([1.0], ["a"], "median"), UnknownName, "how", None, "logsumexp"),
])  # fmt: skip


# A whole text's log-likelihood


def test_the_log_likelihood_over_the_bytes_is_minus_the_bits_per_byte():
    totals = [float(row.sum()) for row in LOGS]
    texts = [f"{text}ü" for text in TEXTS]

    bits = [-total / math.log(2) / len(each.encode()) for total, each in zip(totals, texts, strict=True)]

    np.testing.assert_allclose(text.byte_loss(totals, texts), [-each * math.log(2) for each in bits])
    np.testing.assert_array_equal(
        text.byte_loss(totals, [each.encode() for each in texts]), text.byte_loss(totals, texts)
    )


test_what_has_no_log_likelihood_or_no_text_is_named = refusals("ask, error, field, index, words", [
    (
        lambda: text.byte_loss([-1.0], ["a", "b"]), DimensionMismatch, "totals", None,
        "got 1, need one for each of 2",
    ),
    (lambda: text.byte_loss([-1.0, 0.5], ["a", "b"]), OutOfRange, "totals", 1, "record 1 is above 0"),
    (lambda: text.byte_loss([-1.0, NAN], ["a", "b"]), NotFinite, "totals", 1, "record 1 is NaN"),
    (lambda: text.byte_loss([-1.0], [""]), TooFewRecords, "texts", 0, "record 0 has no tokens"),
    (lambda: text.byte_loss([-1.0], "a"), InputError, "texts", None, "got a single text"),
])  # fmt: skip
