"""The service and the command: they decode, call `estimators`, and encode; they compute nothing."""
