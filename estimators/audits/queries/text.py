"""What a language model says of a text, token by token, as one score a record: higher is more like a member.

A record is a text, or a piece of one. What is asked for is the natural logarithm of the probability that the model
gave to each token after those before it: a list of arrays, one a record, as long as the record has such tokens; or one
padded array, a row a record, with ``lengths``. The first token usually has none: leave it out. Costs one pass of the
model over each text; what is done here afterwards costs next to nothing.

**Probabilities of 0** (a logarithm of minus infinity, or below -69.1) count as 1e-30. **Empty records** are refused: a
text without a token that has a probability cannot be scored; leave it out of its side.

Short texts say little, and lengths that differ between the sides are found as a leak: cut both sides alike.
"""

import zlib
from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from estimators import errors
from estimators.arrays import Floats
from estimators.audits.queries import query
from estimators.python.dataclass import dataclass

Tokens = ArrayLike | Sequence[ArrayLike]
How = Literal["mean", "max", "logsumexp", "top_share"]

LEAST = float(np.log(1e-30))  # smallest log-probability that is told from that of 0
STEADY = 1e-6  # smallest deviation of the vocabulary's log-probabilities that is told from 0

TOKENS = ("log_probabilities",)
WITH_REFERENCE = ("log_probabilities", "reference")

CATALOGUE: dict[str, query.Query] = query.by_name(
    (
        query.Query(
            "text_loss",
            "Yeom et al. 2018; Carlini et al. 2021",
            "the text is probable: mean log p of its tokens, minus the log of the perplexity",
            "one pass over the tokens",
            "the same text",
            TOKENS,
        ),
        query.Query(
            "zlib_ratio",
            "Carlini et al. 2021",
            "it is more probable than its repetitions explain: the same over the bytes of the compressed text",
            "a pass, and zlib (`compressed_sizes`)",
            "the same text",
            ("log_probabilities", "sizes"),
        ),
        query.Query(
            "mink",
            "Shi et al. 2024",
            "nothing in it surprises the model: mean log p of the least likely 20% of tokens",
            "a sort of the tokens",
            "the same least likely tokens: of short texts, one token",
            TOKENS,
        ),
        query.Query(
            "minkpp",
            "Zhang et al. 2025",
            "the same of (log p - mu) / sigma over the vocabulary",
            "a sort, and the whole vocabulary summed up at each token while the model answers",
            "as `mink`",
            ("log_probabilities", "means", "deviations"),
        ),
        query.Query(
            "byte_loss",
            "Yeom et al. 2018; Gao et al. 2021 (bits per byte)",
            "the text is probable: its whole log p over its bytes, where that of each token is not known",
            "a pass over the texts",
            "the same text",
            ("totals", "texts"),
        ),
        query.Query(
            "reference_difference",
            "Mireshghallah et al. 2022; Duan et al. 2024",
            "it is more probable than for a model that saw neither side: the loss of that one less the audited one's",
            "a pass, and one of the reference model",
            "losses tie in both",
            WITH_REFERENCE,
        ),
        query.Query(
            "reference_ratio",
            "Carlini et al. 2021",
            "the same as a ratio: minus the loss over the reference's",
            "as `reference_difference`",
            "as `reference_difference`",
            WITH_REFERENCE,
        ),
    )
)
"""Every query of a language model by name, which is that of its function."""


@dataclass(frozen=True, slots=True)
class Ragged:
    """Numbers of records of differing length, one after another."""

    values: Floats
    starts: query.Integers
    lengths: query.Integers

    def means(self) -> Floats:
        """The mean of each record."""
        return np.asarray(np.add.reduceat(self.values, self.starts) / self.lengths, dtype=np.float64)

    def means_of_smallest(self, share: float) -> Floats:
        """The mean of the smallest ones of each record, at least one."""
        share = errors.require_up_to_one("share", share)
        record = np.repeat(np.arange(len(self.lengths)), self.lengths)
        ordered = self.values[np.lexsort((self.values, record))]
        count = np.maximum(np.floor(self.lengths * share + 1e-9).astype(np.intp), 1)
        place = np.arange(len(ordered)) - self.starts[record]
        sums = np.bincount(record, np.where(place < count[record], ordered, 0.0))
        return np.asarray(sums / count, dtype=np.float64)


def text_loss(log_probabilities: Tokens, lengths: ArrayLike | None = None) -> Floats:
    """Minus the loss: the mean log-probability of a record's tokens (Yeom et al. 2018; Carlini et al. 2021).

    Minus the logarithm of the perplexity, so perplexity orders records the same way. Records tie where
    texts are the same. High for texts that any model finds easy; the other queries are ways to allow for that.

    Args:
        log_probabilities: Natural logarithms of the tokens' probabilities: an array a record, or one padded array.
        lengths: How many tokens each row of a padded array has; the rest of a row is not looked at.

    Raises:
        InputError: a record has no tokens, a number is NaN or above 0; the error names the record.
    """
    return _tokens(log_probabilities, lengths, "log_probabilities").means()


