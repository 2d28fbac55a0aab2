"""The room of together."""
