"""The room of compare."""