def zlib_ratio(log_probabilities: Tokens, sizes: ArrayLike, lengths: ArrayLike | None = None) -> Floats:
    """The loss in units of how far zlib compresses the text (Carlini et al. 2021).

    The mean log-probability over the bytes of the compressed text: what is easy because it repeats itself counts less.
    Records tie as for ``text_loss``.

    Args:
        log_probabilities, lengths: As for ``text_loss``.
        sizes: Bytes of each record's text when compressed: ``compressed_sizes(texts)``.
    """
    tokens, bytes_each = (_tokens(log_probabilities, lengths, "log_probabilities"), query.numbers(sizes, "sizes"))
    query.require_length(bytes_each, "sizes", len(tokens.lengths), "records")
    need = "has none, need the bytes of its compressed text, above 0"
    query.refuse_first(bytes_each <= 0, errors.OutOfRange, "sizes", need)
    return tokens.means() / bytes_each


def compressed_sizes(texts: Sequence[str | bytes]) -> query.Integers:
    """Bytes of each text, in UTF-8, when zlib compresses it at its default level.

    Builds of zlib may differ by a few bytes: compress both sides on one machine.

    Args:
        texts: A text a record.
    """
    return np.array([len(zlib.compress(each)) for each in _encoded(texts)], dtype=np.intp)


def mink(log_probabilities: Tokens, lengths: ArrayLike | None = None, *, share: float = 0.2) -> Floats:
    """Min-K%: the mean log-probability of the least likely tokens (Shi et al. 2024).

    A text that was trained on has few tokens that surprise the model. The share is rounded down to whole tokens, as by
    the authors, but to one at least. Records tie where their least likely tokens do: of short ones that is one token.

    Args:
        log_probabilities, lengths: As for ``text_loss``.
        share: Which share of a record's tokens, above 0 and at most 1; 1 is ``text_loss``.
    """
    return _tokens(log_probabilities, lengths, "log_probabilities").means_of_smallest(share)


def minkpp(
    log_probabilities: Tokens,
    means: Tokens,
    deviations: Tokens,
    lengths: ArrayLike | None = None,
    *,
    share: float = 0.2,
) -> Floats:
    """Min-K%++: the same of log-probabilities in units of what the vocabulary has at that place (Zhang et al. 2025).

    Each token's is (log p - mu) / sigma, mu and sigma being mean and deviation of log p over the whole vocabulary under
    the model itself: mu = sum p log p, sigma^2 = sum p (log p)^2 - mu^2. Where sigma is below 1e-6 (one token is all
    but certain, or all are alike) it counts as that. Needs the model's whole answer at each place, to be summed up
    while it is there. Ties as for ``mink``.

    Args:
        log_probabilities, lengths: As for ``text_loss``.
        means: mu of each token, in the same shape.
        deviations: sigma of each token, in the same shape, at least 0.
        share: As for ``mink``.
    """
    tokens = _tokens(log_probabilities, lengths, "log_probabilities")
    mu = _beside(means, lengths, "means", tokens)
    sigma = _beside(deviations, lengths, "deviations", tokens)
    if (sigma.values < 0).any():
        index = _record(tokens, int(np.argmax(sigma.values < 0)))
        raise errors.OutOfRange.about(
            "deviations",
            f"a token of record {index} is below 0; take the square root of the variance, and of 0 where "
            "rounding made that negative",
            index,
        )
    if (mu.values > 1e-6).any():
        index = _record(tokens, int(np.argmax(mu.values > 1e-6)))
        raise errors.OutOfRange.about(
            "means", f"a token of record {index} is above 0; the mean of log p is minus the entropy", index
        )
    scaled = (tokens.values - mu.values) / np.maximum(sigma.values, STEADY)
    return Ragged(scaled, tokens.starts, tokens.lengths).means_of_smallest(share)


def byte_loss(totals: ArrayLike, texts: Sequence[str | bytes]) -> Floats:
    """Minus the loss in units of the text's bytes in UTF-8 (Yeom et al. 2018; bits per byte, Gao et al. 2021).

    For evaluations that state the log-likelihood of a whole text and not how many tokens it has. Minus the bits per
    byte times log 2. Records tie where texts are the same.

    Args:
        totals: The natural logarithm of each text's probability.
        texts: The text of each.

    Raises:
        InputError: a text is empty, a number is NaN or above 0; the error names the record.
    """
    sizes = np.array([len(each) for each in _encoded(texts)], dtype=np.intp)
    _require_tokens(sizes, "texts")
    logs = query.numbers(totals, "totals")
    query.require_length(logs, "totals", len(sizes), "texts")
    need = "is above 0, need the natural logarithm of its probability"
    query.refuse_first(logs > 1e-6, errors.OutOfRange, "totals", need)
    return np.asarray(np.minimum(logs, 0.0) / sizes, dtype=np.float64)


