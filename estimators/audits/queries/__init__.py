"""From data to scores: what an attacker asks of a released table or a model, one number a record.

Arrays in, scores out, nothing else. Every query of one number points the same way - the higher, the more like a
member - and says where it comes from, what it costs, and what equal scores mean (`CATALOGUE`, docs/queries.md).
"""

from estimators.audits.queries.discriminators import CATALOGUE as DISCRIMINATORS
from estimators.audits.queries.models import CATALOGUE as MODELS
from estimators.audits.queries.neighbours import Neighbours, nearest
from estimators.audits.queries.query import Query, by_name
from estimators.audits.queries.rows import Rows
from estimators.audits.queries.shadows import CATALOGUE as SHADOWS
from estimators.audits.queries.synthetic import CATALOGUE as SYNTHETIC
from estimators.audits.queries.synthetic import Release, SyntheticScores, synthetic_scores
from estimators.audits.queries.table import Encoding, Sides, encode, encode_points, encode_sides
from estimators.audits.queries.text import CATALOGUE as TEXT
from estimators.audits.queries.white_box import CATALOGUE as WHITE_BOX

CATALOGUE: dict[str, Query] = by_name(
    [query for part in (SYNTHETIC, MODELS, WHITE_BOX, DISCRIMINATORS, SHADOWS, TEXT) for query in part.values()]
)
"""Every query by name."""

__all__ = [
    "CATALOGUE",
    "DISCRIMINATORS",
    "MODELS",
    "SHADOWS",
    "SYNTHETIC",
    "TEXT",
    "WHITE_BOX",
    "Encoding",
    "Neighbours",
    "Query",
    "Release",
    "Rows",
    "Sides",
    "SyntheticScores",
    "encode",
    "encode_points",
    "encode_sides",
    "nearest",
    "synthetic_scores",
]
