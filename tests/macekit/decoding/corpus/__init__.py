"""Small bodies of every format and what is asked of them: where the fuzzers begin (`benchmarks/fuzz.py`).

Made by `python -m tests.macekit.decoding.corpus`; those named `broke-...` once broke something.
"""

from dataclasses import dataclass
from pathlib import Path

from macekit.call import ARROW, ARROW_FILE, CSV, JSON, NDJSON, NPY, NPZ, PARQUET, Call
from tests.macekit.decoding.corpus.make import Made, faulty_bodies, sound_bodies

FOLDER = Path(__file__).parent / "files"
MEDIA_TYPES = {
    ".csv": CSV, ".jsonl": NDJSON, ".npy": NPY, ".npz": NPZ, ".arrows": ARROW, ".arrow": ARROW_FILE,
    ".parquet": PARQUET, ".json": JSON,
}  # fmt: skip


@dataclass(frozen=True)
class Entry:
    """One body and its question."""

    name: str
    operation: str
    query: tuple[tuple[str, str], ...]
    body: bytes

    @property
    def media_type(self) -> str:
        return MEDIA_TYPES[Path(self.name).suffix]

    def call(self, encoding: str = "identity", limit: int = 2**24) -> Call:
        return Call(self.operation, self.media_type, encoding, self.query, expanded_limit=limit)


def entries() -> list[Entry]:
    """The corpus, in the order of its names."""
    return [
        Entry(name, operation, tuple(query.items()), (FOLDER / name).read_bytes())
        for name, _, operation, query in sorted(bodies(), key=lambda each: each[0])
    ]


def bodies() -> list[Made]:
    """What the corpus is made of."""
    return [*sound_bodies(), *faulty_bodies()]
