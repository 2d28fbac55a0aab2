"""The room of mis."""
