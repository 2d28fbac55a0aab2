"""The table of operations: what is said of each is said here, once.

HTTP routes, OpenAPI, the shell, the page, reports and `macekit` iterate over it. An operation's code is found by its
``room`` below ``macekit/questions``: question and answer in ``contract``, ``answer`` in ``work``,
``content`` in ``page``. docs/architecture.md has the recipe for a new one.

This module knows no schema and imports nothing heavy, so that `mace --help` is quick.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from macekit.call import ARROW, CSV, HTML, JSON, MARKDOWN, NDJSON, NPY, NPZ, PARQUET, PNG, SVG, Call

TABLES = (CSV, NDJSON, NPY, NPZ, ARROW, PARQUET)
ANY_BODY = (JSON, *TABLES)
WORDS = (JSON, HTML, MARKDOWN, CSV)
PICTURES = (*WORDS, SVG, PNG)


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation: its names, what is said of it, and what it takes and answers."""

    name: str
    """The address is ``/v1/NAME``."""
    command: str
    """`mace COMMAND`, ``macekit.COMMAND``; empty where only HTTP has it."""
    summary: str
    about: str
    examples: tuple[str, ...] = ()
    """Lines for the shell."""
    stem: str = ""
    """What its classes and modules are called; the last part of the name unless said otherwise."""
    bodies: tuple[str, ...] = ANY_BODY
    """Media types of the body."""
    forms: tuple[str, ...] = PICTURES
    """Media types of the answer, the usual one first; all but JSON and ``rows`` are reports."""
    rows: tuple[str, ...] = ()
    """Forms that hold the records themselves."""
    most_files: int | None = 1
    """Files the shell takes; None for any number."""
    arrays: tuple[str, ...] = ()
    """Fields that hold arrays; a body that is one array, or a table, fills the first."""
    tables: tuple[str, ...] = ()
    """Fields that hold whole tables; a body that is one table says of each row to which it belongs."""
    python: str = ""
    """Its function in ``macekit``: the command, unless said otherwise."""
    several: bool = False
    """Whether it is asked of several queries by name, each with scores of its own; the columns of a table are these."""
    sides: bool = False
    """Whether the two arrays are the two sides of a table: what was trained on, and what was not."""
    takes_counts: bool = False
    """Whether counts as /v1/counts answers them may stand in place of scores."""
    counts_suffice: bool = False
    """Whether the shell may count a large file as it reads it and ask about the counts."""
    by_clusters: bool = False
    """Whether rows may come in clusters that ``cluster`` names."""
    of_groups: bool = False
    """Whether each group of one sample may be asked about in place of several queries."""
    wing: str = ""
    """The part of ``macekit.questions`` that it is in; empty for the core."""
    inline: bool = False
    """Whether the time grows with the records alone, so that a small JSON body needs no worker."""

    @property
    def paper(self) -> bool:
        """Whether it is one of ``/v1/theory``."""
        return self.wing == "theory"

    def __post_init__(self) -> None:
        if not self.python:
            object.__setattr__(self, "python", self.command.replace(" ", ".").replace("-", "_"))

    @property
    def needed_tables(self) -> tuple[str, ...]:
        """The tables that must be there: all but the reference."""
        return tuple(name for name in self.tables if name != "reference")

    @property
    def key(self) -> str:
        """The stem as a name in Python: ``mip_finite``."""
        return (self.stem or self.name.rpartition("/")[2]).replace("-", "_")

    @property
    def model(self) -> str:
        """What its question and its answer are called: ``MipFinite`` of ``MipFiniteQuestion``."""
        return "".join(part.capitalize() for part in self.key.split("_"))

    @property
    def room(self) -> str:
        """Where its contract, work and page stand below ``macekit.questions``; a paper's operations share a room."""
        return f"{self.wing}.{self.key.partition('_')[0] if self.paper else self.key}".lstrip(".")


