"""A question as it would come over the wire, in any form, and what came of it."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
import sklearn.ensemble
from sklearn.naive_bayes import GaussianNB

from app.openapi.examples import JSON_EXAMPLES
from estimators.adversary import learned
from estimators.audits import split
from estimators.decisions import plan
from estimators.runs.procedure import planning
from estimators.theory import accounting
from macekit.call import JSON, Body, Call, Reply
from macekit.operations import perform


def post(operation: str, body: object, media_type: str = JSON, accept: str = JSON, **options: str) -> Reply:
    """The reply; a body that is no bytes is sent as JSON, options stand in the query string."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    with Body.of(data) as held:
        return perform(Call(operation, media_type, query=tuple(options.items()), accept=accept), held)


def content(reply: Reply) -> Any:
    """What a reply holds: JSON decoded, or text."""
    text = bytes(reply.body).decode()
    return json.loads(text) if reply.media_type.endswith("json") else text


def ask(operation: str, body: object, media_type: str = JSON, accept: str = JSON, **options: str) -> Any:
    """The answer, or the problem."""
    return content(post(operation, body, media_type, accept, **options))


def asked(operation: str, body: object, media_type: str = JSON, accept: str = JSON, **options: str) -> Any:
    """The answer."""
    reply = post(operation, body, media_type, accept, **options)
    assert reply.status == 200, bytes(reply.body)
    return content(reply)


def refused(operation: str, body: object, media_type: str = JSON, accept: str = JSON, **options: str) -> Any:
    """The problem, with the last part of its type as ``kind``."""
    reply = post(operation, body, media_type, accept, **options)
    assert reply.status in (400, 415, 422), bytes(reply.body)
    problem = content(reply)
    return problem | {"kind": problem["type"].rpartition(":")[2]}


def decided(answer: dict[str, Any]) -> dict[str, Any]:
    """What has the decision of an answer."""
    part = answer.get("result", answer)
    return part.get("verdict") or part


RECORDS = {"members", "nonmembers", "queries", "counts", "shards", "groups", "units", "cluster", "targets"}


def options_of(operation: str) -> dict[str, Any]:
    """What the first example of an operation asks beside its records."""
    question = next(iter(JSON_EXAMPLES[operation].values())).value
    return {name: value for name, value in question.items() if name not in RECORDS}


@contextmanager
def planned_by_few_samples() -> Iterator[None]:
    """A plan by fewer samples, whose numbers are rougher."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plan, "SAMPLES", 3)
        for module, runs in ((plan, 4), (planning, 80)):
            patch.setattr(module, "RUNS", runs)
        patch.setattr(planning, "POOL", 40)
        yield


@contextmanager
def quickly() -> Iterator[None]:
    """For who looks at an answer but not at how good it is: trees, plans and fine cells take most of the time.

    What is learned from the same rows is learned once, whatever is asked of it.
    """
    models: dict[Any, learned.Fitted] = {}
    fit = learned._fit

    def fit_once(learner: learned.Learner, past: Sequence[np.ndarray[Any, Any]], seed: int) -> learned.Fitted:
        key = learner.name, seed, *(side.tobytes() for side in past)
        return models[key] if key in models else models.setdefault(key, fit(learner, past, seed))

    with pytest.MonkeyPatch.context() as patch, planned_by_few_samples():
        patch.setattr(learned, "_fit", fit_once)
        patch.setattr(sklearn.ensemble, "HistGradientBoostingClassifier", lambda **_: GaussianNB())
        patch.setattr(accounting, "CELLS", 2e4)
        patch.setattr(split, "REMEMBERED", split.Remembered())  # what was found so is for nobody else
        yield
