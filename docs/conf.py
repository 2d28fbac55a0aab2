"""How Sphinx makes the guide of these pages and of the docstrings: `scripts/docs`."""

import gc
import importlib
import inspect
import re
from enum import Enum
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.pycode.parser import Parser

import estimators
from macekit.call import __version__

gc.disable()  # a build is soon over, and looking for what nothing refers to would take a quarter of it
Parser.parse_definition = lambda _: None  # nobody asks where a definition ends, which took a tenth of it

project = "mace"
version = release = __version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]

html_theme = "furo"
html_title = f"mace {version}"
html_copy_source = html_use_index = html_domain_indices = html_show_copyright = html_show_sphinx = False

myst_heading_anchors = 4  # `page.md#a-heading`, as GitHub has it
myst_enable_extensions = ["attrs_block"]
suppress_warnings = ["myst.header"]  # a page may begin below its first level

autodoc_default_options = {"members": True, "no-value": True}
default_role = "code"
smartquotes = False  # quotes as they are written; to turn them took another tenth of a build
napoleon_use_ivar = True  # an attribute that the docstring explains is listed once


def elsewhere(app: Sphinx, _what: str, name: str, item: object, skip: bool, _options: object) -> bool | None:
    """Leave out of a module what `estimators` itself offers: it stands on that page."""
    if isinstance(item, dict) and len(repr(item)) > 10_000:
        return True  # a table that has a page of its own
    module = app.env.temp_data.get("autodoc:module", "estimators")
    if module != "estimators" and name in estimators.__all__ and name in importlib.import_module(module).__dict__:
        return skip or getattr(estimators, name) is item
    return None


def plain_bars(_app: Sphinx, _what: str, _name: str, _item: object, _options: object, lines: list[str]) -> None:
    """Bars of a formula are bars: reStructuredText would take what stands between two of them for a name."""
    example = False
    for place, line in enumerate(lines):
        example = bool(line.strip()) and (example or line.lstrip().startswith(">>>"))
        if not example:
            parts = line.split("``")
            lines[place] = "``".join([each if at % 2 else each.replace("|", r"\|") for at, each in enumerate(parts)])


class Written(str):
    """Text that stands in a signature as it is."""

    def __repr__(self) -> str:
        return str(self)


def as_written(
    _app: Sphinx, what: str, _name: str, item: Any, _options: object, arguments: str | None, _returns: object
) -> tuple[str, str | None] | None:
    """Give arguments by the names of types that the source has; of what no reader makes, none."""
    if not arguments:
        return None
    if what == "class" and "Args:" not in (inspect.getdoc(item) or ""):
        return "", None
    signature = inspect.signature(item)
    parameters = [
        each.replace(annotation=Written(each.annotation)) if isinstance(each.annotation, str) else each
        for each in signature.parameters.values()
        if each.name not in ("self", "cls")
    ]
    long = [each.replace(default=...) if len(repr(each.default)) > 40 else each for each in parameters]
    shown = [each.replace(default=Written(each.default)) if isinstance(each.default, Enum) else each for each in long]
    returns = None if what == "class" else signature.return_annotation
    return str(inspect.Signature(shown)), returns if isinstance(returns, str) else None


def take_along(_app: Sphinx, _page: str, source: list[str]) -> None:
    """Offer a page outside of this folder as a file: it is not part of the guide."""
    source[0] = re.sub(r"\[([^]]+)\]\(((?:\.\./)+(?!docs)[\w/.-]+\.md)\)", r"{download}`\1 <\2>`", source[0])


def without_styles(app: Sphinx, error: Exception | None) -> None:
    """Say by attributes of SVG what the theme says by styles, which the policy of the service does not allow."""
    for page in Path(app.outdir).rglob("*.html") if error is None else ():
        text = page.read_text(encoding="utf-8")
        page.write_text(re.sub(r' style="(opacity|display): ([\w%]+);?"', r' \1="\2"', text), encoding="utf-8")


def setup(app: Sphinx) -> None:
    """Connect what stands above."""
    app.connect("source-read", take_along)
    app.connect("autodoc-process-docstring", plain_bars)
    app.connect("autodoc-process-signature", as_written)
    app.connect("autodoc-skip-member", elsewhere)
    app.connect("build-finished", without_styles)
