"""Commands of the wing of audits: shadow models, and what a language model says of its tokens."""

from app.cli.audits import shadows, text

COMMANDS = (text.add, shadows.add)
