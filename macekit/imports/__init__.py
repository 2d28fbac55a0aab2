"""A wing: results that other tools wrote, read as scores of mace's own. The core never imports it.

``peers`` is the table of tools, ``reading`` reads a file by it.
"""