def reference_difference(
    log_probabilities: Tokens,
    reference: Tokens,
    lengths: ArrayLike | None = None,
    reference_lengths: ArrayLike | None = None,
    *,
    total: bool = False,
) -> Floats:
    """The loss of another model less that of the audited one (Mireshghallah et al. 2022; Duan et al. 2024).

    The logarithm of the ratio of perplexities: what is easy for both says nothing. The reference must have seen neither
    side; the nearer it is to the audited model but for its training records, the better. Costs one pass of it more.
    Records tie only where both models' losses do.

    Args:
        log_probabilities, lengths: As for ``text_loss``.
        reference: The same of the reference model; a record may have another number of tokens in it.
        reference_lengths: As ``lengths``, of the reference; the same lengths without it.
        total: True to compare whole texts in place of means over tokens: right if tokenizers differ.
    """
    own, theirs = _pair(log_probabilities, reference, lengths, reference_lengths)
    if total:
        return own.means() * own.lengths - theirs.means() * theirs.lengths
    return own.means() - theirs.means()


def reference_ratio(
    log_probabilities: Tokens,
    reference: Tokens,
    lengths: ArrayLike | None = None,
    reference_lengths: ArrayLike | None = None,
) -> Floats:
    """Minus the loss in units of the loss of another model (Carlini et al. 2021).

    The ratio of log-perplexities. A loss below 1e-12 counts as that, so where both models are certain of every token
    the ratio is 1. Cost and ties are those of ``reference_difference``.
    """
    own, theirs = _pair(log_probabilities, reference, lengths, reference_lengths)
    return np.asarray(0.0 - np.maximum(-own.means(), 1e-12) / np.maximum(-theirs.means(), 1e-12), dtype=np.float64)


def aggregate(
    scores: ArrayLike, units: ArrayLike, how: How = "mean", *, share: float = 0.2
) -> tuple[NDArray[np.generic], Floats]:
    """One score for each document or person, of the scores of its records (as PrivacyGuard and Kandpal et al. 2024 do).

    Rows of one person are not independent; one score each is. ``"max"`` and ``"logsumexp"`` rise with the number of
    records, and ``"mean"`` varies less: where units of the two sides differ in how many records they have, that is
    taken for a leak, so take equal numbers. Units tie as their records do.

    Args:
        scores: A score a record, higher for members, from any query.
        units: Which document or person each record is of: a label for each, text or numbers.
        how: ``"mean"``; ``"max"``: the one record that gives most away; ``"logsumexp"``: the logarithm of the sum of
            exponentials, between the two for log-likelihood ratios; ``"top_share"``: the mean of the highest ones.
        share: Which share of a unit's records ``"top_share"`` takes, above 0 and at most 1; one record at least.

    Returns:
        the labels of the units, sorted, and a score for each.
    """
    values, labels = query.numbers(scores, "scores"), query.labels_of(units, "units")
    query.require_length(labels, "units", len(values), "scores")
    names, unit = np.unique(labels, return_inverse=True)
    order = np.argsort(unit, kind="stable")
    lengths = np.bincount(unit)
    rows = Ragged(values[order], _starts(lengths), lengths)
    if how == "mean":
        return names, rows.means()
    top = np.asarray(np.maximum.reduceat(rows.values, rows.starts), dtype=np.float64)
    if how == "max":
        return names, top
    if how == "logsumexp":
        apart = np.exp(rows.values - np.repeat(top, lengths))
        return names, np.asarray(top + np.log(np.add.reduceat(apart, rows.starts)), dtype=np.float64)
    if how == "top_share":
        return names, 0.0 - Ragged(-rows.values, rows.starts, lengths).means_of_smallest(share)
    raise errors.UnknownName.among("how", how, ("mean", "max", "logsumexp", "top_share"))


def _tokens(values: Tokens, lengths: ArrayLike | None, name: str) -> Ragged:
    """Log-probabilities: none above 0, none missing, zeros of probability as far as they count."""
    tokens = _ragged(values, lengths, name)
    wrong = np.isnan(tokens.values) | (tokens.values > 1e-6)
    if wrong.any():
        at = int(np.argmax(wrong))
        index = _record(tokens, at)
        if np.isnan(tokens.values[at]):
            raise errors.NotFinite.about(
                name,
                f"token {at - int(tokens.starts[index])} of record {index} is NaN; the first token of a text "
                "has no probability: leave it out; elsewhere look at what the model was given",
                index,
            )
        raise errors.OutOfRange.about(
            name,
            f"a token of record {index} is above 0, need natural logarithms of probabilities (not losses, and "
            "not probabilities)",
            index,
        )
    return Ragged(np.clip(tokens.values, LEAST, 0.0), tokens.starts, tokens.lengths)


