"""The room of attack."""
