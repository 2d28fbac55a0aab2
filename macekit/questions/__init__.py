"""One room an operation: what it asks and answers (``contract``), its work, its page."""
