"""The room of series."""
