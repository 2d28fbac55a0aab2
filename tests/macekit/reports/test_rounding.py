"""One rounding rule: what is said of an end holds of it, and a number reads alike wherever it stands on a page."""

import re
from collections import defaultdict
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from estimators import Counts, advantage, verdict
from estimators.decisions.verdict import Decision
from estimators.statement import percent_at_least, percent_at_most, roughly
from macekit.call import MARKDOWN
from macekit.reports.text import text
from tests.cases import each_case
from tests.macekit.reports.asked import CASES, case, rendered
from tests.macekit.reports.test_html import document

DIGIT = Fraction(1, 1000)
NOISE = Fraction(1, 10**12)
"""Of a float that is not quite the number it is written as."""

NUMBER = r"(-?[\d,]+(?:\.\d+)?)"
LEAST = re.compile(rf"the advantage\b[^:;]* is at least {NUMBER}(?: \({NUMBER}%[^)]*\))?, whoever reads")
MOST = re.compile(rf"\bat most {NUMBER}(?: \({NUMBER}%[^)]*\))? for attackers who")
DECIDED = {
    Decision.PASS: re.compile(f"is at most {NUMBER}, not above (.+)$"),
    Decision.FAIL: re.compile(f"is at least {NUMBER}, above (.+)$"),
    Decision.INCONCLUSIVE: re.compile(f"may be anything from {NUMBER} to {NUMBER}, your limit is ([^;]+);"),
}


def is_lower_end(said: str, end: float, digit: Fraction = DIGIT) -> bool:
    """Whether what is said is at most the number, and no further from it than a digit."""
    return -NOISE <= Fraction(end) - Fraction(said.replace(",", "")) < digit + NOISE


def is_upper_end(said: str, end: float, digit: Fraction = DIGIT) -> bool:
    return -NOISE <= Fraction(said.replace(",", "")) - Fraction(end) < digit + NOISE


def drawn(seed: int) -> tuple[Counts, float]:
    """Counts of some records in a few cells, and a prior."""
    rng = np.random.default_rng(seed)
    cells = int(rng.integers(2, 9))
    sides = (rng.multinomial(rng.integers(20, 5000), rng.dirichlet(np.ones(cells))) for _ in range(2))
    return Counts.of(*sides, edges=np.arange(cells - 1.0)), float(rng.choice([0.5, 0.1, 0.37, 0.999]))


@pytest.mark.slow
@each_case("seed", range(25))
def test_what_a_sentence_says_of_an_end_holds_of_the_number(seed: int) -> None:
    counts, prior = drawn(seed)
    result = advantage(counts, prior, shuffles=1)
    near = [end + step for end in (result.lower, result.upper) for step in (-1e-5, -1e-9, 0.0, 1e-9, 1e-5)]

    least, most = LEAST.search(result.sentence), MOST.search(result.sentence)
    verdicts = [verdict(result, limit) for limit in (*near, 0.1, 0.1234567, 1.0) if -1.0 <= limit <= 1.0]

    assert (least is None) == (result.lower - result.baseline < 1e-12)  # an end that says nothing is not said
    assert (most is None) == (result.upper == 1.0)
    assert least is None or is_lower_end(least[1], result.lower)
    assert most is None or is_upper_end(most[1], result.upper)
    for each in verdicts:
        words = DECIDED[each.decision].search(each.reason)
        assert words is not None
        *ends, limit = words.groups()
        assert float(limit) == each.threshold
        if each.decision is not Decision.PASS:
            assert is_lower_end(ends[0], result.lower)
        if each.decision is not Decision.FAIL:
            assert is_upper_end(ends[-1], result.upper)
        if each.decision is Decision.PASS:
            assert float(ends[0]) <= each.threshold
        if each.decision is Decision.FAIL:
            assert float(ends[0]) > each.threshold


def test_a_percentage_of_a_limit_holds_of_it_in_three_figures() -> None:
    shares = np.random.default_rng(0).uniform(size=300) ** np.repeat([1, 6, 40], 100)

    for share in (*map(float, shares), *map(float, 1.0 - shares[:200] / 100)):
        low, high = (write(share).removesuffix("%") for write in (percent_at_least, percent_at_most))
        figure = Fraction(1, 10 ** len(low.partition(".")[2]))
        assert is_lower_end(low, 100 * share, figure)
        assert is_upper_end(high, 100 * share, figure)
        assert Fraction(high) - Fraction(low) <= figure
        assert figure <= max(Fraction(100 * min(share, 1 - share)) / 100 + NOISE, NOISE) * 10


@each_case("records, said", [(8, "8"), (664, "664"), (6420, "6,420"), (11_254, "11,300"), (95_124_852, "95,200,000")])
def test_records_to_collect_are_told_in_three_figures_rounded_up(records: int, said: str) -> None:
    assert roughly(records) == said


@pytest.mark.slow
@each_case("name", CASES)
def test_a_number_reads_alike_wherever_it_stands_on_a_page(name: str) -> None:
    shown: dict[tuple[str, str], set[str]] = defaultdict(set)
    for number in document(name).all("data"):
        path, kind = number.given["data-path"], number.given.get("data-kind")
        if kind != "guesses":
            shown[path or "", kind or ""].add(number.text)

    assert shown
    assert {place: texts for place, texts in shown.items() if len(texts) > 1} == {}


@pytest.mark.slow
@each_case("name", [name for name, (operation, _) in CASES.items() if operation in {"advantage", "report"}])
def test_a_sentence_and_the_tables_print_the_same_ends(name: str) -> None:
    operation, answer = case(name)
    result: dict[str, Any] = answer.get("result", answer)
    ends, sentence = result["advantage"], result["sentence"]
    least, most = LEAST.search(sentence), MOST.search(sentence)
    assert (least is None) == (ends["lower"] - result["baseline"] < 1e-12)
    assert (most is None) == (ends["upper"] == 1.0)

    for page in (rendered(name, MARKDOWN).decode(), text(operation, answer)):
        row = next(line for line in page.splitlines() if line.lstrip("| ").startswith("Optimal advantage"))
        lower, upper = re.findall(r"-?\d\.\d+", row)[1:3]
        assert least is None or least[1] == lower
        assert most is None or most[1] == upper
