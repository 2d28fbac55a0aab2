"""What an answer warns of, in short."""

from typing import Any


def codes(answer: Any) -> list[str]:
    return [caution.code for caution in answer.cautions]
