"""A wing: the questions of ``/v1/theory``, a room for each paper."""
