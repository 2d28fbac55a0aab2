"""What a language model said of texts, as servers, an evaluation harness and plain programs write it down.

Answers of servers are written by hand after vLLM's protocol (vllm/entrypoints/openai/completion/protocol.py and
vllm/v1/engine/logprobs.py, read at commits 002032ee and 016e747a; release 0.33) and OpenAI's API reference of
completions, chat completions and batches. Samples of lm-evaluation-harness were made by its release 0.4.13 (`lm_eval
--model dummy --log_samples`), of two texts, by a task of each output type.
"""

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import macekit
from estimators.audits.queries import text
from macekit.call import ARROW, CSV, JSON, NDJSON, NPZ
from tests.cases import each_case
from tests.macekit import asking
from tests.macekit.decoding.support import lines, npz_bytes

SAID = Path(__file__).parent / "said"
LOGS = [[-0.5, -1.25, -3.0], [-0.25, -2.0], [-4.0]]
"""Log-probabilities of the tokens of three texts after their first."""


def ask(body: object, media_type: str = JSON, accept: str = JSON, **query: str) -> Any:
    reply = asking.post("text", body, media_type, accept, **query)
    return json.loads(bytes(reply.body)) if reply.media_type.endswith("json") else bytes(reply.body)


def scored(records: list[Any], query: str = "text_loss", **options: str) -> list[float]:
    """The scores of a file in which nobody says who is a member."""
    rows = ask(lines(*records), NDJSON, CSV, **options)
    assert not rows.startswith(b"{"), rows
    table = np.genfromtxt(io.BytesIO(rows), delimiter=",", names=True, dtype=None, encoding="utf-8")
    return [float(each) for each in np.atleast_1d(table[query])]


def refused(record: object, **options: str) -> str:
    """What is said of the second of two texts, or of one that is the first, too."""
    found = ask(lines(record), NDJSON, CSV, **options)
    problem = json.loads(found) if isinstance(found, bytes) else found
    assert (problem["status"], problem["index"]) == (422, 0)
    assert problem["detail"].startswith("line 1: ")
    return str(problem["detail"])


# --- servers --------------------------------------------------------------------------------------------------


def of_prompt(logs: list[float], *others: dict[str, Any]) -> list[Any]:
    """vLLM's `prompt_logprobs`: nothing of the first token, then the prompt's own, and others beside it."""
    own = [
        {str(10 + place): {"logprob": each, "rank": 5 + place, "decoded_token": f" t{place}"}}
        for place, each in enumerate(logs)
    ]
    return [None, *({**each, **(others[place] if others else {})} for place, each in enumerate(own))]


def completion(*choices: list[float | None], prompt: int | None = None) -> dict[str, Any]:
    rest = {"text": "", "finish_reason": "length"}
    told = [{"tokens": [], "token_logprobs": logs} for logs in choices]
    made = [{"index": place, **rest, "logprobs": each} for place, each in enumerate(told)]
    counted = {"prompt_tokens": prompt, "completion_tokens": 1, "total_tokens": 9}
    usage = {} if prompt is None else {"usage": counted}
    return {"id": "cmpl-1", "object": "text_completion", "created": 1, "model": "m", "choices": made, **usage}


def chat(logs: list[float]) -> dict[str, Any]:
    content = [{"token": "a", "logprob": each, "bytes": [97], "top_logprobs": []} for each in logs]
    message, logprobs = {"role": "assistant", "content": "a"}, {"content": content, "refusal": None}
    choice = {"index": 0, "message": message, "logprobs": logprobs, "finish_reason": "stop"}
    return {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}


def batched(body: dict[str, Any]) -> dict[str, Any]:
    response = {"status_code": 200, "request_id": "r", "body": body}
    return {"id": "batch_req_1", "custom_id": "t7", "response": response, "error": None}


FORMS: dict[str, list[Any]] = {
    "lists": LOGS,
    "lists with a first token": [[None, *each] for each in LOGS],
    "our own": [{"logprobs": each} for each in LOGS],
    "prompt_logprobs of a RequestOutput": [{"prompt": "x", "prompt_logprobs": of_prompt(each)} for each in LOGS],
    "prompt_logprobs of completions": [
        {"choices": [{"text": "y", "prompt_logprobs": of_prompt(each)}]} for each in LOGS
    ],
    "prompt_logprobs of chat": [{**chat([-9.0]), "prompt_logprobs": of_prompt(each)} for each in LOGS],
    "completions": [completion([None, *each], prompt=len(each) + 1) for each in LOGS],
    "completions with a token of the answer": [completion([None, *each, -9.0], prompt=len(each) + 1) for each in LOGS],
    "several prompts": [completion(*([None, *each] for each in LOGS), prompt=sum(map(len, LOGS)) + 3)],
    "a batch": [batched(completion([None, *each], prompt=len(each) + 1)) for each in LOGS],
    "one choice a line": [completion([None, *each])["choices"][0] for each in LOGS],
    "chat": [chat(each) for each in LOGS],
}


