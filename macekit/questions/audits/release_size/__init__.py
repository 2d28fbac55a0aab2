"""The room of release-size."""
