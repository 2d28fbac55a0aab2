"""A report as one HTML document that fetches nothing, runs nothing, and escapes other people's words.

The policy allows the one style sheet inside, by its hash, and nothing else: even a string that was not escaped could
not act.
"""

from base64 import b64encode
from collections.abc import Iterable
from hashlib import sha256
from html import escape
from itertools import count, groupby
from pathlib import Path

from macekit.reports import model
from macekit.reports.drawing import inline_svg
from macekit.reports.formatting import format_number, numeric, words
from macekit.reports.palette import VARIABLES, WORDS

COLOURS = "\n".join(f"  {name}: {colour};" for name, colour in VARIABLES.items())
STYLE = Path(__file__).with_name("report.css").read_text("utf-8").replace("  /* palette.py: VARIABLES */", COLOURS)
STYLE_HASH = f"sha256-{b64encode(sha256(STYLE.encode()).digest()).decode()}"
"""What a page that shows a report in a frame of its own must allow, too: the frame inherits the page's policy."""

CSP = f"default-src 'none'; style-src '{STYLE_HASH}'; img-src data:; base-uri 'none'; form-action 'none'"
"""The policy of a report, said in the document and in the header it is sent with."""

WIDE = 500  # width from which a drawing has a line of the page to itself

UNFOLDED = frozenset({"not-established"})
"""Sections that are never folded: what must not be concluded is not to be overlooked."""

READ_OFF = frozenset({"percent", "guesses", "floor", "ceiling", "roughly"})
"""Kinds of number that are written in another unit than the answer's, or rounded one way."""


def html(report: model.Report) -> str:
    """The whole document."""
    contents = "".join(f'<li><a href="#{each.name}">{_text(each.title)}</a></li>' for each in report.sections)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(CSP, quote=False)}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n<meta name="referrer" content="no-referrer">\n'
        f"<title>{_text(_title(report))}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
        f"<header>\n<h1>{_text(report.title)}</h1>\n{_headline(report.headline)}{_block(report.facts)}"
        "</header>\n"
        f'<nav aria-label="Contents"><ul>{contents}</ul></nav>\n'
        f"<main>\n{''.join(map(_section, report.sections, count()))}</main>\n"
        "<footer><p>Every number here is a number of the answer&#x27;s JSON, rounded; a report holds nothing "
        "that is not in it.</p></footer>\n</body>\n</html>\n"
    )


def _title(report: model.Report) -> str:
    decision = report.headline.decision
    return report.title if decision is None else f"{WORDS[decision].word} – {report.title}"


def _headline(headline: model.Headline) -> str:
    """The decision in a word, a sign and a colour; its reason stands out from the rest of the sentence."""
    sentence = _sentence(headline.sentence)
    if headline.warning is not None:
        sentence += _sentence(headline.warning, "warning" if headline.severe else "remark")
    if headline.covers:
        lines = "".join(f"<li>{_words((line,))}</li>" for line in headline.covers)
        sentence += f'<p class="covers">{model.COVERAGE}</p>\n<ul class="covers">{lines}</ul>\n'
    if headline.signature:
        sentence += f'<p class="sentence"><strong>{_text(headline.signature)}</strong></p>\n'
    if headline.decision is None:
        return f'<div class="headline">{sentence}</div>\n'
    verdict = WORDS[headline.decision]
    badge = f'<p class="badge"><span aria-hidden="true">{verdict.sign}</span> {verdict.word}</p>\n'
    return f'<div class="headline {verdict.style}">{badge}{sentence}</div>\n'


def _sentence(quote: model.Quote, style: str = "sentence") -> str:
    """A sentence of the answer, its first part in bold."""
    first, stop, rest = words(quote).partition(". ")
    return (
        f'<p class="{style}"><bdi class="said" data-path="{escape(quote.path)}">'
        f"<strong>{escape(first + stop)}</strong>{escape(rest)}</bdi></p>\n"
    )


def _section(section: model.Section, place: int) -> str:
    """All but the first are unfolded by their headings; an anchor stands inside, where a link to it unfolds, too."""
    blocks = ""
    for are_figures, run in groupby(section.blocks, lambda block: isinstance(block, model.Figure)):
        text = "".join(map(_block, run))
        # figures stand in a row, as far as they are narrow enough
        blocks += f'<div class="figures">{text}</div>\n' if are_figures else text
    heading = f"<h2>{_text(section.title)}</h2>"
    body = f'<div class="body" id="{section.name}">\n{blocks}</div>'
    if place and section.name not in UNFOLDED:
        return f"<section><details><summary>{heading}</summary>{body}</details></section>\n"
    return f"<section>{heading}{body}</section>\n"