@each_case("form", FORMS)
def test_every_form_has_the_scores_of_its_tokens(form: str) -> None:
    assert scored(FORMS[form]) == pytest.approx(text.text_loss(LOGS))
    assert scored(FORMS[form], "mink", share="0.5") == pytest.approx(text.mink(LOGS, share=0.5))


def test_the_prompts_own_token_is_told_from_the_likeliest_where_that_is_certain() -> None:
    """With k = 1 there are two entries where the prompt's token is not the likeliest, and one where it is."""
    best = {"99": {"logprob": -0.1, "rank": 1, "decoded_token": "the"}}
    far = of_prompt([-2.0, -3.0], best, {})
    near = [None, {"7": {"logprob": -2.0, "rank": 2}, **best}, {"8": {"logprob": -3.0, "rank": 1}}]
    turned = [None, {**best, "7": {"logprob": -2.0, "rank": 2}}, {"8": {"logprob": -3.0, "rank": 1}}]
    both = [None, {**best, **near[1]}, {**near[2], **best}]
    named = {"prompt_token_ids": [1, 7, 8], "prompt_logprobs": both}

    for record in (*({"prompt_logprobs": each} for each in (far, near, turned)), named):
        assert scored([record]) == [-2.5]
    undecided = {"prompt_logprobs": [None, {"7": {"logprob": -2.0, "rank": 2}, **best}]}
    three = {"prompt_logprobs": of_prompt([-2.0], {**best, "98": {"logprob": -0.2, "rank": 2}})}
    for record in (undecided, three):
        assert "nothing says which is its own; ask with prompt_logprobs=0, or keep" in refused(record)


REFUSED: dict[str, tuple[object, str]] = {
    "an answer behind each of several": (
        completion([None, -1.0, -9.0], [None, -2.0, -9.0], prompt=4),
        "ask with max_tokens=0, or for one prompt at a time",
    ),
    "no logprobs": ({"choices": [{"text": "x", "logprobs": None}]}, "logprobs: is missing; need the natural"),
    "an error in a batch": (
        {"custom_id": "t", "response": None, "error": {"code": 500}},
        "error: the request failed; ask again",
    ),
    "a token of text": ({"prompt_logprobs": [None, {"7": {"logprob": "x"}}]}, "logprobs: token 1 is text"),
    "no choices": ({"choices": []}, "choices: got none"),
    "a number of 400 digits": ([-(10**400)], "logprobs: a number is beyond 1e308"),
    "no mapping": ({"prompt_logprobs": [None, -1.0]}, "need a list of objects, one a token"),
    "losses": ([0.5, 1.25], "a token of this text is above 0"),
    "text": (["a", "b"], "logprobs: token 0 is text; need a number"),
    "no tokens": (completion([None], prompt=1), "this text has no tokens"),
}


@each_case("case", REFUSED)
def test_what_cannot_be_used_is_named_by_its_line_with_what_to_send(case: str) -> None:
    record, said = REFUSED[case]

    assert said in refused(record)


def test_a_layout_that_was_named_is_not_read_as_another() -> None:
    record = completion([None, -1.0], prompt=2)

    assert "choices: logprobs.content is missing" in refused(record, layout="chat")
    said = refused(record, layout="prompt_logprobs")
    assert "prompt_logprobs: is missing; ask with prompt_logprobs=0" in said
    assert ask(lines(record), NDJSON, CSV, layout="vllm")["type"] == "urn:mace:problem:unknown-name"


def test_tokens_that_the_model_wrote_itself_are_worth_a_word() -> None:
    echoed = [completion([None, -1.0], prompt=2)] * 8
    written = [completion([-1.0, -2.0], prompt=3)] * 8

    answers = (ask({"members": side, "nonmembers": side}) for side in (echoed, written, [chat([-1.0])] * 8))
    said = [{each["code"] for each in answer["warnings"]} for answer in answers]

    assert ["generated_tokens" in codes for codes in said] == [False, True, True]


# --- lm-evaluation-harness ------------------------------------------------------------------------------------


