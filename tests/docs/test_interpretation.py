"""docs/interpretation.md keeps its word: every number is computed again, every path of an answer exists."""

import csv
import json
import math
import re
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from app.cli.demo import SIDE, example_table
from estimators import Counts, Scores, by_group, exposure
from estimators.privacy.exposure import SEVERE, SEVERE_SHARE
from estimators.privacy.roc import operating_point
from macekit.call import Body, Call
from macekit.operations import perform
from tests.cases import each_case

PAGE = (Path(__file__).parents[2] / "docs" / "interpretation.md").read_text(encoding="utf-8")
EXPLAINED, CITED = PAGE.split("## 8. How to cite a result")
PEOPLE = 10_000


@cache
def demo_scores() -> tuple[list[float], list[float]]:
    """Members and nonmembers of the table that `mace demo` writes."""
    rows = list(csv.DictReader(example_table().decode().splitlines()))
    members, nonmembers = ([float(row["score"]) for row in rows if row["member"] == side] for side in "10")
    return members, nonmembers


@cache
def asked(operation: str, **question: float) -> dict[str, Any]:
    """The service's answer, about the demo's scores if it is about scores."""
    members, nonmembers = demo_scores()
    sides = {} if operation == "plan" else {"members": members, "nonmembers": nonmembers}
    reply = perform(Call(operation), Body.of(json.dumps({**sides, **question}).encode()))
    assert reply.status == 200, bytes(reply.body)
    found: dict[str, Any] = json.loads(bytes(reply.body))
    return found


def limits(**question: float) -> tuple[float, float]:
    advantage = asked("advantage", **question)["advantage"]
    return advantage["lower"], advantage["upper"]


def right(advantage: float, people: float = PEOPLE) -> float:
    """Right guesses: the advantage is twice their share, less one."""
    return people * (1 + advantage) / 2


def fewest_exposed() -> int | None:
    """Members beyond every nonmember that 5,000 records a side show."""
    return exposure(Counts.of([2500, 2500], [2500, 2500], edges=[0.0])).least


def baseline(prior: float) -> float:
    return abs(2 * prior - 1)


def tell(value: float) -> str:
    """A number as the page writes it."""
    return f"{round(value, 6):,.6f}".rstrip("0").rstrip(".")


def row(*cells: float) -> str:
    return f"| {' | '.join(tell(cell) for cell in cells)} |"


def of_coin(advantage: float) -> str:
    more = right(advantage) - right(0)
    return row(advantage, right(advantage, 100), right(advantage), more)


def of_prior(prior: float, advantage: float) -> str:
    without = right(baseline(prior))
    return row(prior, PEOPLE * prior, baseline(prior), without, advantage, right(advantage), right(advantage) - without)