OPERATIONS = (
    Operation(
        "advantage",
        "estimate",
        "How well the best attacker tells members from nonmembers, certified, with a verdict",
        "The answer is an advantage with a certified interval. Give `max_advantage` for a verdict, and "
        "`claimed_epsilon` to check a promise of differential privacy.",
        (
            "mace estimate scores.csv",
            "mace estimate scores.parquet --score loss --member is_train --max-advantage 0.1",
            "mace estimate --members train.npy --nonmembers test.npy --prior 0.1",
            "zcat scores.csv.gz | mace estimate --json",
        ),
        takes_counts=True,
        counts_suffice=True,
        by_clusters=True,
        inline=True,
    ),
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
        wing="runs",
    ),
    Operation(
        "individual-risk",
        "risk",
        "The risk of each record and of each group",
        "`Accept: text/csv` or an Arrow stream returns the records alone, HTML a report.",
        (
            "mace risk scores.csv --group age_band",
            "mace risk scores.parquet --top 100",
            "mace risk scores.csv -o risks.parquet",
        ),
        stem="risk",
        forms=(JSON, CSV, ARROW, HTML, MARKDOWN, SVG, PNG),
        rows=(CSV, ARROW),
        by_clusters=True,
        inline=True,
    ),
    Operation(
        "metrics",
        "metrics",
        "Several accuracy-like metrics of one sample",
        "Without `metrics`, the answer has every preset.",
        ("mace metrics scores.csv", "mace metrics scores.csv --metrics accuracy,f_beta --prior 0.1"),
        takes_counts=True,
        counts_suffice=True,
        by_clusters=True,
    ),
    Operation(
        "attack",
        "attack",
        "The advantage of an attack that you have, beside that of the best attacker",
        "Give the attack's guesses (true or false for each record), or its scores and the `rule` by which it guesses: "
        "a threshold, the top records, or a quantile. The answer has the attack's own advantage, its error rates and "
        "metrics, and how far it is from the optimum of the same records.",
        (
            "mace attack guesses.csv",
            "mace attack scores.csv --threshold 0.5 --side below",
            "mace attack scores.csv --rule top",
            "mace attack scores.csv --quantile 0.9 --of nonmembers",
        ),
        by_clusters=True,
        inline=True,
    ),
    Operation(
        "compare",
        "compare",
        "Several scores of one model, or several models, compared",
        "Intervals hold for all queries together. Give `max_advantage` for a decision about the riskiest of them.",
        (
            "mace compare scores.csv --score loss,margin",
            "mace compare scores.csv --score loss,margin --max-advantage 0.1",
            "mace compare before.parquet after.parquet --against before",
            "mace compare a.npy b.npy c.npy --no-paired",
        ),
        most_files=None,
        several=True,
        by_clusters=True,
    ),
    Operation(
        "compare-releases",
        "compare-releases",
        "Which of several releases of one training set gives away least, each by its riskiest query",
        "A query called `model/loss` is the query `loss` of the release `model`; without a stroke it is a release by "
        "itself. Row i is the same record in all of them, so that differences are judged record by record. Intervals "
        "hold for all releases together.",
        (
            "mace compare-releases scores.csv --score model/loss,model/layer,table/closeness --against model",
            "mace compare-releases model.npz table.npz --max-advantage 0.1 -o releases.html",
        ),
        most_files=None,
        several=True,
        by_clusters=True,
        wing="audits",
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
        wing="runs",
    ),
    Operation(
        "synthetic",
        "synthetic",
        "What a released table gives away about the rows it was made from, with a verdict",
        "Give the training, the hold-out and the released table. Every query is asked of every row of both sides: how "
        "near the release comes to it, whether it stands in it, whether its rare values do. Limits are held against "
        "the riskiest of them. One table may hold all: `table` names the column that says of each row whether it is "
        "of train, holdout, synthetic or reference.",
        (
            "mace synthetic --train train.csv --holdout holdout.csv --synthetic released.csv",
            "mace synthetic --train t.parquet --holdout h.parquet --synthetic s.parquet --reference r.parquet "
            "--max-advantage 0.1 --max-copies-over-holdout 0 -o report.html",
        ),
        bodies=(JSON, CSV, NDJSON, ARROW, PARQUET),
        most_files=0,
        tables=("train", "holdout", "synthetic", "reference"),
        python="audit_synthetic",
        wing="audits",
    ),
    Operation(
        "release-size",
        "release-size",
        "How many rows of a released table may go out: the advantage against their number",
        "The released rows are put in a random order, and every query is asked of the first so many of them, for each "
        "size of a grid that was fixed in advance. `rows` are the places of those that keep the limit.",
        (
            "mace release-size --train train.csv --holdout holdout.csv --synthetic released.csv --max-advantage 0.1",
            "mace release-size --train t.csv --holdout h.csv --synthetic s.csv --sizes 100,1000,10000 -o size.json",
        ),
        bodies=(JSON, CSV, NDJSON, ARROW, PARQUET),
        most_files=0,
        tables=("train", "holdout", "synthetic", "reference"),
        wing="audits",
    ),
    Operation(
        "model",
        "model",
        "What a model's predictions give away about the rows it was trained on, with a verdict",
        "Give what the model predicts for its training rows and for hold-out rows, beside what is true of them: "
        "probabilities, logits, predictions of a regressor, or labels. Every query that they allow is asked of both "
        "sides, and limits are held against the riskiest of them. One table may hold both: `table` names the column "
        "that says of each row whether it is of train or holdout.",
        (
            "mace model --train train.csv --holdout holdout.csv --truth label",
            "mace model --train t.parquet --holdout h.parquet --truth y --outputs logits --max-advantage 0.1 "
            "-o report.html",
        ),
        bodies=(JSON, CSV, NDJSON, ARROW, PARQUET),
        most_files=0,
        tables=("train", "holdout"),
        python="audit_predictions",
        wing="audits",
    ),
    Operation(
        "check",
        "check",
        "Whether training and hold-out rows differ without any model: is the hold-out fair?",
        "Give the rows that a model was trained on, and those that were held out, as they are. What tells them apart "
        "by their columns alone is no leak, and every score that depends on them inherits it.",
        (
            "mace check --train train.csv --holdout holdout.csv",
            "mace check --train t.parquet --holdout h.parquet --leave-out id -o report.html",
        ),
        bodies=(JSON, CSV, NDJSON, ARROW, PARQUET),
        most_files=0,
        tables=("train", "holdout"),
        python="check_split",
        wing="audits",
    ),
    Operation(
        "audit",
        "audit",
        "Whether the scores contradict a promised epsilon and delta",
        "The attacker guesses about the records with the highest scores, with the lowest, and with both. If more "
        "guesses are right than the promise allows, the records contradict it. That speaks of the mechanism if each "
        "record was a member by a coin of its own; `gate` limits the epsilon of the score.",
        ("mace audit scores.csv --claimed-epsilon 1 --claimed-delta 1e-5",),
        takes_counts=True,
        counts_suffice=True,
        by_clusters=True,
        inline=True,
    ),
    Operation(
        "report",
        "report",
        "A report on one sample, with pictures",
        "With `Accept: text/html` the answer is a page in one file; as JSON it is the data of that page.",
        (
            "mace report scores.csv -o report.html",
            "mace report scores.parquet --group age_band --max-advantage 0.1 -o report.html",
            "mace report scores.csv --card -o card.md",
            "mace report answer.json -o report.html",
        ),
        takes_counts=True,
        counts_suffice=True,
        by_clusters=True,
    ),
    Operation(
        "gate",
        "gate",
        "Pass, fail or undecided, for several limits at once",
        "Give at least one limit: `max_advantage`, `max_tpr` with `at_fpr`, `max_epsilon`, `max` with `metric`, "
        "`max_group_advantage` or `max_group_risk` with `groups`. With `anytime` the records are one batch of several, "
        "`max_advantage` is judged at all looks together, and the answer has a `state` to give back with the next.",
        (
            "mace gate scores.parquet --max-advantage 0.1",
            "mace gate scores.csv --max-advantage 0.1 --max-tpr 0.01 --at-fpr 0.001",
            "mace gate scores.csv --max-epsilon 1 --delta 0.01 --junit gate.xml",
            "mace gate scores.csv --metric f_beta --beta 2 --max 0.7",
            "mace gate scores.csv --max-group-advantage 0.2 --group age_band",
            "mace gate scores.csv --max-group-risk 0.5 --group age_band",
            "mace gate monday.csv --max-advantage 0.1 --sequential --state run.json --planned 20000",
        ),
        counts_suffice=True,
        by_clusters=True,
    ),
    Operation(
        "plan",
        "plan",
        "How many records a decision needs, or an interval of a given width, or how many trained models",
        "The plan is tried on simulated samples, which takes a few seconds. Records in clusters take `design_effect` "
        "times as many; with `spread` the plan is of models to train for a decision about their procedure.",
        (
            "mace plan --expected 0.05 --max-advantage 0.1",
            "mace plan --expected 0.2 --width 0.1 --prior 0.1",
            "mace plan --expected 0.05 --max-advantage 0.1 --cluster-size 20 --correlation 0.3",
            "mace plan --expected 0.2 --max-advantage 0.1 --spread 0.05 --records-per-model 1000",
        ),
        bodies=(JSON,),
        forms=WORDS,
        most_files=0,
    ),
    Operation(
        "columns",
        "",
        "The columns of a table, read from its first bytes",
        "The body may be cut off: 256 KiB of CSV, JSON lines, Arrow or NPY are enough. Of Parquet, send `PAR1` and the "
        "footer; of NPZ, all of it.",
        bodies=TABLES,
        forms=(JSON,),
    ),
    Operation(
        "counts",
        "counts",
        "Scores in, counts out that can be merged with any others",
        "CSV, JSON lines, NPY and Arrow are counted as they arrive, so a body may be larger than memory.",
        ("mace counts shard1.parquet -o shard1.json", "mace counts scores.csv --json"),
        forms=(JSON,),
        takes_counts=True,
        inline=True,
    ),
    Operation(
        "theory/dp",
        "theory dp",
        "What a promise of differential privacy allows an attacker, with all known bounds",
        "The promise is `epsilon` with `delta`, `mu`, `rdp` or `noise_multiplier` with `steps` and `sampling_rate`; "
        "the last two need the optional accountant.",
        (
            "mace theory dp --epsilon 1 --delta 1e-5 --prior 0.1",
            "mace theory dp --noise-multiplier 1.1 --steps 1000 --sampling-rate 0.01 --delta 1e-5",
            "mace theory dp --rdp 2:0.1,4:0.3,16:1.2 --delta 1e-5",
            "mace theory dp --advantage 0.1",
        ),
        bodies=(JSON,),
        most_files=0,
        inline=True,
        wing="theory",
    ),
    Operation(
        "theory/convert",
        "theory convert",
        "An advantage, an eta, an epsilon or a mu in the units of the others, and as a TPR at an FPR",
        "Give one number. As a lower end (it was measured) it says what the others must be at least: an epsilon so "
        "found is the smallest promise that agrees, and no guarantee. As an upper limit (it was promised) it says "
        "what the others are at most, which is one.",
        (
            "mace theory convert --advantage 0.2 --delta 1e-5",
            "mace theory convert --eta 0.1",
            "mace theory convert --epsilon 1 --false-positive-rates 0.001",
            "mace theory convert --mu 1 --delta 1e-5",
        ),
        bodies=(JSON,),
        forms=WORDS,
        most_files=0,
        wing="theory",
    ),
    Operation(
        "theory/mip",
        "theory mip",
        "Membership inference privacy: the noise that keeps every attack within eta of guessing",
        "Takes parameters of fits to random halves of your data (`draws`), or pairs of fits that differ by one swapped "
        "record (`before`, `after`, `record`), never the data. The answer is the noise to add, with eta certified at "
        "every sample size, beside the paper's own calibrations. The certificate is about this data set and this fit, "
        "over the random half and the noise. It is of noise of real numbers: round what you release to `noise.grid`.",
        (
            "mace theory mip draws.npy --eta 0.1",
            "mace theory mip swaps.parquet --before b0,b1 --after a0,a1 --record who --eta 0.1",
        ),
        arrays=("draws", "before", "after", "record"),
        wing="theory",
    ),
    Operation(
        "theory/mip-finite",
        "theory mip-finite",
        "Membership inference privacy of an algorithm with finitely many outputs, exactly",
        "Takes the probabilities of every output given every training set of k records out of n (rows in lexicographic "
        "order). Answers by how much the best attack on each record beats the better constant guess, and at which "
        "outputs it says that the record is in.",
        ("mace theory mip-finite laws.npy --n 6 --k 3",),
        forms=WORDS,
        arrays=("laws",),
        wing="theory",
    ),
    Operation(
        "theory/mis",
        "theory mis",
        "Membership inference security: what any algorithm can reveal about data in categories",
        "The answer is the membership inference security of the worst possible algorithm (Aubinais et al., Theorem 14) "
        "for several sizes of the training set, how many records are enough, and what is gained by merging categories. "
        "Give the distribution as `probabilities`, or a sample of it as `values` or `tallies`; for a sample, every "
        "bound includes the sampling error, at any size. Give `universe`, the number of possible categories, if you "
        "know it.",
        (
            "mace theory mis people.csv --column city --sizes 1000,10000",
            "mace theory mis counts.csv --tallies records --delta 0.1",
        ),
        arrays=("values", "tallies", "probabilities"),
        wing="theory",
    ),
    Operation(
        "theory/mis-overfitting",
        "theory mis-overfitting",
        "Membership inference security: an upper limit from training and held-out losses",
        "If training losses lie far below held-out losses, security is limited from above (Theorem 11). The limit is "
        "taken at the best of many cuts and corrected for that choice. MIS averages over training sets, so one model's "
        "losses describe that model alone, unless `losses_of` says that each loss comes from a separate training.",
        (
            "mace theory mis-overfitting losses.csv --score loss --member is_train",
            "mace theory mis-overfitting --members train.npy --nonmembers heldout.npy",
        ),
        arrays=("train_losses", "heldout_losses"),
        sides=True,
        wing="theory",
    ),
    Operation(
        "theory/mis-divergence",
        "theory mis-divergence",
        "Membership inference security of one output, from its two laws, exactly",
        "Takes the probability of each output for a member and for a nonmember. Answers by how much the best attack "
        "beats guessing (D_gamma of Aubinais et al., Eqs. 3 to 5), and at which outputs it says member. Laws counted "
        "from a sample lie further apart than the true ones: ask /v1/advantage about the scores instead.",
        ("mace theory mis-divergence laws.csv --column member,nonmember --nonmember-share 0.5",),
        arrays=("outputs",),
        wing="theory",
    ),
    Operation(
        "theory/mis-mean",
        "theory mis-mean",
        "Membership inference security of the mean of Gaussian records, exactly",
        "The one case in which Theorem 13 of Aubinais et al. can be evaluated: for other records its constant is not "
        "explicit. Holds for any mean and covariance, and bounds whatever is computed from that mean.",
        ("mace theory mis-mean --dimension 10 --sizes 1000,10000", "mace theory mis-mean --delta 0.01"),
        bodies=(JSON,),
        most_files=0,
        wing="theory",
    ),
    Operation(
        "theory/pmp-exponential",
        "theory pmp-exponential",
        "Practical membership privacy of an exponential mechanism, on these records",
        "What the mechanism reveals to an attacker who knows the 2n candidate records but not which n were used; every "
        "half is equally likely. `losses` has one row for each record, or one row for each training set. Give "
        "`epsilon`, or the `practical_epsilon` you want. The answer is exact as long as all training sets can be "
        "enumerated (2n up to about 30 for losses of records); for more records, set `draws`.",
        ("mace theory pmp-exponential losses.csv --epsilon 1 --sensitivity 1",),
        forms=WORDS,
        arrays=("losses",),
        wing="theory",
    ),
    Operation(
        "theory/pmp-finite",
        "theory pmp-finite",
        "Practical membership privacy of an algorithm with finitely many outputs, exactly",
        "Takes the probabilities of every output given every half of the 2n records (rows in lexicographic order). "
        "What an output reveals to an attacker who knows the records but not which n were used: the least practical "
        "epsilon at `delta`, how often the best attacker is right, and the outputs that give the most away.",
        ("mace theory pmp-finite laws.npy --delta 0.01",),
        arrays=("laws",),
        wing="theory",
    ),
    Operation(
        "theory/pmp-gaussian",
        "theory pmp-gaussian",
        "Practical membership privacy of a sum or a mean with Gaussian noise, on these records",
        "What the result reveals to an attacker who knows the 2n candidate records but not which n were used; every "
        "half is equally likely. Give `sigma`, or `epsilon` for the least noise that is (epsilon, delta)-DP, or the "
        "`practical_epsilon` you want.",
        ("mace theory pmp-gaussian points.npy --clip 1 --sigma 0.1 --delta 1e-5",),
        arrays=("points",),
        wing="theory",
    ),
    Operation(
        "theory/together",
        "theory together",
        "What a claimed epsilon and delta allow, next to what the records show",
        "All intervals hold together. If nothing is contradicted, that does not prove the claim.",
        ("mace theory together scores.csv --claimed-epsilon 1 --claimed-delta 1e-5",),
        counts_suffice=True,
        by_clusters=True,
        wing="theory",
    ),
)
"""Every operation, in the order of the documentation."""