@each_case("task", ["rolling", "loglikelihood"])
def test_samples_of_lm_eval_have_the_log_likelihood_over_the_bytes_of_the_text(task: str) -> None:
    body = (SAID / f"lm_eval_{task}.jsonl").read_bytes()
    samples = [json.loads(line) for line in body.splitlines()]
    totals = [float(np.ravel(each["filtered_resps"])[0]) for each in samples]

    table = ask(body, NDJSON, CSV).decode().splitlines()

    assert table[0] == '"member","id","byte_loss"'
    rows = [row.split(",") for row in table[1:]]
    assert [row[:2] for row in rows] == [["true", "0"], ["false", "1"]]
    assert [float(row[2]) for row in rows] == pytest.approx([totals[0] / 44, totals[1] / 40])
    if task == "rolling":  # as the harness counted them itself
        assert [each["byte_perplexity"] for each in samples] == [[totals[0], 44], [totals[1], 40]]


def test_samples_of_several_continuations_or_of_none_are_refused() -> None:
    choices = json.loads((SAID / "lm_eval_multiple_choice.jsonl").read_text().splitlines()[0])
    made = {"resps": [["a text that was generated"]], "arguments": {"gen_args_0": {"arg_0": "x"}}}
    written = {**choices, **made}

    said = refused(choices)
    assert "resps: got 2 continuations, need one; log samples of a task whose output_type is" in said
    assert "resps: holds no log-likelihood; log samples" in refused(written)


# --- arrays ---------------------------------------------------------------------------------------------------


def padded(rows: list[list[float]]) -> np.ndarray:
    table = np.full((len(rows), 5), np.nan)
    for place, row in enumerate(rows):
        table[place, 1 : len(row) + 1] = row  # a first token without a number, and room at the end
    return table


MEMBER = [True, False, True]
RAGGED = {"logprobs": np.concatenate(LOGS), "lengths": np.array([3, 2, 1]), "member": np.array(MEMBER)}


@each_case("body", [npz_bytes(RAGGED), npz_bytes({"logprobs": padded(LOGS), "member": MEMBER})])
def test_arrays_hold_a_row_a_text_or_all_tokens_and_their_lengths(body: bytes) -> None:
    table = ask(body, NPZ, CSV).decode().splitlines()

    assert [row.split(",")[0] for row in table] == ['"member"', "true", "false", "true"]
    assert [float(row.split(",")[1]) for row in table[1:]] == pytest.approx(text.text_loss(LOGS))


def test_arrays_beside_the_tokens_are_cut_alike() -> None:
    means, deviations = np.full(6, -2.0), np.arange(1.0, 7.0)

    beside = {"mean": means, "std": deviations, "text": np.array(["a", "b", "c"])}
    table = ask(npz_bytes(RAGGED | beside), NPZ, CSV).decode()

    expected = text.minkpp(LOGS, np.split(means, [3, 5]), np.split(deviations, [3, 5]))
    found = [row.split(",") for row in table.splitlines()]
    assert found[0] == ['"member"', '"text_loss"', '"zlib_ratio"', '"mink"', '"minkpp"']
    assert [float(row[4]) for row in found[1:]] == pytest.approx(expected)


@each_case(
    "arrays, said",
    ({"scores": np.ones(3)}, "logprobs: no array has this name"),
    ({"logprobs": np.ones(3)}, "need a row for each text, padded with NaN; or all tokens in one dimension"),
    ({**RAGGED, "lengths": np.array([3, 2])}, "lengths: need a whole number for each text, 6 in all"),
    ({**RAGGED, "lengths": np.array([5, 2, -1])}, "lengths: need a whole number for each text, 6 in all"),
    ({**RAGGED, "member": np.array([1, 0])}, "there are 3 texts, and an array of another length"),
    ({"logprobs": np.array([[1, None]], dtype=object)}, "mace never opens one"),
)
def test_arrays_that_are_none_of_texts_are_refused(arrays: dict[str, Any], said: str) -> None:
    assert said in ask(npz_bytes(arrays), NPZ)["detail"]


# --- every door -----------------------------------------------------------------------------------------------


def of_sides(seed: int = 0) -> dict[str, list[list[float]]]:
    rng = np.random.default_rng(seed)
    return {
        name: [np.round(-rng.exponential(scale, rng.integers(4, 9)), 3).tolist() for _ in range(60)]
        for name, scale in (("members", 1.0), ("nonmembers", 2.0))
    }


