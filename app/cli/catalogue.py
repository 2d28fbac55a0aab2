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
        "how well the best attacker tells members from nonmembers, certified",
        (
            "mace estimate scores.csv",
            "mace estimate scores.parquet --score loss --member is_train --max-advantage 0.1",
            "mace estimate --members train.npy --nonmembers test.npy --prior 0.1",
            "zcat scores.csv.gz | mace estimate --json",
        ),
    ),
    Question(
        "report",
        "report",
        "a report on one sample, with pictures",
        (
            "mace report scores.csv -o report.html",
            "mace report scores.parquet --group age_band --max-advantage 0.1 -o report.html",
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
        "several scores of one model, or several models, compared",
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
        "whether the scores contradict a promised epsilon and delta",
        ("mace audit scores.csv --claimed-epsilon 1 --claimed-delta 1e-5",),
    ),
    Question(
        "plan",
        "plan",
        "how many records a decision needs, or an interval of a given width",
        ("mace plan --expected 0.05 --max-advantage 0.1", "mace plan --expected 0.2 --width 0.1 --prior 0.1"),
        most_files=0,
    ),
    Question(
        "counts",
        "counts",
        "scores in, counts out that can be merged with any others",
        ("mace counts shard1.parquet -o shard1.json", "mace counts scores.csv --json"),
    ),
)

THEORY = (
    Question(
        "theory dp",
        "theory/dp",
        "what a promise of differential privacy allows an attacker, with all known bounds",
        (
            "mace theory dp --epsilon 1 --delta 1e-5 --prior 0.1",
            "mace theory dp --noise-multiplier 1.1 --steps 1000 --sampling-rate 0.01 --delta 1e-5",
            "mace theory dp --rdp 2:0.1,4:0.3,16:1.2 --delta 1e-5",
            "mace theory dp --advantage 0.1",
        ),
        most_files=0,
    ),
    Question(
        "theory together",
        "theory/together",
        "a claimed epsilon and delta: what theory allows, what was measured, and whether they agree",
        ("mace theory together scores.csv --claimed-epsilon 1 --claimed-delta 1e-5",),
    ),
    Question(
        "theory mip",
        "theory/mip",
        "membership inference privacy: the noise that keeps every attack within eta of guessing",
        (
            "mace theory mip draws.npy --eta 0.1",
            "mace theory mip swaps.parquet --before b0,b1 --after a0,a1 --record who --eta 0.1",
        ),
    ),
    Question(
        "theory mip-finite",
        "theory/mip-finite",
        "membership inference privacy of an algorithm with finitely many outputs, exactly",
        ("mace theory mip-finite laws.npy --n 6 --k 3",),
    ),
    Question(
        "theory mis",
        "theory/mis",
        "membership inference security: what any algorithm can reveal about data in categories",
        (
            "mace theory mis people.csv --column city --sizes 1000,10000",
            "mace theory mis counts.csv --tallies records --delta 0.1",
        ),
    ),
    Question(
        "theory mis-overfitting",
        "theory/mis-overfitting",
        "membership inference security: an upper limit from training and held-out losses",
        (
            "mace theory mis-overfitting losses.csv --score loss --member is_train",
            "mace theory mis-overfitting --members train.npy --nonmembers heldout.npy",
        ),
    ),
    Question(
        "theory pmp-exponential",
        "theory/pmp-exponential",
        "practical membership privacy of an exponential mechanism, on these records",
        ("mace theory pmp-exponential losses.csv --epsilon 1 --sensitivity 1",),
    ),
    Question(
        "theory pmp-gaussian",
        "theory/pmp-gaussian",
        "practical membership privacy of a sum or a mean with Gaussian noise, on these records",
        ("mace theory pmp-gaussian points.npy --clip 1 --sigma 0.1 --delta 1e-5",),
    ),
)
"""The questions of theory, asked as `mace theory NAME`."""
