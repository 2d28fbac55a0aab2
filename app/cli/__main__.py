"""`python -m app.cli`."""

import atexit
import gc
import sys

from app.cli import main

atexit.register(gc.freeze)  # nothing is looked for among what ends anyhow
sys.exit(main())
