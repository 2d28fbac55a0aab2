"""Reports: what an answer says to a reader (``content``, ``charts``), and a writer for each form it takes.

A report is made from an answer's JSON alone, so that one kept for a year can be rendered anew, and every number
on it is a number of that JSON.
"""
