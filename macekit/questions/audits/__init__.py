"""A wing: questions of tables, of models and of releases."""
