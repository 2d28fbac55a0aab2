"""The service and the command `mace`: they carry questions to `macekit` and its answers back."""

from macekit.own_packages import put_off

WELL_KNOWN = "/.well-known/jwks.json"
"""Where a service publishes the keys that verify its signed answers."""

# Not in macekit: a process of a user is theirs.
put_off("numpy.f2py", "numpy.polynomial", "numpy.testing", "scipy.fft")