@pytest.mark.slow
def test_lines_arrays_and_a_request_have_one_answer_here_and_in_python(tmp_path: Path) -> None:
    sides = of_sides()
    every = sides["members"] + sides["nonmembers"]
    member = np.arange(120) < 60
    records = [{"member": bool(m), "logprobs": logs} for m, logs in zip(member, every, strict=True)]
    files = {}
    for name, logs in sides.items():
        files[name] = tmp_path / f"{name}.npy"
        np.save(files[name], padded_to(logs, 9))
    (tmp_path / "both.jsonl").write_bytes(lines(*records))
    arrays = {"logprobs": np.concatenate(every), "lengths": [*map(len, every)], "member": member}

    wanted = ask({**sides, "max_advantage": 0.2})

    assert wanted["decision"] == "fail"
    for found in (
        ask(lines(*records), NDJSON, max_advantage="0.2"),
        ask(npz_bytes(arrays), NPZ, max_advantage="0.2"),
        macekit.audit_text(**sides, max_advantage=0.2).answer,
        macekit.audit_text(*([np.array(each) for each in sides[name]] for name in sides), max_advantage=0.2).answer,
        macekit.audit_text(
            *([list(np.array(each)) for each in sides[name]] for name in sides), max_advantage=0.2
        ).answer,
        macekit.audit_text(files["members"], files["nonmembers"], max_advantage=0.2).answer,
        macekit.audit_text(tmp_path / "both.jsonl", max_advantage=0.2).answer,
    ):
        assert {**found, "provenance": None} == {**wanted, "provenance": None}
        assert found["provenance"]["input_sha256"] == wanted["provenance"]["input_sha256"]


def padded_to(rows: list[list[float]], width: int) -> np.ndarray:
    return np.array([row + [np.nan] * (width - len(row)) for row in rows])


def test_members_may_be_told_by_a_field_of_any_name_and_value() -> None:
    records = [{"split": "seen" if k % 2 else "other", "logprobs": [-1.0 - k]} for k in range(20)]

    found = ask(lines(*records), NDJSON, member="split=seen")

    assert found["provenance"]["n_members"] == found["provenance"]["n_nonmembers"] == 10
    assert "member: row 0 is none of 1/0, true/false" in ask(lines(*records), NDJSON)["detail"]
    unknown = ask(lines(*records), NDJSON, member="secret_name")
    assert "a field that was named: is asked for" in unknown["detail"]


def test_what_is_not_said_is_asked_for() -> None:
    assert "member: no record says who is a member" in ask(lines(*LOGS), NDJSON)["detail"]
    assert "nonmembers: is required" in ask({"members": LOGS})["detail"]
    assert "members: need a list" in ask({"members": {"a": 1}, "nonmembers": LOGS})["detail"]
    assert "how: it goes with by" in ask({"members": LOGS, "nonmembers": LOGS, "how": "max"})["detail"]


def test_the_table_carries_the_verdict_and_no_formula() -> None:
    import pyarrow as pa

    records = [{"id": f"=x{k}", "member": k < 10, "logprobs": [-1.0 - k]} for k in range(20)]

    with pa.ipc.open_stream(ask(lines(*records), NDJSON, ARROW, max_advantage="0.1")) as reader:
        table = reader.read_all()

    content = json.loads(table.schema.metadata[b"mace"])
    assert content["decision"] == ask(lines(*records), NDJSON, max_advantage="0.1")["decision"] == "fail"
    assert table["id"].to_pylist() == [each["id"] for each in records]
    assert ask(lines(*records), NDJSON, CSV).decode().splitlines()[1].startswith('"\'=x0",')


def test_ids_of_every_size_are_copied_and_a_side_is_told_once() -> None:
    ids: list[Any] = [2**70, 1, 2**60, 0.5]
    records = [{"id": each, "member": True, "logprobs": [-1.0]} for each in ids]

    parts = records[:2], records[2:]
    whole, mixed = (ask(lines(*part), NDJSON, CSV).decode().splitlines() for part in parts)
    sides = ask({"members": records, "nonmembers": records, "keep": ["member"]}, accept=CSV).decode().splitlines()

    assert [row.split(",")[0] for row in whole[1:]] == [f'"{2**70}"', '"1"']
    assert [float(row.split(",")[0]) for row in mixed[1:]] == [2.0**60, 0.5]
    assert sides[0] == '"id","member","text_loss","mink"'
    assert [row.split(",")[1] for row in sides[1:]] == ["true"] * 4 + ["false"] * 4
    half = ask(lines({"id": "\ud800", "logprobs": [-1.0]}), NDJSON, CSV)
    assert half["type"] == "urn:mace:problem:malformed-body"
