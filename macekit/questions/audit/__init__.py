"""The room of audit."""
