"""The room of model."""
