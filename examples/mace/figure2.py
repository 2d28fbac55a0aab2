"""Figure 2: several numbers of a record against one.

OMP_NUM_THREADS=1 .venv/bin/python -m examples.mace.figure2 --quick
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from estimators import LearnedTarget, Scores
from estimators.audits.queries.discriminators import discriminator_maximum, discriminator_vector, hybrid
from estimators.decisions.difference import differences
from examples.mace.claims import Claim, Figure, Row, join, markdown, together
from examples.mace.network import Floats
from examples.mace.run import run
from examples.mace.study import Study, distances, of_closeness, of_discriminator, of_js, of_priv, scores_of, table_of

MAXIMUM, VECTOR = "max D_i(z)", "(D_1(z), D_2(z))"
D, NEAREST, HYBRID = "D(z)", "Eq. 2, nearest synthetic record", "Eq. 4, both"


def against_privgan(study: Study, seed: int) -> dict[str, Scores]:
    """Eqs. 5 and 6."""
    pairs, sides = of_priv(study, seed), study.split(seed)

    def answers(side: Floats) -> Floats:
        return np.column_stack([gan.answers(side) for gan in pairs])

    return {
        MAXIMUM: scores_of(lambda side: discriminator_maximum(answers(side)), sides),
        VECTOR: scores_of(lambda side: discriminator_vector(answers(side)), sides),
    }


def against_js_gan(study: Study, seed: int) -> dict[str, Scores]:
    """Eqs. 2, 3 and 4."""
    rows, gan, sides = table_of(study), of_js(study, seed), study.split(seed)
    away = distances(study, seed, rows)
    return {
        D: of_discriminator(study, seed),
        NEAREST: of_closeness(study, seed, rows),
        HYBRID: Scores.of(hybrid(gan.answers(sides.members), away[0]), hybrid(gan.answers(sides.nonmembers), away[1])),
    }


def compare_queries(
    name: str, study: Study, queries: Sequence[Mapping[str, Scores]], many: str, claim: tuple[str, str]
) -> Figure:
    """One vector against each of the others; all are read by a learned adversary, so that like meets like."""
    ones = [query for query in queries[0] if query != many]
    rows = [
        Row.of(query, scores, seed, models=study.models)
        for seed, each in zip(study.seeds, queries, strict=True)
        for query, scores in each.items()
    ]
    apart = [
        one.estimate.interval
        for seed, each in zip(study.seeds, queries, strict=True)
        for one in differences(
            each,
            [(many, query) for query in ones],
            True,
            target=LearnedTarget(),
            confidence=together(study.models),
            seed=seed,
        )
    ]
    rule = f"advantage of {many} less that of {' and of '.join(ones)}, each learned, same records"
    return Figure({name: markdown(rows)}, (Claim(*claim, rule, tuple(apart)),))


def measured(study: Study) -> Figure:
    """Both parts."""
    return join(
        (
            compare_queries(
                "figure2a",
                study,
                [against_privgan(study, seed) for seed in study.seeds],
                VECTOR,
                ("2a", "both discriminators of privGAN give away much more than the larger of their answers"),
            ),
            compare_queries(
                "figure2b",
                study,
                [against_js_gan(study, seed) for seed in study.seeds],
                HYBRID,
                ("2b", "the hybrid of discriminator and distance gives away more than either"),
            ),
        )
    )


if __name__ == "__main__":
    run(__doc__, measured)
