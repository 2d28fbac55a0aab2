"""The room of procedure."""
