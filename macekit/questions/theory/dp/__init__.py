"""The room of dp."""
