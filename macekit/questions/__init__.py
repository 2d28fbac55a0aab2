"""One room an operation: the folder itself says what is asked and answered; beside it its work and its page."""
