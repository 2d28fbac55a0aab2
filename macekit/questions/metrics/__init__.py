"""The room of metrics."""
