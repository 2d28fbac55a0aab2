"""The questions the shell can ask: what each is called here and in the service, and how it is asked."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Question:
    """One command: the operation it asks, how many files that takes, and what its help begins with."""

    name: str
    operation: str
    summary: str
    examples: tuple[str, ...]
    most_files: int | None = 1


QUESTIONS = (
    Question(
        "estimate",
        "advantage",
        "the optimal membership advantage, certified, and everything beside it",
        (
            "mace estimate scores.csv",
            "mace estimate scores.parquet --score loss --member is_train --threshold 0.1",
            "mace estimate --members train.npy --nonmembers test.npy --prior 0.1",
            "zcat scores.csv.gz | mace estimate --json",
        ),
    ),
    Question(
        "report",
        "report",
        "everything about one sample, as a report to look at",
        (
            "mace report scores.csv -o report.html",
            "mace report scores.parquet --group age_band --threshold 0.1 -o report.html",
            "mace report scores.csv --card -o card.md",
            "mace report answer.json -o report.html",
        ),
    ),
    Question(
        "risk",
        "individual-risk",
        "the risk of each record and of each group",
        (
            "mace risk scores.csv --group age_band",
            "mace risk scores.parquet --top 100",
            "mace risk scores.csv -o risks.parquet",
        ),
    ),
    Question(
        "compare",
        "compare",
        "several scores of one model, or several models, side by side",
        (
            "mace compare scores.csv --score loss,margin",
            "mace compare before.parquet after.parquet --against before",
            "mace compare a.npy b.npy c.npy --no-paired",
        ),
        most_files=None,
    ),
    Question(
        "metrics",
        "metrics",
        "several accuracy-like metrics of one sample",
        ("mace metrics scores.csv", "mace metrics scores.csv --metrics accuracy,f_beta --prior 0.1"),
    ),
    Question(
        "audit",
        "audit",
        "a promised epsilon and delta against the scores",
        ("mace audit scores.csv --claimed-epsilon 1 --claimed-delta 1e-5",),
    ),
    Question(
        "plan",
        "plan",
        "how many records a decision or a width takes",
        ("mace plan --expected 0.05 --threshold 0.1", "mace plan --expected 0.2 --width 0.1 --prior 0.1"),
        most_files=0,
    ),
    Question(
        "counts",
        "counts",
        "scores in, counts out that merge with any others",
        ("mace counts shard1.parquet -o shard1.json", "mace counts scores.csv --json"),
    ),
)
