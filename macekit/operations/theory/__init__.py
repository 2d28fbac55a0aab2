"""The operations of ``/v1/theory``: a module for each paper, a function for each operation."""
