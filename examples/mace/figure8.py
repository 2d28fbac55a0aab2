"""Figure 8: a classifier's last layer but one (white box) against its answer (black box).

OMP_NUM_THREADS=1 .venv/bin/python -m examples.mace.figure8 --quick
"""

from __future__ import annotations

import numpy as np

from estimators import LearnedTarget, Scores, paired_difference
from estimators.audits.queries.white_box import hidden_features
from examples.mace.claims import Claim, Figure, Row, intervals_of, markdown, spread, together
from examples.mace.data import Data, Whole, breast_cancer, split
from examples.mace.gan import classifier
from examples.mace.network import Floats
from examples.mace.run import run
from examples.mace.study import Study, scores_of

BLACK, WHITE = "its answer (black box)", "the two units before it (white box)"


def digits(study: Study) -> Data:
    """Odd or even."""
    data = study.images
    return Data(f"{data.name}, odd or even", data.x, data.y % 2)


def queries(study: Study, data: Data, share: float, seed: int) -> tuple[Scores, Scores, tuple[float, float]]:
    """Black box, white box, and the classifier's accuracy on either side."""
    sides = split(data, seed, share, study.nonmembers)
    model = classifier(sides.members, sides.member_labels.astype(np.float64), study.size, seed)
    right = (
        _accuracy(model.answers(sides.members), sides.member_labels),
        _accuracy(model.answers(sides.nonmembers), sides.nonmember_labels),
    )
    white = scores_of(lambda side: hidden_features(model.units(side)), sides)
    return scores_of(model.answers, sides), white, right


def _accuracy(answers: Floats, labels: Whole) -> float:
    return float(((answers > 0.5) == (labels == 1)).mean())


def measured(study: Study) -> Figure:
    """Images, and the tumours of the breast cancer data, of which half are members: a tenth would be 57."""
    rows, claims = [], []
    extra: dict[str, dict[str, str]] = {"accuracy, members": {}, "accuracy, nonmembers": {}}
    for data, share in ((digits(study), 0.1), (breast_cancer(), 0.5)):
        apart, right = [], []
        names = [f"{data.name}: {query}" for query in (BLACK, WHITE)]
        for seed in study.seeds:
            black, white, accuracy = queries(study, data, share, seed)
            rows += [
                Row.of(name, scores, seed, models=study.models)
                for name, scores in zip(names, (black, white), strict=True)
            ]
            apart.append(paired_difference(white, black, 0.5, LearnedTarget(), together(study.models), seed))
            right.append(accuracy)
        for column, side in zip(extra.values(), zip(*right, strict=True), strict=True):
            column[names[0]] = spread(side)
        claims.append(
            Claim(
                "8",
                f"{data.name}: the white box gives away more than the black box",
                "advantage of the two units less that of the answer, each learned, same records",
                intervals_of(apart),
            )
        )
    return Figure({"figure8": markdown(rows, extra)}, tuple(claims))


if __name__ == "__main__":
    run(__doc__, measured)
