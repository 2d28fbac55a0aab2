"""Where an answer of theory that looks at no scores comes from."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import cast

import numpy as np

from app.operations.asking import stated
from estimators import VERSION
from estimators.report import digest
from macekit.call import Call
from macekit.decoding.body import Column
from macekit.schemas.records import Asked
from macekit.schemas.statements import OperationName, OriginAnswer


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
