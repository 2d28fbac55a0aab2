"""The room of pmp."""
