"""The room of mip."""
