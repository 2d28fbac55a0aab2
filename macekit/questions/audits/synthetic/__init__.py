"""The room of synthetic."""
