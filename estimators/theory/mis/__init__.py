"""Membership inference security (Aubinais et al.): what n records of a distribution give away at most."""
