"""Figure 4: are images with a white box riskier than others?

    OMP_NUM_THREADS=1 .venv/bin/python -m examples.mace.figure4 --quick

In the paper only members have the box, so that it is the membership label itself. Here both sides have it, on a tenth
of their images; the paper's design is computed beside it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from estimators import Interval, Scores, advantage, by_group, individual_risk
from estimators.paper import EqualWidth, record_risk
from examples.mace.claims import BINS, Claim, Figure, Row, intervals, markdown, shuffle_labels, spread, together
from examples.mace.data import add_boxes
from examples.mace.gan import js_gan
from examples.mace.network import Floats
from examples.mace.run import run
from examples.mace.study import Study
from examples.theory.table import table

SHARE = 0.1
GROUPS = ("corrupted", "clean")


@dataclass(frozen=True, eq=False)
class BoxModel:
    """D(z) of a JS-GAN that was trained on members of which a tenth have the box."""

    members: Floats
    nonmembers: Floats
    untouched: Floats
    """Of nonmembers without any box: the paper's."""
    groups: tuple[NDArray[np.str_], NDArray[np.str_]]

    @property
    def scores(self) -> Scores:
        """Both sides have the box alike."""
        return Scores.of(self.members, self.nonmembers)

    @property
    def paper(self) -> Scores:
        """Only members have it."""
        return Scores.of(self.members, self.untouched)

    @property
    def box(self) -> Scores:
        """Nonmembers with it against nonmembers without: what the box alone does, nobody here is a member."""
        with_box = self.groups[1] == GROUPS[0]
        return Scores.of(self.nonmembers[with_box], self.nonmembers[~with_box])


@cache
def box_model(study: Study, seed: int) -> BoxModel:
    """One model."""
    sides, rng = study.split(seed), np.random.default_rng([seed, 4])
    side = study.images.side
    members, of_members = add_boxes(sides.members, side, SHARE, rng)
    nonmembers, of_nonmembers = add_boxes(sides.nonmembers, side, SHARE, rng)
    gan = js_gan(members, study.size, seed)
    return BoxModel(
        gan.answers(members), gan.answers(nonmembers), gan.answers(sides.nonmembers), (of_members, of_nonmembers)
    )


def measured(study: Study) -> Figure:
    """Mean risks as in section 4.1.1, groups' own advantages, and what the box does by itself."""
    confidence = together(study.models)
    models = {seed: box_model(study, seed) for seed in study.seeds}
    rows, plugged, limits, own, apart, box = [], [], [], [], [], []
    for seed, each in models.items():
        rows.append(Row.of("D(z), box on both sides", each.scores, seed, models=study.models))
        rows.append(Row.of("D(z), box on members only (the paper's)", each.paper, seed, models=study.models))
        plugged.append((plug_in(each, each.paper), plug_in(each, shuffle_labels(each.paper, seed))))
        limits.append(mean_risks(each, confidence, seed))
        groups = {
            one.label: one.advantage for one in by_group(each.scores, *each.groups, confidence=confidence, seed=seed)
        }
        ends = []
        for name in GROUPS:
            answer = groups[name]
            assert answer is not None
            ends.append(answer.estimate.interval)
        own.append(ends)
        apart.append(
            Interval(ends[0].lower - ends[1].upper, ends[0].upper - ends[1].lower, confidence, ends[0].guarantee)
        )
        box.append(advantage(each.box, confidence=confidence, seed=seed).estimate.interval)
    lines = [
        (
            name,
            spread([both[0][i] for both in plugged]),
            f"{np.mean([both[1][i] for both in plugged]):.3f}",
            intervals(each[name] for each in limits),
            intervals(each[i] for each in own),
        )
        for i, name in enumerate(GROUPS)
    ]
    head = (
        "images",
        "the paper's mean risk of members",
        "the same, labels shuffled",
        "mean risk, box on both sides, a model each",
        "the group's own advantage, a model each",
    )
    claims = (
        Claim(
            "4",
            "images with the box have a higher individual risk on average",
            "own advantage of images with the box less that of clean ones; both sides have the box",
            tuple(apart),
        ),
        Claim(
            "4 (its design)",
            "(ours) the box alone makes D(z) tell images apart that were never trained on",
            "advantage of D(z) for nonmembers with the box against nonmembers without",
            tuple(box),
        ),
    )
    return Figure({"figure4": markdown(rows), "figure4_groups": table(head, lines)}, claims)


def mean_risks(model: BoxModel, confidence: float, seed: int) -> dict[str, Interval]:
    """Of the images of either side, with the box and without, limits of all cells at once."""
    answer = individual_risk(model.scores, confidence=confidence, groups=np.concatenate(model.groups), seed=seed)
    risks, guarantee = answer.groups, answer.cells.simultaneous.guarantee
    assert risks is not None
    return {
        str(name): Interval(float(low), float(high), confidence, guarantee)
        for name, low, high in zip(risks.labels, risks.lower, risks.upper, strict=True)
    }


def plug_in(model: BoxModel, scores: Scores) -> tuple[float, float]:
    """Mean |f_p| over members with the box and without, of 100 slices (section 4.1.1)."""
    risk = np.abs(record_risk(scores, 0.5, reading=EqualWidth(BINS), targets=model.members).risk.values)
    with_box = model.groups[0] == GROUPS[0]
    return float(np.nanmean(risk[with_box])), float(np.nanmean(risk[~with_box]))


if __name__ == "__main__":
    run(__doc__, measured)
