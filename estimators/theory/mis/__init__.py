"""Membership inference security (Aubinais, Gassiat, Piantanida): what any algorithm may give away."""
