"""The client: the questions as Python calls, answered in this process or by a server."""
