"""Methods of this wing, as ``/v1/methods`` tells them."""

from estimators.runs.procedure.answer import TRAININGS
from estimators.statement import IID
from macekit.schemas.methods import SIMULATED, MethodAnswer, ask

METHODS: list[MethodAnswer] = [
    {
        "name": "series",
        "asks": [ask("series", "steps"), ask("series", "last_passed")],
        "states": "the advantage of the riskiest query at every step, and up to which a limit is kept",
        "assumes": IID + "; the steps and their order were fixed in advance",
        "guarantee": SIMULATED.replace("docs/coverage.md", "docs/releases.md"),
        "reference": "a fixed sequence of tests (docs/releases.md)",
    },
    {
        "name": "the best that may go out",
        "asks": [ask("frontier", "best"), ask("frontier", "steps")],
        "states": "which of several candidates keep a limit, and the most useful of them",
        "assumes": IID + "; the candidates, and their order, were fixed in advance",
        "guarantee": SIMULATED.replace("docs/coverage.md", "docs/releases.md"),
        "reference": "a fixed sequence, fallback or Holm's procedure (docs/releases.md)",
    },
    {
        "name": "training procedure",
        "asks": [ask("procedure", "advantage"), ask("procedure", "next_model")],
        "states": "the mean advantage over trainings of several models, and that of the next one",
        "assumes": TRAININGS + "; what models give away varies without rare extremes",
        "guarantee": "holds in simulation where leaks vary as normal numbers do, not where rare trainings give away "
        "much more (docs/procedure.md)",
        "reference": "Student and Hall (1992); docs/methods.md, several models of one procedure",
    },
    {
        "name": "training procedure, however trainings vary",
        "asks": [ask("procedure", "any_variation")],
        "states": "the mean advantage over trainings of several models",
        "assumes": TRAININGS,
        "guarantee": "proven at every number of models, of whatever law",
        "reference": "Waudby-Smith and Ramdas (2023); docs/methods.md, several models of one procedure",
    },
]
