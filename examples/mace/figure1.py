"""Figure 1: discrete against continuous queries, models against data, the best attack against heuristics.

OMP_NUM_THREADS=1 .venv/bin/python -m examples.mace.figure1 --quick
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from estimators import AttackAdvantage, Scores, ThresholdRule, TopRule, attack_advantage, paired_difference
from estimators.attack.rules import judge_records
from estimators.audits.queries import encode_points, synthetic_scores
from estimators.decisions.difference import differences
from estimators.paper import EqualWidth, Kernel, record_risk
from examples.mace.claims import BINS, Claim, Figure, Row, intervals, intervals_of, join, markdown, spread, together
from examples.mace.run import run
from examples.mace.study import Study, balance, of_closeness, of_critic, of_discriminator, synthetic_records, table_of
from examples.theory.table import table

D = "D(z)"
NEAREST = "Eq. 2, nearest synthetic record"
HISTOGRAM, KERNELS, LOGAN = "100 slices", "kernels", "LOGAN: top n1"


def heldout_guesses(scores: Scores, seed: int) -> dict[str, Scores]:
    """What three rules, all made on one half of the members and as many nonmembers, guess of all other records.

    Rules that are judged where they were made cannot lose to a rule that was not (F1 of the audit of the paper).
    """
    half = scores.n_members // 2
    learn = Scores.of(scores.members[:half], scores.nonmembers[:half])
    rest = Scores.of(scores.members[half:], scores.nonmembers[half:])
    every = np.concatenate([rest.members, rest.nonmembers])
    guesses = {}
    for name, reading in ((HISTOGRAM, EqualWidth(BINS)), (KERNELS, Kernel())):
        accused = record_risk(learn, 0.5, reading=reading, targets=every).risk.values > 0.0
        guesses[name] = Scores.of(accused[: rest.n_members], accused[rest.n_members :])
    cut = attack_advantage(learn, TopRule(), seed=seed, metrics=[]).cut
    assert cut is not None  # a half of these records is accused
    guesses[LOGAN] = Scores.of(*judge_records(rest, ThresholdRule(cut), 0.5, seed).guesses)
    return guesses


def part_a(study: Study) -> Figure:
    """WGAN-GP: W_N, U_N and LOGAN; and the rules behind them on records that they were not made on."""
    scores = [of_critic(study, seed) for seed in study.seeds]
    rows = [Row.of(D, balance(each), seed, models=study.models) for seed, each in zip(study.seeds, scores, strict=True)]
    guesses = [heldout_guesses(each, seed) for seed, each in zip(study.seeds, scores, strict=True)]
    confidence = together(study.models)
    by_rule = {
        name: [attack_advantage(each[name], confidence=confidence, metrics=[]) for each in guesses]
        for name in (HISTOGRAM, KERNELS, LOGAN)
    }
    heldout = table(
        ("rule, judged on records that it was not made on", "its advantage", "95%, a model each"),
        [(name, spread([one.value for one in each]), _own(each)) for name, each in by_rule.items()],
    )
    pairs = [(HISTOGRAM, LOGAN), (HISTOGRAM, KERNELS)]
    apart = [differences(each, pairs, True, confidence=confidence) for each in guesses]
    return Figure(
        {"figure1a": markdown(rows), "figure1a_heldout": heldout},
        (
            Claim(
                "1a",
                "the attack behind W_N beats the heuristic that reads the same D(z) (LOGAN)",
                "advantage of the rule of 100 slices less LOGAN's, on records that neither was made on",
                tuple(both[0].estimate.interval for both in apart),
            ),
            Claim(
                "1a",
                "a discrete query gives a higher advantage than a continuous one",
                "advantage of the rule of 100 slices less that of the kernels, on records that neither was made on",
                tuple(both[1].estimate.interval for both in apart),
            ),
        ),
    )


def part_b(study: Study) -> Figure:
    """JS-GAN: who has the model against who has the data."""
    rows, apart = [], []
    for seed in study.seeds:
        model, data = of_discriminator(study, seed), of_closeness(study, seed, table_of(study))
        rows += [Row.of(name, scores, seed, models=study.models) for name, scores in ((D, model), (NEAREST, data))]
        apart.append(paired_difference(model, data, confidence=together(study.models), seed=seed))
    claim = Claim(
        "1b",
        "with the synthetic data alone the advantage is a lot smaller than with the model",
        f"advantage of {D} less that of {NEAREST}, same records",
        intervals_of(apart),
    )
    return Figure({"figure1b": markdown(rows)}, (claim,))


def part_c(study: Study) -> Figure:
    """JS-GAN: the best attack against the heuristics of Hayes and of Hilprecht, with as many nonmembers as members.

    The radius of Eq. 1 is the median distance of the other nonmembers, who stand on no side here.
    """
    names = {f"{D}, the highest n1 (LOGAN)": 0, "distance, the nearest n1": 1, "Eq. 1, the highest n1 (Monte Carlo)": 2}
    attacks: dict[str, list[AttackAdvantage]] = {name: [] for name in names}
    floors: dict[str, list[Row]] = {name: [] for name in names}
    for seed in study.seeds:
        sides, synthetic = study.split(seed), synthetic_records(study, seed)[: table_of(study)]
        n = len(sides.members)
        tables = encode_points(sides.members, sides.nonmembers[:n], synthetic, sides.nonmembers[n:])
        ball = synthetic_scores(tables, ["ball"], metric="l2")
        queries = (
            of_discriminator(study, seed),
            of_closeness(study, seed, table_of(study)),
            Scores.of(ball.members["ball"], ball.nonmembers["ball"]),
        )
        for name, scores in zip(names, map(balance, queries), strict=True):
            floors[name].append(Row.of(name, scores, seed, models=study.models))
            attacks[name].append(
                attack_advantage(scores, TopRule(), confidence=together(3 * study.models), seed=seed, metrics=[])
            )
    extra = {
        "the heuristic": {name: spread([one.value for one in each]) for name, each in attacks.items()},
        "the heuristic, certified": {name: _own(each) for name, each in attacks.items()},
    }
    claim = Claim(
        "1c",
        "the best attack beats the heuristics that read the same query, for the model and for the data",
        "advantage of the best attack less that of the heuristic, three queries of each model",
        tuple(one.gap.interval for each in attacks.values() for one in each),
    )
    return Figure({"figure1c": markdown((row for each in floors.values() for row in each), extra)}, (claim,))


def _own(attacks: Iterable[AttackAdvantage]) -> str:
    return intervals(each.estimate.interval for each in attacks)


def measured(study: Study) -> Figure:
    """All three parts."""
    return join(part(study) for part in (part_a, part_b, part_c))


if __name__ == "__main__":
    run(__doc__, measured)
