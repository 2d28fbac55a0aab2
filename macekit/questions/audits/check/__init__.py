"""The room of check."""
