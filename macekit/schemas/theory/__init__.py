"""Questions and answers of ``/v1/theory``, a module for each paper."""
