"""What the answers of theory are made of."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field
from typing_extensions import TypedDict

OperationName = Literal[
    "theory/dp",
    "theory/mip",
    "theory/mip-finite",
    "theory/mis",
    "theory/mis-overfitting",
    "theory/pmp-exponential",
    "theory/pmp-gaussian",
]


class OriginAnswer(TypedDict):
    """How the answer came about, enough to make it again."""

    method: Annotated[OperationName, Field(description="the operation")]
    version: Annotated[str, Field(description="of the methods")]
    input_sha256: Annotated[str | None, Field(description="of the arrays; null if there were none")]
    arrays: Annotated[list[str], Field(description="the arrays there were")]
    options: dict[str, object]


class BoundAnswer(TypedDict):
    """One bound of one quantity; of those of one quantity the smallest that is proven is the tightest."""

    quantity: str
    name: Annotated[str, Field(description="stable")]
    says: str
    value: Annotated[float | None, Field(description="null if infinite")]
    source: str
    assumes: str
    proven: Annotated[bool, Field(description="false: printed in a paper, and refuted")]
    tightest: bool
