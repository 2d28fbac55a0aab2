"""Results to answers: statements as plain values (``statements``), answers as bytes (``wire``), rows as tables."""
