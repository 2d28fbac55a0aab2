"""The room of gate."""