def _block(block: model.Block) -> str:
    match block:
        case model.Paragraph(cells):
            return f"<p>{_words(cells)}</p>\n"
        case model.Bullets(items):
            return f"<ul>{''.join(f'<li>{_words(item)}</li>' for item in items)}</ul>\n"
        case model.Listing(caption, text):
            return f'<figure class="listing"><figcaption>{_text(caption)}</figcaption>{_code(text)}</figure>\n'
        case model.Facts(items):
            tiles = "".join(
                f'<div{_width(fact)}><dt>{_text(fact.label)}</dt><dd class="value">{_cell(fact.value)}</dd>'
                f"<dd>{_words(fact.note)}</dd></div>"
                for fact in items
            )
            return f'<dl class="facts">{tiles}</dl>\n'
        case model.Table():
            return _table(block, block.caption)
        case model.Figure():
            return _figure(block)


def _width(fact: model.Fact) -> str:
    """A fact whose value is a list of names takes a line of its own."""
    return ' class="wide"' if isinstance(fact.value, model.Phrase) else ""


def _figure(figure: model.Figure) -> str:
    """The drawing, what it shows in words, and the numbers behind it."""
    name = f"figure-{figure.name}"
    narrow = ' class="narrow"' if figure.spec.get("width", WIDE) < WIDE else ""
    drawing = (
        f'<div class="drawing" tabindex="0" role="region" aria-label="Chart: {_text(figure.title)}">'
        f"{inline_svg(figure, name)}</div>"
    )
    return (
        f'<figure id="{name}"{narrow}><figcaption>{_text(figure.title)}</figcaption>{drawing}'
        f'<p class="description">{_text(figure.description)}</p>'
        f"<details><summary>The numbers behind “{_text(figure.title)}”</summary>"
        f"{_table(figure.table, f'Numbers: {figure.title}')}</details>"
        "</figure>\n"
    )


def _table(table: model.Table, label: str) -> str:
    """A table in a frame that is moved sideways, also by keys, where it is too wide."""
    right = numeric(table)
    heads = "".join(map(_head, table.head, (False, *right[1:])))
    head = f"<thead><tr>{heads}</tr></thead>" if any(table.head) else ""
    rows = "".join(_row(row, right) for row in table.rows)
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{_text(label)}"><table>'
        f"<caption>{_text(table.caption)}</caption>{head}<tbody>{rows}</tbody></table></div>\n{_note(table)}"
    )


def _note(table: model.Table) -> str:
    more = (
        f'<span class="more">{table.more:,}</span> more in the JSON, at <code>{_text(table.where)}</code>.'
        if table.more
        else ""
    )
    text = " ".join(filter(None, (_text(table.note), more)))
    return f'<p class="note">{text}</p>\n' if text else ""


def _head(name: str, right: bool) -> str:
    if not name:
        return "<td></td>"
    return f'<th scope="col" class="n">{_text(name)}</th>' if right else f'<th scope="col">{_text(name)}</th>'


def _row(row: Iterable[model.Cell], right: Iterable[bool]) -> str:
    first, *rest = zip(row, right, strict=True)
    cells = "".join(f'<td class="n">{_cell(c)}</td>' if at_right else f"<td>{_cell(c)}</td>" for c, at_right in rest)
    return f'<tr><th scope="row">{_cell(first[0])}</th>{cells}</tr>'


def _words(cells: Iterable[model.Cell]) -> str:
    return "".join(map(_cell, cells))


def _cell(cell: model.Cell) -> str:
    match cell:
        case model.Number():
            return _number(cell)
        case model.Quote() | model.Untrusted():
            kind = "said" if isinstance(cell, model.Quote) else "name"
            path = f' data-path="{escape(cell.path)}"' if cell.path else ""
            return f'<bdi class="{kind}"{path}>{escape(words(cell))}</bdi>'
        case model.Phrase(parts):
            return _words(parts)
        case _:
            return _text(cell)


def _number(number: model.Number) -> str:
    """What is read, and beside it what is meant: all digits, and where in the answer they stand."""
    value = "" if number.value is None else repr(number.value)
    kind = f' data-kind="{number.kind}"' if number.kind in READ_OFF else ""
    return f'<data value="{value}" data-path="{escape(number.path)}"{kind}>{format_number(number)}</data>'


def _code(text: str) -> str:
    return f"<pre><code>{chr(10).join(_text(line) for line in text.split(chr(10)))}</code></pre>"


def _text(text: str) -> str:
    return escape(words(text))
