"""The room of columns."""
