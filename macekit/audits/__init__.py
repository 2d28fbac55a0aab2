"""What Python alone can ask of the wing of audits: a fitted model and its rows."""
