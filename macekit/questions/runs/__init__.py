"""A wing: answers over time and over trainings: a run of batches, several models of one procedure, series.

``ROWS`` are its operations; ``ANSWERS_FOR`` names what answers a question of the core that asks for more than it has.
"""

from macekit.call import ARROW, CSV, JSON, NDJSON, NPZ, PARQUET
from macekit.operation import Operation

ROWS = (
    Operation(
        "procedure",
        "procedure",
        "What a training procedure gives away, from several models that it trained, and what its next model will",
        "`model` says which model scored each record. The answer is the mean advantage over trainings, an interval for "
        "one new model, how much models vary, the share of the variance that more records of the same models cannot "
        "remove, and how many more models, or records, would settle a verdict.",
        (
            "mace procedure runs.csv --model run",
            "mace procedure runs.parquet --model seed --score loss --member is_train --max-advantage 0.1",
        ),
        bodies=(JSON, CSV, NDJSON, NPZ, ARROW, PARQUET),  # columns have names
    ),
    Operation(
        "series",
        "series",
        "Up to which checkpoint, or step of any series, a limit is kept, with the advantage at every step",
        "Steps come in their order, which was fixed before the scores were seen. `early/loss` and `early/margin` are "
        "two queries of the step `early`, which counts by the riskiest. Or one column says of each record of which "
        "step its score is (`groups`, of counts `by_group`): steps are then in the order of these numbers or names.",
        (
            "mace series scores.csv --score epoch_1,epoch_5,epoch_20 --max-advantage 0.1",
            "mace series epoch_1.npz epoch_5.npz epoch_20.npz --max-advantage 0.1 -o series.html",
            "mace series 's3://bucket/run/' --by step --max-advantage 0.1",
        ),
        most_files=None,
        several=True,
        python="advantage_series",
        by_clusters=True,
        takes_counts=True,
        counts_suffice=True,
        of_groups=True,
    ),
    Operation(
        "frontier",
        "frontier",
        "The most useful of several candidates that is shown to keep a limit",
        "Give scores of each candidate, in an order that was declared before they were seen, the most cautious first, "
        "and how useful each is. `a/loss` and `a/margin` are two queries of the candidate `a`, which counts by the "
        "riskiest. Not one that breaks the limit passes, but with half of 1 - confidence at most; that none may go out "
        "is an answer.",
        (
            "mace frontier scores.csv --score eps_1,eps_4,eps_16 --utility 0.71,0.78,0.8 --max-advantage 0.1",
            "mace frontier a.npz b.npz c.npz --utility 0.71,0.78,0.8 --max-advantage 0.1 --no-in-order -o best.html",
        ),
        most_files=None,
        several=True,
        by_clusters=True,
    ),
)

ANSWERS_FOR = {"gate": ("anytime",), "plan": ("spread", "records_per_model")}
"""Operations of the core that this wing answers (``for_core``), where one of these options is given."""