BY_NAME = {each.name: each for each in OPERATIONS}
FORMS = {each.name: each.forms for each in OPERATIONS}
SEVERAL = frozenset(each.name for each in OPERATIONS if each.several)
OF_GROUPS = frozenset(each.name for each in OPERATIONS if each.of_groups)
BY_CLUSTERS = frozenset(each.name for each in OPERATIONS if each.by_clusters)
ARRAYS = {each.name: each.arrays for each in OPERATIONS if each.paper}
SIDED = {each.name: each.arrays for each in OPERATIONS if each.sides}

FLAGS = {
    "estimator.kind": "--estimator",
    "metric.preset": "--metric",
    "rule.kind": "--rule",
    "members": "--member-count",
    "anytime": "--sequential",
}
"""Options of the shell that are not named like the last part of the service's."""

OWN_FLAGS = {("series", "group"): "--by"}
"""What one command calls otherwise: the groups of a series are its steps."""

SLOW = re.compile(
    rb'\\|"(counts|discrete|estimator|groups|metric|mu|noise_multiplier|rdp|shards|units)"|\[\s*["\[]'
)
"""What can make a small body slow, or import much: curves and accountants, counts of any number of records, vectors,
learned adversaries, as many categories or groups as records, a metric tried at each of them; an escape may hide any."""


def flag(name: str, operation: str = "") -> str:
    """The option of the shell for a parameter of the service."""
    own = OWN_FLAGS.get((operation, name))
    return own or FLAGS.get(name) or "--" + name.rsplit(".", 1)[-1].replace("_", "-")


def command(operation: str) -> str:
    """The command of the shell for an operation of the service."""
    return f"mace {BY_NAME[operation].command or operation}"


def has_reports(row: Operation) -> bool:
    """Whether there are reports of its answers."""
    return bool(set(row.forms) - {JSON, *row.rows})


def rendered(call: Call) -> bool:
    """Whether the answer is asked for as a report."""
    return call.accept != JSON and call.accept not in BY_NAME[call.operation].rows


def quick(call: Call, body: bytes) -> bool:
    """Whether a small JSON body is sure to be answered at once; a report is a worker's, as pictures take long."""
    return BY_NAME[call.operation].inline and not rendered(call) and SLOW.search(body) is None
