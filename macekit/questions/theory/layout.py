"""What all reports of theory share: tiles, the bounds side by side, columns of numbers, what was not established."""

from collections.abc import Iterator, Sequence

from estimators.python.dataclass import dataclass
from macekit.reports import model
from macekit.reports.content import limitations, provenance

QUANTITIES = {
    "advantage": "Advantage",
    "advantage_iid": "Advantage, i.i.d. records",
    "individual_risk": "Risk of one record",
    "mip_eta": "Eta of MIP",
    "mis_delta": "Delta of MIS",
    "mis_delta_iid": "Delta of MIS, i.i.d. records",
    "success": "Success of an attacker",
    "practical_epsilon": "Practical epsilon",
    "epsilon": "Epsilon",
    "eta": "Eta",
    "delta": "Delta",
}
"""What the quantities of bounds are called; one that is not listed is called what it is."""
RATE = "tpr_at_fpr_"  # how the true positive rate at a false positive rate begins, which follows
MOST_LISTED = 8  # numbers of a list that are shown in one cell
TIGHTEST = "The tightest bound of a quantity is the smallest of those that are proven. "
REFUTED = "A refuted bound is printed in a paper, and the tests hold a counterexample."
PAPERS: model.Inline = (
    "These bounds are about how a model is trained, on average over training sets and noise; no model was examined.",
)


@dataclass(frozen=True, slots=True)
class Tile:
    """One number to know at a glance: its label, where it stands in the answer, and what it means."""

    label: str
    path: str
    kind: model.Kind
    note: str = ""

    def fact(self, answer: model.AnswerPath) -> model.Fact:
        """The tile, filled in."""
        return model.Fact(self.label, model.at(answer, self.path).number(self.kind), (self.note,) if self.note else ())


@dataclass(frozen=True, slots=True)
class Columns:
    """A list of objects, or lists of equal length, as a table: label, name and kind of each column."""

    caption: str
    path: str
    columns: tuple[tuple[str, str, model.Kind], ...]
    worst: str | None = None
    """The column whose largest entries come first; the order of the answer, if none."""

    def table(self, answer: model.AnswerPath) -> Iterator[model.Table]:
        """The table, shortened; none if the answer has no such columns."""
        data = model.at(answer, self.path)
        length = len(data) if isinstance(data.value, list) else len(data[self.columns[0][1]]) if data else 0
        rows = tuple(
            tuple(_cell(self._entry(data, name, row), kind) for _, name, kind in self.columns)
            for row in self._order(data, length)[: model.TOP_RECORDS]
        )
        head = tuple(label for label, _, _ in self.columns)
        if rows:
            yield model.Table(self.caption, head, rows, more=length - len(rows), where=self.path)

    def _order(self, data: model.AnswerPath, length: int) -> Sequence[int]:
        """Which rows come first."""
        if self.worst is None:
            return range(length)
        column: list[float] = data[self.worst].value
        return sorted(range(length), key=lambda row: -column[row])

    def _entry(self, data: model.AnswerPath, name: str, row: int) -> model.AnswerPath:
        """One entry, of a list of objects or of an object of lists."""
        return data[row][name] if isinstance(data.value, list) else data[name][row]


@dataclass(frozen=True, slots=True)
class Layout:
    """What the report of one operation holds beside its sentence and its bounds."""

    title: str
    tiles: tuple[Tile, ...]
    columns: tuple[Columns, ...] = ()
    left_open: tuple[model.Inline, ...] = (PAPERS,)
    tightest: int = 0
    value: str = "At most"
    heading: str = "Over the range"
    """Of the section with the tables and the curves."""

    def content(self, answer: model.AnswerPath, figures: model.Figures, context: model.Context) -> model.Report:
        """The report: numbers at a glance, the bounds, the curves, what was not established, the origin."""
        tables = tuple(table for columns in self.columns for table in columns.table(answer))
        blocks: tuple[model.Block, ...] = (*figures.items, *tables)
        sections = (
            *bounds(answer["bounds"], self.value),
            *((model.Section("curves", self.heading, blocks, blocks),) if blocks else ()),
            limitations.section(self.left_open, answer["warnings"]),
            provenance.of_theory(answer["provenance"], context),
        )
        tiles = (
            *(tile.fact(answer) for tile in self.tiles if model.at(answer, tile.path)),
            *list(_tightest(answer["bounds"]))[: self.tightest],
        )
        return model.Report(self.title, model.Headline(None, answer["sentence"].quote()), model.Facts(tiles), sections)


