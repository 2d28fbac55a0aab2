"""The service and the command `mace`: they carry questions to `macekit` and its answers back."""

import os

from macekit.own_packages import put_off

WELL_KNOWN = "/.well-known/jwks.json"  # where a service publishes the keys that verify its signed answers

# Not in macekit: a process of a user is theirs.
put_off("numpy.f2py", "numpy.ma", "numpy.polynomial", "numpy.testing", "scipy.fft")

# It would look through all that is installed for plugins of its own: a hundredth of a second in a small environment.
os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
