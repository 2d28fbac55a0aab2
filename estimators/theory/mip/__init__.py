"""Membership inference privacy (Izzo et al.): how much noise keeps every attack near a coin's."""