def bounds(entries: model.AnswerPath, value: str) -> Iterator[model.Section]:
    """Every bound beside the others of the same quantity, the tightest marked."""
    if not entries or not len(entries):
        return
    usual = _usual(entries)
    rows = tuple(_bound(each, usual) for each in entries)
    refuted = any(not each["proven"].value for each in entries)
    marked = any(each["tightest"].value for each in entries)
    note: model.Inline = (*((TIGHTEST,) if marked else ()), *((REFUTED,) if refuted else ()))
    head = ("Quantity", value, "Bound", "Source", "Assumes", "")
    table = model.Table("Bounds side by side", head, rows)
    blocks: list[model.Block] = [table]
    blocks += [model.Paragraph(("Assumptions, unless a bound states others: ", usual["assumes"].quote(), "."))]
    blocks += [model.Paragraph(note)] if note else []
    yield model.Section("bounds", "Every bound, side by side", tuple(blocks), (_by_quantity(table),))


def _by_quantity(table: model.Table) -> model.Table:
    """The bounds of one quantity together; what they assume is left to the whole report."""
    quantities = list(dict.fromkeys(row[0] for row in table.rows))
    rows = sorted(table.rows, key=lambda row: quantities.index(row[0]))
    return model.Table(table.caption, table.head, tuple(rows)).only(0, 1, 5, 2, 3)


def _usual(entries: model.AnswerPath) -> model.AnswerPath:
    """A bound that assumes what most of them do: that is said once."""
    texts = [each["assumes"].value for each in entries]
    most = max(map(texts.count, texts))
    return next(each for each in entries if texts.count(each["assumes"].value) == most)


def _bound(each: model.AnswerPath, usual: model.AnswerPath) -> tuple[model.Cell, ...]:
    return (
        _quantity(each),
        each["value"].number("ceiling"),
        each["says"].quote(),
        each["source"].quote(),
        "" if each["assumes"].value == usual["assumes"].value else each["assumes"].quote(),
        _mark(each),
    )


def _tightest(entries: model.AnswerPath) -> Iterator[model.Fact]:
    """The tightest bound of each quantity."""
    quantities: set[str] = set()
    for each in entries:
        quantity = each["quantity"].value
        if each["tightest"].value and quantity not in quantities:
            quantities.add(quantity)
            yield model.Fact(
                f"{QUANTITIES.get(quantity, quantity)}, at most",
                each["value"].number("ceiling"),
                (each["source"].quote(),),
            )


def _quantity(bound: model.AnswerPath) -> model.Cell:
    quantity: str = bound["quantity"].value
    rate = quantity.removeprefix(RATE)
    if rate != quantity:
        return f"True positive rate at a false positive rate of {rate}"
    return QUANTITIES.get(quantity) or bound["quantity"].quote()


def _mark(bound: model.AnswerPath) -> str:
    if not bound["proven"].value:
        return "refuted"
    return "tightest" if bound["tightest"].value else ""


def _cell(entry: model.AnswerPath, kind: model.Kind) -> model.Cell:
    if isinstance(entry.value, bool):
        return "yes" if entry.value else "no"
    if isinstance(entry.value, list):
        return _few(entry)
    return entry.quote() if isinstance(entry.value, str) else entry.number(kind)


def _few(numbers: model.AnswerPath) -> model.Cell:
    """The first of a list of whole numbers."""
    words: list[str | model.Number] = []
    for place in range(min(len(numbers), MOST_LISTED)):
        words += [", "] * bool(words) + [numbers[place].number("count")]
    return model.Phrase((*words, ", …" if len(numbers) > MOST_LISTED else "")) if words else "none"
