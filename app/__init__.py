"""The service and the command: they decode questions, call `estimators`, and encode and draw the answers."""

__version__ = "0.1.0"
