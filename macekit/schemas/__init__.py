"""What may be asked (``questions``) and what is answered (``answers``): the one place both are written down.

OpenAPI is made from these classes, options are checked against them, and mypy holds the answers to them.
"""
