"""The room of risk."""
