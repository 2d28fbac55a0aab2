"""How others write down what a language model said, as the fields that are read here.

``logprobs`` is a number a token; of lm-evaluation-harness only ``loglikelihood`` is known, that of the whole text.
Nothing is guessed: where an answer does not say which numbers are of the text, it is refused, with what to ask instead.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from macekit.decoding.texts import Entry
from macekit.problems import Problem

Fields = dict[str, Any]


class Text(NamedTuple):
    """What was said of one text, the entry that says it, and whether the tokens are of the model's own answer."""

    fields: Fields
    entry: Entry
    is_generated: bool = False


def texts_of(entry: Entry, layout: str) -> Iterator[Text]:
    """The texts of one entry, usually one."""
    body = _body(entry.value)
    if body.get("error") and not body.keys() & {"logprobs", "prompt_logprobs", "choices", "resps"}:
        raise _wrong(entry, "error: the request failed; ask again, or leave the line out")
    if body.get("choices") == []:
        raise _wrong(entry, "choices: got none; ask again, or leave the line out")
    yield from LAYOUTS[layout](entry)


def layout_of(value: object) -> str:
    """How an entry was written, by the fields that it has."""
    body = _body(value)
    choices = _choices(body)
    if "resps" in body:
        return "lm_eval"
    if any(each.get("prompt_logprobs") for each in (body, *choices)):
        return "prompt_logprobs"
    inner = [each["logprobs"] for each in choices if isinstance(each.get("logprobs"), dict)]
    if any("token_logprobs" in each for each in inner):
        return "completions"
    return "chat" if any("content" in each for each in inner) else "mace"


def _body(value: object) -> Fields:
    """The fields of an entry; of a line of a batch's output those of the response, and the id that was given to it."""
    if not isinstance(value, dict):
        return {}
    response = value.get("response")
    if not isinstance(response, dict) or not isinstance(response.get("body"), dict):
        return value
    own_id = {} if value.get("custom_id") is None else {"id": value["custom_id"]}
    return {**value, **response["body"], **own_id}


def _choices(body: Fields) -> list[Fields]:
    """The answers of one response, or the one that the entry is."""
    choices = body.get("choices", [body])
    return [each for each in choices if isinstance(each, dict)] if isinstance(choices, list) else []


def _plain(fields: Mapping[str, Any]) -> Fields:
    """What may be copied beside the scores."""
    return {name: value for name, value in fields.items() if not isinstance(value, list | dict)}


def _wrong(entry: Entry, why: str) -> Problem:
    return Problem("bad-records", f"{entry.where}: {why}", field=entry.field, index=entry.row)


def _mace(entry: Entry) -> Iterator[Text]:
    """Our own fields, or the list of log-probabilities alone."""
    value = entry.value if isinstance(entry.value, dict) else {"logprobs": entry.value}
    yield Text(value, entry)


# What vLLM and others that speak as OpenAI's answer; vLLM's own words for a prompt are its RequestOutput's, too.

ALONE = "ask with prompt_logprobs=0, or keep prompt_token_ids beside them"


def _prompt_logprobs(entry: Entry) -> Iterator[Text]:
    """Of each token of the prompt a mapping from ids of tokens, the prompt's among them, to their log-probabilities."""
    body = _body(entry.value)
    holders = [each for each in (body, *_choices(body)) if each.get("prompt_logprobs")]
    if not holders:
        raise _wrong(entry, "prompt_logprobs: is missing; ask with prompt_logprobs=0")
    for each in holders[:1] if holders[0] is body else holders:
        logs = _of_prompt(entry, each["prompt_logprobs"], each.get("prompt_token_ids"))
        text = body.get("text", body.get("prompt"))
        of_text = {"text": text} if isinstance(text, str) and len(holders) == 1 else {}
        yield Text({**_plain(body), **of_text, "logprobs": logs}, entry)


def _of_prompt(entry: Entry, positions: object, ids: object) -> list[Any]:
    """The log-probability of each token; the first has none.

    A mapping holds the prompt's token and the k likeliest, k + 1 in all unless it is one of these, in an order that
    differs between versions. So one entry is the prompt's; of two where k is 1 it is the one that is not the likeliest.
    """
    if not isinstance(positions, list) or not all(each is None or isinstance(each, dict) for each in positions):
        raise _wrong(entry, "prompt_logprobs: need a list of objects, one a token")
    mappings = [each for each in positions if each is not None]
    one_best = {len(each) for each in mappings} <= {1, 2} and any(
        len(each) == 1 or max(map(_rank, each.values())) > 2 for each in mappings
    )
    logs: list[Any] = []
    for place, each in enumerate(positions):
        if each is None:
            logs.append(None)
        elif isinstance(ids, list) and place < len(ids) and str(ids[place]) in each:
            logs.append(_number(each[str(ids[place])]))
        elif len(each) == 1 or (one_best and len(each) == 2):
            logs.append(_number(max(each.values(), key=_rank)))
        else:
            raise _wrong(
                entry,
                f"prompt_logprobs: token {place} has {len(each)} entries, and nothing says which is its own; {ALONE}",
            )
    return logs


