"""The room of advantage."""
