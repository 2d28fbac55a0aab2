"""The service and the command `mace`: they carry questions to `macekit` and its answers back."""
