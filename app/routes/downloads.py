"""What a report says of itself in its headers: what a browser may do with it, and under which name it is kept."""

from __future__ import annotations

from macekit.call import CSV, HTML, MARKDOWN, PNG, SVG
from macekit.report.html import CSP

SUFFIXES = {HTML: "html", MARKDOWN: "md", CSV: "csv", SVG: "svg", PNG: "png"}


def headers_of(form: str) -> dict[str, str]:
    """Headers of a report in this form: a page is shown under its own policy, all else is a file."""
    kept = f'filename="mace-report.{SUFFIXES[form]}"'
    if form != HTML:
        return {"Content-Disposition": f"attachment; {kept}"}
    return {
        "Content-Disposition": f"inline; {kept}",
        "Content-Security-Policy": f"{CSP}; frame-ancestors 'self'",
    }
