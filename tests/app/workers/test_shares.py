"""Turns go round, and who has most gives way, but never to somebody who would then have more."""

import random
from collections import Counter

from app.workers.shares import Shares
from app.workers.uploads import MOST_KEPT, SMALL, Budget


def shares(*things: tuple[str, int]) -> Shares[int]:
    found: Shares[int] = Shares()
    for number, (holder, size) in enumerate(things):
        found.add(holder, number, size)
    return found


def test_turns_go_round_by_holder() -> None:
    found = shares(("a", 1), ("a", 1), ("a", 1), ("b", 1), ("c", 1), ("c", 1))

    assert [found.next() for _ in range(7)] == [0, 3, 4, 1, 5, 2, None]


def test_the_newest_of_the_largest_gives_way_to_who_has_less() -> None:
    found = shares(("a", 1), ("a", 1), ("b", 9), ("a", 1))

    assert found.may_give_way("c")
    assert found.give_way("c") == 3
    assert found.give_way("b") is None  # b would have two then, and a has two
    assert not found.may_give_way("b")
    assert found.give_way("c", 8) == 2
    assert found.give_way("c", 8) is None


def test_whoever_asks_nobody_is_left_with_less_than_who_gets_it() -> None:
    rng, found = random.Random(1), Shares[int]()
    for number in range(2000):
        holder = rng.choice("aaaaaaaabcd")
        if len(found) < 20 or found.give_way(holder) is not None:
            found.add(holder, number)
    counts = Counter(holder for holder, things in found._things.items() for _ in things)

    assert len(found) == 20
    assert max(counts.values()) - min(counts.values()) <= 1


def test_what_is_kept_goes_for_work_the_oldest_of_the_largest_first() -> None:
    budget, gone = Budget(8 * SMALL), list[str]()

    def keep(client: str, name: str, size: int) -> bool:
        def let_go() -> None:
            gone.append(name)
            budget.free(size)

        kept = budget.keep(client, size, let_go)
        if kept:
            budget.reserve(size, size)
        return kept

    assert keep("small", "s1", SMALL // 2)
    assert keep("large", "l1", SMALL)
    assert keep("large", "l2", SMALL)
    assert keep("large", "l3", SMALL)
    assert keep("large", "l4", SMALL)  # one more than half of all
    assert gone == ["l1"]
    assert not keep("large", "l5", 5 * SMALL)
    budget.reserve(5 * SMALL, 5 * SMALL)

    assert gone == ["l1", "l2", "l3"]
    assert budget.in_use == 6.5 * SMALL
    assert not budget.has_room(8 * SMALL, 8 * SMALL)
    assert gone == ["l1", "l2", "l3"]  # for what has no room anyway nothing goes


def test_so_many_answers_are_kept_and_a_flood_drops_its_own() -> None:
    budget, gone = Budget(8 * SMALL), Counter[str]()
    budget.keep("other", 10, lambda: gone.update(["other"]))
    for _ in range(MOST_KEPT + 5):
        budget.keep("flood", 1, lambda: gone.update(["flood"]))

    assert gone == {"flood": 6}


def test_room_for_an_answer_is_held_while_it_is_worked_on_as_large_as_the_last_one_was() -> None:
    budget = Budget(64 * SMALL)
    first = budget.expected("a", "risk", 100)
    budget.expect_next("a", "risk", 100, 10 * SMALL)
    second, of_another = (budget.expected(client, "risk", 200) for client in "ab")
    with budget.room(second):
        held = budget.in_use
    most = budget.expected("a", "risk", 10_000)
    budget.expect_next("a", "risk", 200, 10)

    assert (first, second, of_another, held) == (0, 20 * SMALL, 0, 20 * SMALL)
    assert most == 32 * SMALL
    assert budget.expected("a", "risk", 200) == budget.in_use == 0
