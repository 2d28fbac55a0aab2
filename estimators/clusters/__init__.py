"""Rows that come in clusters - of a person, a document, a model - and what they are worth (docs/clusters.md).

Whole clusters are the unit of sampling: they are held out together, and every limit counts them.
"""
