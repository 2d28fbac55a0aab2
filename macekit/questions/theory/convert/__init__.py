"""The room of convert."""
