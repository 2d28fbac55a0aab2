"""Which calls are sure to be answered in milliseconds: those need no worker."""

from __future__ import annotations

import re

from app.operations.forms import rendered
from macekit.call import Call

QUICK = frozenset({"advantage", "individual-risk", "audit", "counts", "theory/dp"})
"""Operations whose time grows with the records alone; the others try metrics, pairs or simulated samples, or go through
training sets."""

SLOW = re.compile(
    rb'\\|"(counts|discrete|estimator|groups|metric|mu|noise_multiplier|rdp|shards|units)"|\[\s*["\[]'
)
"""What can make a small body slow, or import much: curves and accountants, counts of any number of records, vectors,
learned adversaries, as many categories or groups as records, a metric tried at each of them; an escape may hide any."""


def quick(call: Call, body: bytes) -> bool:
    """Whether a small JSON body is sure to be answered at once; a report is a worker's, as pictures take long."""
    return call.operation in QUICK and not rendered(call) and SLOW.search(body) is None
