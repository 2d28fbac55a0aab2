"""The README keeps its word: the output it shows is the output, and its code runs."""

import json
import re
import shlex
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import pytest

from app.openapi.document import operation
from macekit.call import JSON
from macekit.catalogue import BY_NAME
from tests.app.running import running

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, flags=re.DOTALL)


@pytest.mark.slow
def test_the_readmes_code_runs_as_it_stands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    members, nonmembers = rng.normal(0.5, size=400), rng.normal(size=400)
    names: dict[str, object] = {"members": members, "nonmembers": nonmembers}

    for block in blocks("python"):
        exec(block, names)

    assert "<svg" in (tmp_path / "report.html").read_text(encoding="utf-8")
    assert names["result"].verdict is not None  # type: ignore[attr-defined]


def test_every_file_the_readme_names_is_there() -> None:
    root = Path(__file__).parents[2]

    named = set(re.findall(r"\]\(([^)#:]+)\)", README)) | set(re.findall(r"`((?:docs|scripts)/[\w./-]+)`", README))

    assert {name for name in named if not (root / name).exists()} == set()
    assert len(named) > 5


def first_request() -> tuple[str, dict[str, str], bytes]:
    """README's first curl, taken apart: path, headers, body."""
    shown = next(block for block in blocks("sh") if block.startswith("curl"))
    words = shlex.split(shown)
    address = next(word for word in words if word.startswith("http://"))
    header = words[words.index("-H") + 1].partition(": ")
    return urlsplit(address).path, {header[0]: header[2]}, words[words.index("-d") + 1].encode()


def test_the_readmes_first_request_is_swaggers_first_example() -> None:
    path, _, body = first_request()

    examples = operation(BY_NAME[path.removeprefix("/v1/")])["requestBody"]["content"][JSON]["examples"]
    assert json.loads(body) == next(iter(examples.values()))["value"]


@pytest.mark.slow
def test_the_readmes_first_request_gets_the_answer_it_shows(tmp_path: Path) -> None:
    shown = json.loads(blocks("json")[0])
    path, headers, body = first_request()

    with running(tmp_path) as service:
        answer = service.ask(path, "POST", body, headers)

    assert answer.status == 200
    assert_within(shown, answer.json())


def assert_within(shown: Any, whole: Any) -> None:
    """Everything shown is in the whole; numbers agree to the digits that other processors share."""
    if isinstance(shown, dict):
        for name, value in shown.items():
            assert_within(value, whole[name])
    elif isinstance(shown, float):
        assert whole == pytest.approx(shown, rel=1e-9)
    else:
        assert shown == whole