def _beside(values: Tokens, lengths: ArrayLike | None, name: str, tokens: Ragged) -> Ragged:
    """Finite numbers, one for each of the tokens."""
    others = _ragged(values, lengths, name)
    query.require_length(others.lengths, name, len(tokens.lengths), "records")
    if (others.lengths != tokens.lengths).any():
        index = int(np.argmax(others.lengths != tokens.lengths))
        raise errors.DimensionMismatch.about(
            name,
            f"record {index} has {int(others.lengths[index])} numbers, need {int(tokens.lengths[index])}, "
            "one for each token",
            index,
        )
    bad = ~np.isfinite(others.values)
    if bad.any():
        index = _record(others, int(np.argmax(bad)))
        raise errors.NotFinite.about(
            name,
            f"a token of record {index} is NaN or infinite; a probability of 0 adds 0 to the sum of p log p",
            index,
        )
    return others


def _pair(
    values: Tokens, reference: Tokens, lengths: ArrayLike | None, reference_lengths: ArrayLike | None
) -> tuple[Ragged, Ragged]:
    """The audited model's tokens and the reference's, of the same records."""
    own = _tokens(values, lengths, "log_probabilities")
    theirs = _tokens(reference, lengths if reference_lengths is None else reference_lengths, "reference")
    query.require_length(theirs.lengths, "reference", len(own.lengths), "records")
    return own, theirs


def _ragged(values: Tokens, lengths: ArrayLike | None, name: str) -> Ragged:
    """Rows of differing length, none of them empty, as one row."""
    if lengths is not None:
        return _padded(values, lengths, name)
    if isinstance(values, str | bytes) or not hasattr(values, "__len__") or not hasattr(values, "__iter__"):
        raise errors.InputError.about(name, f"got {type(values).__name__}, need an array for each record")
    rows = [query.plain_array(row, name) for row in values]
    if not rows:
        raise errors.TooFewRecords.about(name, "got none, need at least one record")
    for index, row in enumerate(rows):
        if row.ndim != 1 or (row.size and row.dtype.kind not in "iuf"):
            raise errors.InputError.about(
                name, f"record {index} is no row of numbers; need one for each of its tokens", index
            )
    sizes = np.array([len(row) for row in rows], dtype=np.intp)
    _require_tokens(sizes, name)
    return Ragged(np.concatenate(rows, dtype=np.float64), _starts(sizes), sizes)


def _padded(values: Tokens, lengths: ArrayLike, name: str) -> Ragged:
    """The first numbers of each row."""
    table, sizes = query.plain_array(values, name), query.numbers(lengths, "lengths")
    if table.ndim != 2 or table.dtype.kind not in "iuf":
        raise errors.DimensionMismatch.about(
            name, "with lengths need one padded array of numbers, a row a record; a list of arrays needs no lengths"
        )
    query.require_length(sizes, "lengths", len(table), "rows")
    wrong = (sizes < 0) | (sizes > table.shape[1]) | (sizes != np.floor(sizes))
    need = f"needs a whole number from 1 to {table.shape[1]}, the width of the padded array"
    query.refuse_first(wrong, errors.OutOfRange, "lengths", need)
    whole = sizes.astype(np.intp)
    _require_tokens(whole, name)
    inside = np.arange(table.shape[1]) < whole[:, None]
    return Ragged(table[inside].astype(np.float64), _starts(whole), whole)


def _require_tokens(sizes: query.Integers, name: str) -> None:
    says = "has no tokens, so the model says nothing of it; leave such records out"
    query.refuse_first(sizes == 0, errors.TooFewRecords, name, says)


def _starts(lengths: query.Integers) -> query.Integers:
    return np.concatenate([[0], np.cumsum(lengths)[:-1]]).astype(np.intp)


def _record(tokens: Ragged, place: int) -> int:
    """The record that a number is of."""
    return int(np.searchsorted(tokens.starts, place, side="right")) - 1


def _encoded(texts: Sequence[str | bytes]) -> list[bytes]:
    if isinstance(texts, str | bytes):
        raise errors.InputError.about("texts", "got a single text, need one for each record")
    for index, text in enumerate(texts):
        if not isinstance(text, str | bytes):
            raise errors.InputError.about("texts", f"record {index} is {type(text).__name__}, need text", index)
    return [text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass") for text in texts]
