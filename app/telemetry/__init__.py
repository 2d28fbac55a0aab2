"""What the service tells about itself: logs, metrics, traces. Never bodies, scores, keys or query strings."""
