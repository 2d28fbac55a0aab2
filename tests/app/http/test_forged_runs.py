"""A real service that signs: no state that was forged, edited, rewound or sent twice draws a signed answer."""

import json
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from app.cli import main
from app.settings import BadSettings, Settings
from app.signing import MEMBER, Signer, public_keys, verify
from estimators import Scores
from estimators.runs.sequential import SequentialRun, sequential_run
from macekit.call import HTML, JSON
from tests.app.http.asked import post
from tests.app.running import Answer, Running
from tests.cases import each_case

Body = dict[str, Any]

LIMIT = 0.1


def batch(seed: int, distance: float = 2.0, n: int = 60) -> Body:
    rng = np.random.default_rng([31, seed])
    return {"members": rng.normal(distance, 1.0, n).tolist(), "nonmembers": rng.normal(0.0, 1.0, n).tolist()}


@dataclass(frozen=True)
class Seen:
    """A service, and a run of leaking batches that it judged: the answer to each."""

    service: Running
    answers: list[Body]

    def state(self, look: int) -> Body:
        return deepcopy(self.answers[look - 1]["state"])


def asked(service: Running, question: Body, accept: str = JSON) -> Answer:
    return post(service, "/v1/gate", {"anytime": True, **question}, headers={"Accept": accept})


@pytest.fixture(scope="module")
def folder(audited: Running) -> Path:
    return audited.folder


@pytest.fixture(scope="module")
def seen(audited: Running) -> Seen:
    answers: list[Body] = []
    for seed in range(4):
        given = {"max_advantage": LIMIT} if not answers else {"state": answers[-1]["state"]}
        reply = asked(audited, {**given, **batch(seed)})
        (audited.folder / f"answer{seed}.json").write_bytes(reply.body)
        answers.append(reply.json())
    assert [answer["decision"] for answer in answers][-1] == "fail"
    return Seen(audited, answers)


# --- what is tried ------------------------------------------------------------------------------------------
# Each makes a question of what was seen; none may be answered as a pass.


def edited(*path: Any, value: Callable[[Any], Any]) -> Callable[[Seen], Body]:
    """The last state with one part changed, and a new batch."""

    def make(seen: Seen) -> Body:
        state: Any = seen.state(4)
        at = state
        for name in path[:-1]:
            at = at[name]
        at[path[-1]] = value(at[path[-1]])
        return {"state": state, **batch(10)}

    return make


def clean_run(seen: Seen, *, sealed: bool) -> Body:
    """The state of a run that passed elsewhere, under the name and the seal of the one that failed."""
    rng = np.random.default_rng(1)
    run = sequential_run(LIMIT, run_id=seen.state(4)["run_id"])
    for _ in range(4):
        run = run.after(Scores.of(rng.normal(0.0, 1.0, 3000), rng.normal(0.0, 1.0, 3000)))
    assert run.decision.value == "pass"
    return run.to_dict() | ({"seal": seen.state(4)["seal"]} if sealed else {})


