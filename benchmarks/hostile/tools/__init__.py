"""One adapter a tool: a module with ``NAME``, ``RUNS`` and ``ask``, and ``follow`` if it has an answer to looks.

What the tool needs is imported when it is asked, so that the others run without it. An adapter of your own is any
module that can be imported: ``python -m benchmarks run hostile --tools mace,yours.adapter``.
"""
