"""What the examples of theory are asked about."""

from app.openapi.examples import JSON_EXAMPLES


def _of(operation: str, example: str) -> dict[str, list]:  # type: ignore[type-arg]
    return JSON_EXAMPLES[f"theory/{operation}"][example].value


DRAWS = _of("mip", "draws")["draws"]
BEFORE, AFTER, RECORD = (_of("mip", "swaps")[name] for name in ("before", "after", "record"))
TELLING = _of("mip-finite", "leaning")["laws"]
LOSSES, MANY = (_of("pmp-exponential", example)["losses"] for example in ("median", "draws"))
POINTS = _of("pmp-gaussian", "mean")["points"]
COUNTS = _of("together", "contradicted")["counts"]
