"""Commands of the wing of audits: shadow models, and what a language model says of its tokens."""

from __future__ import annotations

from app.cli.audits import shadows, text

COMMANDS = (text.add, shadows.add)
