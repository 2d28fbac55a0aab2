"""What reports of ``/v1/theory`` say."""

from __future__ import annotations

from collections.abc import Callable

from app.report.content.album import Album
from app.report.content.theory import dp, mip, mis, pmp, together
from app.report.model import Context, Report
from app.report.place import Place

CONTENTS: dict[str, Callable[[Place, Album, Context], Report]] = {
    "theory/dp": dp.PROMISE.content,
    "theory/together": together.content,
    "theory/mip": mip.NOISE.content,
    "theory/mip-finite": mip.FINITE.content,
    "theory/mis": mis.DISCRETE.content,
    "theory/mis-overfitting": mis.OVERFITTING.content,
    "theory/pmp-exponential": pmp.EXPONENTIAL.content,
    "theory/pmp-gaussian": pmp.GAUSSIAN.content,
}