def fewest_nonmembers(rate: float) -> int:
    """The fewest at which the library no longer says that there are too few."""

    def enough(n: int) -> bool:
        return not operating_point(Counts.of([9, 9], [n - n // 2, n // 2], edges=[0.0]), rate).cautions

    low, high = 1, 10_000
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle + 1, high)
    return low


def average_of_groups() -> float:
    """19 of 20 alike on both sides, 1 of 20 with an advantage of 0.6, and a score that does not say which."""
    group = {"member": np.array([0.8, 0.2]), "nonmember": np.array([0.2, 0.8])}
    rest = np.array([0.5, 0.5])
    mixed = {side: 0.95 * rest + 0.05 * own for side, own in group.items()}
    assert np.isclose(np.abs(group["member"] - group["nonmember"]).sum() / 2, 0.6)
    return float(np.abs(mixed["member"] - mixed["nonmember"]).sum() / 2)


def certain_few() -> tuple[float, float]:
    """Advantage, and members known beyond doubt, where 1% of the members have a score of their own."""
    member, nonmember = np.array([0.99, 0.01]), np.array([1.0, 0.0])
    return float(np.abs(member - nonmember).sum() / 2), PEOPLE / 2 * 0.01


def statements() -> list[str]:
    """Every phrase of the page that holds a number, with the number computed."""
    low, high = limits()
    low_rare, high_rare = limits(prior=0.1)
    gained = asked("advantage", prior=0.1)
    at_quarter = asked("advantage", max_advantage=0.25)["verdict"]["records_needed"]
    at_truth = asked("advantage", max_advantage=0.2)["verdict"]["records_needed"]
    planned = asked("plan", max_advantage=0.1, expected=0.05)["records"]
    even, rare = (asked("individual-risk", prior=prior)["flags"] for prior in (0.5, 0.1))
    average, known = certain_few()
    lifted = 0.1 * 9 / (0.1 * 9 + 0.9)
    return [
        f"{SIDE} members, {SIDE} nonmembers, an advantage between {low:.3f} and {high:.3f} with 95% confidence",
        "share of right guesses, less 1.",
        f"a coin is right {right(0, 100):.0f} times in 100, and its advantage is {tell(2 * 0.5 - 1)}",
        "At a prior of 0.5",
        "advantage, prior 0.5 | right guesses of 100 | of 10,000 people",
        *(of_coin(advantage) for advantage in (0, 0.01, 0.1, 0.2, 0.5, 1)),
        f"0.1 means {right(0.1, 100):.0f} right guesses of 100 instead of {right(0, 100):.0f}",
        "does not mean that 10% of the people",
        f"at its resolution of {asked('advantage')['advantage']['resolution']} cells",
        f"right at least {right(low, 100):.1f} times in 100, whoever that is",
        f"are right at most {right(high, 100):.1f} times",
        f"Why {tell(baseline(0.1))} at prior 0.1",
        f"Of 10,000 people {tell(PEOPLE * 0.1)} are members, and the adversary knows it: the prior is 0.1",
        f"is right {tell(right(0.8))} times and has an advantage of {tell(2 * 0.9 - 1)}",
        "members of 10,000 |",
        *(of_prior(*each) for each in ((0.5, 0.1), (0.1, 0.81), (0.01, 0.981))),
        f"the share of guesses gained ({tell((0.81 - 0.8) / 2)} in the second row)",
        f"1 less the gain as a share of what there is to gain ({tell(1 - (0.81 - 0.8) / (1 - 0.8))} there)",
        f"scores at prior 0.1 have an advantage between {low_rare:.3f} and {high_rare:.3f}",
        f"at most {right(high_rare) - right(gained['baseline']):.0f} people of 10,000 more",
        "fail a threshold of 0.1 at prior 0.5",
        f"A score 9 times as common among members lifts a prior of 0.1 to {tell(lifted)}",
        "if in doubt, 0.5,",
        "At 95% both ends are meant to hold in at least 95 of 100 answers",
        f"Of 40 answers {tell(40 * (1 - 0.95))} may",
        "At a threshold of 0.25 the demo is undecided (`inconclusive` in JSON):"
        f" about {at_quarter:,} records in all would settle it,"
        f" against {2 * SIDE} now",
        f"At 0.2, which is the truth, it would take {at_truth:,}",
        f"at a limit of 0.1 and an expected advantage of 0.05 it says {planned:,} records",
        f"Two looks at 95% can be wrong up to {tell(2 * 5)}% of the time",
        f"To keep 95% overall, ask each at {tell(100 - 5 / 2)}%",
        "Let 1% of the members",
        f"The advantage at prior 0.5 is {tell(average)}",
        f"of 10,000 people, half of them members, {tell(known)} are known",
        f"Of 10,000 records, half of them members, {fewest_exposed()} such members",
        f"least {tell(SEVERE)} times as often as nonmembers. At even odds an attacker is then right at least"
        f" {int(100 * SEVERE / (SEVERE + 1))} times in 100, and at any prior the odds of membership are ten times",
        f"at least {tell(100 * SEVERE_SHARE)}% of members are shown to be there",
        f"of {tell(95)}% for both ends each is left {tell(5 / 2)}%, so that one holds with {tell(100 - 5 / 2)}%",
        f"of the demo's {2 * SIDE} records {even['records']} are flagged, and about {even['member_share']:.0%} of these"
        f" are members at a prior of 0.5, about {rare['member_share']:.0%} at a prior of 0.1",
        f"{tell(0.01)} at a false positive rate of 0 in this example",
        "with 95% confidence nothing can be shown at",
        f"a rate of 0.001 with fewer than {fewest_nonmembers(0.001):,} nonmembers, at 0.01 with fewer than"
        f" {fewest_nonmembers(0.01)}",
        "A lower end of 0 below that",
        f"the false share of the flagged is at most {tell(100 * 0.05)}% on average",
        "nothing about 95% of the people and an advantage of 0.6 about the other 5%",
        f"The average is {tell(average_of_groups())}",
        f"20 groups one by one at 95% would expect {tell(20 * 0.05)} false",
        "if there are fewer than 30 records a side",
        "(section 2); 0.5 if in doubt",
        f"At prior 0.1, 10 more people of 10,000: {tell(baseline(0.1) + 2 * 10 / PEOPLE)}",
        f"At prior 0.5, 5 of 100: {tell(baseline(0.5) + 2 * 5 / 100)}",
        "0.95 unless a rule says otherwise",
        "`mace gate monday.csv --max-advantage 0.1 --sequential --state run.json`",
        "`mace estimate scores.csv --set-members 1000 --set-nonmembers 2000` | the one set of 1,000 and 2,000 records",
    ]


@pytest.mark.slow
def test_every_number_of_the_explanation_is_computed_again() -> None:
    left = " ".join(re.sub(r"^#+ \d\.|^\d\. ", "", line).strip() for line in EXPLAINED.splitlines())
    left = re.sub(r"\(section \d\)|sections \d to \d|, section \d\)", "", left.replace("(section 2); 0.5", "@"))
    left = left.replace("@", "(section 2); 0.5")

    for statement in statements():
        assert statement in left, statement
        left = left.replace(statement, "")

    assert re.findall(r".{0,40}\d.{0,20}", left) == []


def test_what_is_said_of_the_demo_is_so() -> None:
    assert asked("advantage", max_advantage=0.1)["verdict"]["decision"] == "fail"
    assert asked("advantage", max_advantage=0.25)["verdict"]["decision"] == "inconclusive"
    assert asked("advantage")["advantage"]["lower"] < 0.2 < asked("advantage")["advantage"]["upper"]
    rare = asked("advantage", prior=0.1)
    assert math.isclose(rare["mip_eta"], (rare["advantage"]["estimate"] - rare["baseline"]) / 2, abs_tol=1e-12)


def test_groups_share_the_error_and_few_records_are_said_to_be_few() -> None:
    members, nonmembers = (side[:120] for side in demo_scores())
    labels = np.repeat(["a", "b"], [91, 29])

    found = {each.label: each for each in by_group(Scores.of(members, nonmembers), labels, labels)}

    assert found["a"].advantage is not None
    assert found["a"].advantage.estimate.interval.confidence > 0.95
    assert "30" in " ".join(caution.message for caution in found["b"].cautions)
    assert not found["a"].cautions


@each_case("path", sorted(set(re.findall(r"\{([a-z_0-9.]+)\}", CITED))))
def test_what_stands_in_braces_is_a_path_of_the_answer(path: str) -> None:
    value: Any = asked("advantage", max_advantage=0.1)
    for part in path.split("."):
        value = value[part]

    assert isinstance(value, str | int | float)


def test_the_paths_named_in_the_text_exist() -> None:
    answer = asked("advantage", max_advantage=0.1)

    for path in re.findall(r"`((?:advantage|guarantee|verdict|roc|provenance|mip|security)[a-z_.]*)`", EXPLAINED):
        value = answer["advantage"] if path.startswith("guarantee") else answer
        for part in path.split("."):
            value = value[part]