def without_history(seen: Seen) -> Body:
    """The ends and the right guesses of a run that did not leak."""
    state = seen.state(4)
    n, m, _, _, n_blocks = state["looks"][-1]
    state["looks"] = [[n, m, 0.0, 0.02, n_blocks]]
    state["rights"] = {name: [tp // 2, tn // 2] for name, (tp, tn) in state["rights"].items()}
    state["blocks"] = [[tp // 2, n1, tn // 2, n0] for tp, n1, tn, n0 in state["blocks"]]
    return {"state": state, **batch(10, n=8)}


def reordered(seen: Seen, change: Callable[[list[float]], list[float]], look: int) -> Body:
    """A batch that was judged, a little otherwise, with the last state."""
    return {"state": seen.state(4)} | {name: change(side) for name, side in batch(look - 1).items()}


def shuffled(side: list[float]) -> list[float]:
    return np.random.default_rng(2).permutation(side).tolist()


def new(number: int) -> list[float]:
    side: list[float] = batch(13)["members"][:number]
    return side


def unsealed(state: Body) -> Body:
    """A state as the library writes it, which has no seal."""
    return SequentialRun.from_dict({name: value for name, value in state.items() if name != "seal"}).to_dict()


TRIES: dict[str, Callable[[Seen], Body]] = {
    "looks that never were, fewer right guesses": without_history,
    "a higher limit": edited("max_advantage", value=lambda _: 0.99),
    "no limit": edited("max_advantage", value=lambda _: None),
    "another prior": edited("prior", value=lambda _: 0.9),
    "less confidence": edited("confidence", value=lambda _: 0.5),
    "another plan": edited("planned", value=lambda _: 100),
    "another seed": edited("seed", value=lambda seed: seed + 1),
    "another name": edited("run_id", value=lambda name: name[::-1]),
    "a lower upper end": edited("looks", 3, 3, value=lambda _: 0.02),
    "no looks": edited("looks", value=lambda _: []),
    "fewer looks": edited("looks", value=lambda looks: looks[-1:]),
    "fewer right guesses": edited("rights", value=lambda rights: {name: [0, 0] for name in rights}),
    "fewer blocks": edited("blocks", value=lambda blocks: blocks[:1]),
    "no blocks": edited("blocks", value=lambda _: []),
    "as many members in each cell": edited("counts", value=lambda both: both | {"members": both["nonmembers"]}),
    "a thousand times as many nonmembers": edited("counts", "nonmembers", value=lambda each: [1000 * n for n in each]),
    "never contradicted": edited("contradicted", value=lambda value: not value),
    "no marks of batches": edited("batches", value=lambda _: []),
    "no sketch of records": edited("sketch", value=lambda _: {"records": [0, 0], "hashes": "", "counts": None}),
    "no seal": edited("seal", value=lambda _: None),
    "another seal": edited("seal", value=lambda seal: seal[::-1]),
    "the seal of a look before": lambda seen: edited("seal", value=lambda _: seen.state(3)["seal"])(seen),
    "a run that passed elsewhere": lambda seen: {"state": clean_run(seen, sealed=False), **batch(10)},
    "a run that passed elsewhere, with this seal": lambda seen: {"state": clean_run(seen, sealed=True), **batch(10)},
    "the run, written anew by the library": lambda seen: {"state": unsealed(seen.state(4)), **batch(10, 0.0, 3000)},
    "the first state again": lambda seen: {"state": seen.state(1), **batch(10, 0.0, 3000)},
    "the second state again": lambda seen: {"state": seen.state(2), **batch(11, 0.0, 3000)},
    "the last but one with another batch": lambda seen: {"state": seen.state(3), **batch(12, 0.0, 3000)},
    "an earlier batch with its own state": lambda seen: {"state": seen.state(1), **batch(1)},
    "a batch again": lambda seen: reordered(seen, list, 2),
    "a batch in another order": lambda seen: reordered(seen, shuffled, 2),
    "a batch without one record": lambda seen: reordered(seen, lambda side: side[1:], 3),
    "a batch 1e-12 higher": lambda seen: reordered(seen, lambda side: [each + 1e-12 for each in side], 4),
    "the first batch, half of it new": lambda seen: reordered(seen, lambda side: side[:45] + new(15), 1),
}  # fmt: skip


SOME = ("a higher limit", "a run that passed elsewhere, with this seal", "the second state again", "a batch again")
"""Tried in another form, too: it is refused before there is one."""


@pytest.mark.slow
@each_case("name, accept", [*((name, JSON) for name in TRIES), *((name, HTML) for name in SOME)])
def test_nothing_forged_edited_rewound_or_sent_twice_is_signed(seen: Seen, name: str, accept: str) -> None:
    answer = asked(seen.service, TRIES[name](seen), accept)

    assert answer.status in (409, 422), answer.body
    assert "mace-signature" not in answer.headers
    assert b'"signature"' not in answer.body
    assert b'"pass"' not in answer.body


def test_the_run_goes_on_after_all_of_that_and_a_lost_answer_comes_again(seen: Seen, folder: Path) -> None:
    question = {"state": seen.state(4), **batch(20)}
    as_page = asked(seen.service, question, HTML)

    first, again = (asked(seen.service, question) for _ in range(2))

    assert (as_page.status, first.status) == (200, 200)
    unsigned, signed_again = (answer.body.partition(MEMBER)[0] for answer in (first, again))
    assert unsigned == signed_again, "each answer is signed at its own time, and is the same beside that"
    for answer in (first, again):
        verify(answer.body, public_keys(folder / "key.pub"))
    assert first.json()["anytime"]["looks"] == 5
    assert asked(seen.service, {"state": seen.state(4), **batch(21)}).status == 409
    assumes = first.json()["limits"][0]["guarantee"]["assumes"]
    assert "origin" not in assumes
    assert "restart" not in assumes


def test_a_brief_answer_is_signed_and_a_run_goes_on_from_its_sealed_state(seen: Seen, folder: Path) -> None:
    keys = public_keys(folder / "key.pub")
    question: Body = {"max_advantage": LIMIT}
    for look in (1, 2):
        reply = post(seen.service, "/v1/gate?detail=brief", {"anytime": True, **question, **batch(40 + look)})
        assert reply.status == 200, reply.body
        verify(reply.body, keys)
        question = {"state": reply.json()["state"]}
        assert len(question["state"]["batches"]) == look
    forged = deepcopy(question)
    forged["state"]["max_advantage"] = 0.99
    assert post(seen.service, "/v1/gate?detail=brief", {"anytime": True, **forged, **batch(44)}).status != 200


def test_a_fork_at_the_very_start_is_a_run_of_its_own(seen: Seen) -> None:
    first, second = (asked(seen.service, {"max_advantage": LIMIT, **batch(30)}).json() for _ in range(2))

    assert first["provenance"]["run"]["run_id"] != second["provenance"]["run"]["run_id"]
    later = [
        asked(seen.service, {"state": answer["state"], **batch(31 + place)})
        for place, answer in enumerate((first, second))
    ]
    assert [answer.status for answer in later] == [200, 200]


def test_verify_says_whether_kept_answers_follow_one_another(
    seen: Seen, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = [str(folder / f"answer{place}.json") for place in (2, 0, 3, 1)]
    key = ["--public-key", str(folder / "key.pub")]
    run_id = seen.answers[0]["provenance"]["run"]["run_id"]

    assert main(["verify", *files, *key]) == 0
    assert f"run {run_id}: looks 1 to 4, each follows the one before" in capsys.readouterr().out

    assert main(["verify", files[0], files[1], *key]) == 1
    assert "look 3 of the run" in capsys.readouterr().out


def test_two_answers_to_one_look_do_not_follow_one_another(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A key that is held elsewhere signs a second try: no state that it was given is that of the answer before."""
    signer = Signer.of_file(folder / "key.pem")
    names = []
    for look, before, after in ((1, None, "a"), (2, "a", "b"), (2, "a", "c"), (3, "x", "d")):
        run = {"run_id": "r", "look": look, "state_before": before, "state_after": after}
        body, _ = signer.sign(json.dumps({"provenance": {"run": run}}).encode(), "application/json", "")
        names.append(str(folder / f"look{look}{after}.json"))
        Path(names[-1]).write_bytes(body)

    for wrong, why in (
        ((0, 1, 2), "as "),
        ((0, 1, 3), "was given another state"),
        ((0, 3), "name the answers between them"),
    ):
        given = [names[place] for place in wrong]
        assert main(["verify", *given, "--public-key", str(folder / "key.pub")]) == 1
        assert why in capsys.readouterr().out
    assert main(["verify", names[0], names[1], names[1], "--public-key", str(folder / "key.pub")]) == 0


def test_a_second_service_on_the_same_file_does_not_start(seen: Seen, folder: Path) -> None:
    with pytest.raises(BadSettings, match=r"MACE_RUNS_FILE: .*another service writes it"):
        _ = Settings(signing_key_file=folder / "key.pem", runs_file=folder / "audit.runs").runs
