"""The room of plan."""