def _rank(entry: object) -> int:
    rank = entry.get("rank") if isinstance(entry, dict) else None
    return rank if isinstance(rank, int) else 0


def _number(entry: object) -> object:
    return entry.get("logprob") if isinstance(entry, dict) else entry


def _completions(entry: Entry) -> Iterator[Text]:
    """With ``echo`` the tokens of the prompt, which are the text, and then those of the answer, which are not."""
    body = _body(entry.value)
    choices = _choices(body)
    lists = [_token_list(entry, each, "token_logprobs") for each in choices]
    usage = body.get("usage")
    prompt = usage.get("prompt_tokens") if isinstance(usage, dict) else None
    for choice, logs in zip(choices, lists, strict=True):
        if logs and logs[0] is not None:
            yield Text({**_plain(body), "logprobs": logs}, entry, is_generated=True)
            continue
        end = len(logs)
        ids = choice.get("prompt_token_ids")
        if isinstance(ids, list) and ids:
            end = len(ids)
        elif isinstance(prompt, int) and len(choices) == 1:
            end = prompt
        elif isinstance(prompt, int) and prompt != sum(map(len, lists)):
            raise _wrong(
                entry,
                "choices: several prompts, and tokens of the answer behind each; ask with max_tokens=0, or for one "
                "prompt at a time",
            )
        whole = choice.get("text")
        of_text = {"text": whole} if isinstance(whole, str) and whole and end >= len(logs) else {}
        yield Text({**_plain(body), **of_text, "logprobs": logs[:end]}, entry)


def _chat(entry: Entry) -> Iterator[Text]:
    """The tokens of the model's own answer: no chat completion tells those of the prompt."""
    body = _body(entry.value)
    for choice in _choices(body):
        tokens = _token_list(entry, choice, "content")
        yield Text({**_plain(body), "logprobs": [*map(_number, tokens)]}, entry, is_generated=True)


def _token_list(entry: Entry, choice: Fields, name: str) -> list[Any]:
    """A list of what a choice says of its tokens."""
    inner = choice.get("logprobs")
    tokens = inner.get(name) if isinstance(inner, dict) else None
    if not isinstance(tokens, list):
        raise _wrong(entry, f"choices: logprobs.{name} is missing; ask with logprobs")
    return tokens


def _lm_eval(entry: Entry) -> Iterator[Text]:
    """A sample of ``--log_samples``: the log-likelihood of one continuation, or of a whole text, and that text."""
    value = _body(entry.value)
    answers, arguments = value.get("resps"), value.get("arguments")
    if not isinstance(answers, list) or len(answers) != 1 or not isinstance(answers[0], list) or not answers[0]:
        got = f"{len(answers)} continuations" if isinstance(answers, list) else "none"
        raise _wrong(entry, f"resps: got {got}, need one; {TASKS}")
    first = answers[0][0]
    try:
        total = float(first[0] if isinstance(first, list) else first)
    except (TypeError, ValueError, IndexError):
        raise _wrong(entry, f"resps: holds no log-likelihood; {TASKS}") from None
    request = arguments.get("gen_args_0") if isinstance(arguments, dict) else None
    text = request.get("arg_1", request.get("arg_0")) if isinstance(request, dict) else None
    if not isinstance(text, str):
        raise _wrong(entry, "arguments: the text that was asked about is missing")
    doc = value.get("doc")
    own_id = {"id": value["doc_id"]} if "doc_id" in value else {}
    about = {**(_plain(doc) if isinstance(doc, dict) else {}), **_plain(value), **own_id}
    yield Text({**about, "loglikelihood": total, "text": text}, entry)


TASKS = "log samples of a task whose output_type is loglikelihood or loglikelihood_rolling"

LAYOUTS: dict[str, Callable[[Entry], Iterator[Text]]] = {
    "mace": _mace,
    "prompt_logprobs": _prompt_logprobs,
    "completions": _completions,
    "chat": _chat,
    "lm_eval": _lm_eval,
}
"""Who reads which layout."""
