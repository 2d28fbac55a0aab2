"""The room of counts."""
