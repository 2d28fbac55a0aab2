"""One row of the table of operations (``macekit.catalogue``). Imports nothing heavy: `mace --help` reads the table."""

from dataclasses import dataclass

from macekit.call import ARROW, BRIEF, CSV, HTML, JSON, MARKDOWN, NDJSON, PARQUET, PNG, SVG
from macekit.formats import TABLES as SUFFIX_OF_TABLES

TABLES = (*SUFFIX_OF_TABLES,)
ANY_BODY = (JSON, *TABLES)
OF_COLUMNS = (JSON, CSV, NDJSON, ARROW, PARQUET)
WORDS = (JSON, HTML, MARKDOWN, CSV, BRIEF)
PICTURES = (*WORDS, SVG, PNG)


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation: its names, what is said of it, and what it takes and answers."""

    name: str
    """The address is ``/v1/NAME``."""
    command: str
    """`mace COMMAND`, ``macekit.COMMAND``; empty where only HTTP has it."""
    summary: str
    about: str
    examples: tuple[str, ...] = ()
    """Lines for the shell."""
    stem: str = ""
    """What its classes and modules are called; the last part of the name unless said otherwise."""
    bodies: tuple[str, ...] = ()
    """Media types of the body: JSON and every table, unless said otherwise; of whole tables, those with columns."""
    forms: tuple[str, ...] = PICTURES
    """Media types of the answer, the usual one first; all but JSON, its brief form and ``rows`` are reports."""
    rows: tuple[str, ...] = ()
    """Forms that hold the records themselves."""
    most_files: int | None = 1
    """Files the shell takes; None for any number, 0 where an option names each, or a body is JSON alone."""
    arrays: tuple[str, ...] = ()
    """Fields that hold arrays; a body that is one array, or a table, fills the first."""
    tables: tuple[str, ...] = ()
    """Fields that hold whole tables; a body that is one table says of each row to which it belongs."""
    python: str = ""
    """Its function in ``macekit``: the command, unless said otherwise."""
    texts: bool = False
    """Whether it is asked of texts: of each a list of numbers, one a token, and what stands beside them."""
    several: bool = False
    """Whether it is asked of several queries by name, each with scores of its own; the columns of a table are these."""
    sides: bool = False
    """Whether the two arrays are the two sides of a table: what was trained on, and what was not."""
    takes_counts: bool = False
    """Whether counts as /v1/counts answers them may stand in place of scores."""
    counts_suffice: bool = False
    """Whether the shell may count a large file as it reads it and ask about the counts."""
    by_clusters: bool = False
    """Whether rows may come in clusters that ``cluster`` names."""
    of_groups: bool = False
    """Whether each group of one sample may be asked about in place of several queries."""
    wing: str = ""
    """The part of ``macekit.questions`` that it is in, as the catalogue says; empty for the core."""
    inline: bool = False
    """Whether the time grows with the records alone, so that a small JSON body needs no worker."""

    @property
    def takes_files(self) -> bool:
        """Whether several files may come in one body, as parts of a form."""
        return JSON in self.bodies and self.bodies != (JSON,) and not (self.paper or self.arrays)

    @property
    def paper(self) -> bool:
        """Whether it is one of ``/v1/theory``."""
        return self.wing == "theory"

    def __post_init__(self) -> None:
        if not self.python:
            object.__setattr__(self, "python", self.command.replace(" ", ".").replace("-", "_"))
        if not self.bodies:
            object.__setattr__(self, "bodies", OF_COLUMNS if self.tables else ANY_BODY)
        if self.tables or self.bodies == (JSON,):
            object.__setattr__(self, "most_files", 0)

    @property
    def needed_tables(self) -> tuple[str, ...]:
        """The tables that must be there: all but the reference, retained, planted and spared records."""
        return tuple(name for name in self.tables if name not in ("reference", "retained", "planted", "spared"))

    @property
    def key(self) -> str:
        """The stem as a name in Python: ``mip_finite``."""
        return (self.stem or self.name.rpartition("/")[2]).replace("-", "_")

    @property
    def model(self) -> str:
        """What its question and its answer are called: ``MipFinite`` of ``MipFiniteQuestion``."""
        return "".join(part.capitalize() for part in self.key.split("_"))

    @property
    def room(self) -> str:
        """Where it stands below ``macekit.questions``; a paper's operations share a room."""
        return f"{self.wing}.{self.key.partition('_')[0] if self.paper else self.key}".lstrip(".")
