"""What ``text`` asks and answers."""

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field

from macekit.questions.audits.contract import ScoredAnswer, ScoredQuestion
from macekit.schemas.questions import Name
from macekit.schemas.records import Number, about

TextGiven = Annotated[list[Number | None], Field(min_length=1)] | dict[str, Any]
Layout = Literal["mace", "prompt_logprobs", "completions", "chat", "lm_eval"]


class TextQuestion(ScoredQuestion):
    """What a language model's log-probabilities give away about texts."""

    model_config = ConfigDict(json_schema_extra={"required": ["members", "nonmembers"]})

    members: list[TextGiven] | None = Field(
        None,
        description="what the model says of each text it was trained on: the log-probabilities of its tokens (null for "
        "a first one that has none), or an object in one of the layouts",
    )
    nonmembers: list[TextGiven] | None = Field(
        None, description="the same of texts like these that it has not seen, cut to the same lengths"
    )
    layout: Layout | None = Field(
        None,
        description="what is written of each text, read off the first if left out. mace: logprobs, and as far as there "
        "are text, mean and std (of log p over the vocabulary at each token), reference_logprobs; prompt_logprobs and "
        "completions: answers of vLLM and other servers of OpenAI's completions; chat: of chat completions; lm_eval: "
        "samples of lm-evaluation-harness",
    )
    by: Name | None = Field(
        None,
        description="field that names the document or person a text is of: one score for each, because texts of one "
        "are not independent",
    )
    how: Literal["mean", "max", "logsumexp", "top_share"] = Field(
        "mean", description="how the scores of a document or person are put together, with by"
    )
    share: Annotated[float, Field(gt=0, le=1)] = Field(
        0.2, description="share of tokens for mink and minkpp, and of texts for top_share"
    )
    keep: Annotated[list[Name], Field(max_length=2048)] = Field(
        [], description="further fields to copy beside the scores, besides id, group and member"
    )


class TextAnswer(ScoredAnswer):
    """What a language model's log-probabilities give away: every query that was asked of texts, and the verdict."""

    texts: Annotated[int, about("how many texts were scored")]
    tokens: Annotated[int, about("how many log-probabilities of tokens were read")]
    layout: Annotated[str, about("how they were written")]
