"""The service and the command `mace`: they carry questions to `macekit` and its answers back."""

WELL_KNOWN = "/.well-known/jwks.json"
"""Where a service publishes the keys that verify its signed answers."""
