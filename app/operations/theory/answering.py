"""The last step of every operation of theory that looks at no scores: where the answer comes from, and its form."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import cast

import numpy as np

from app.call import Call, Reply
from app.decoding.material import Column, Material
from app.operations.answering import reply_of
from app.operations.asking import stated
from app.schemas.columns import Asked
from app.schemas.theory.parts import OperationName, OriginAnswer
from estimators import VERSION
from estimators.report import digest


def reply(call: Call, question: Asked, material: Material, answered: Mapping[str, object]) -> Reply:
    """The answer with its origin, as JSON or as a report."""
    return reply_of(call, {**answered, "provenance": origin(call, question, material.arrays)})


def origin(call: Call, question: Asked, arrays: Mapping[str, Column]) -> OriginAnswer:
    """What was asked, of which arrays, by which version."""
    return {
        "method": cast("OperationName", call.operation),
        "version": VERSION,
        "input_sha256": _fingerprint(arrays) if arrays else None,
        "arrays": sorted(arrays),
        "options": stated(question, call),
    }


def _fingerprint(arrays: Mapping[str, Column]) -> str:
    """SHA-256 over the arrays, by name; the same values give the same one, however they came."""
    named = "".join(f"{name} {digest(np.asarray(arrays[name]))}\n" for name in sorted(arrays))
    return hashlib.sha256(named.encode()).hexdigest()
