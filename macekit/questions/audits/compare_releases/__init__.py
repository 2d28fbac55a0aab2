"""The room of compare-releases."""
