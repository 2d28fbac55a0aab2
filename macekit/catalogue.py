"""The table of operations: what is said of each is said here, once.

HTTP routes, OpenAPI, the shell, the page, reports and `macekit` iterate over it. An operation's code is found by its
``room`` below ``macekit/questions``: question and answer in the folder itself, ``answer`` in its ``work``, ``content``
in its ``page``. docs/architecture.md has the recipe for a new one.

This module knows no schema and imports nothing heavy, so that `mace --help` is quick.
"""

import re
from dataclasses import replace
from importlib import import_module
from importlib.util import find_spec

from macekit.call import ARROW, BRIEF, CSV, HTML, JSON, MARKDOWN, PNG, SVG, Call
from macekit.operation import TABLES, WORDS, Operation

WINGS = tuple(
    import_module(name)
    for name in ("macekit.questions.runs", "macekit.questions.audits", "macekit.questions.theory", "macekit.engines")
    if find_spec(name) is not None
)
"""What adds operations to the core, in this order, or sources (``source_of``); one that is not there adds none."""

CORE = (
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
        forms=(JSON, CSV, ARROW, HTML, MARKDOWN, BRIEF, SVG, PNG),
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
            "mace gate loss.parquet margin.csv entropy.csv --max-advantage 0.1 --sarif gate.sarif",
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
            "mace plan --expected 0.85 --width 0.05 --prior 0.1",
            "mace plan --expected 0.05 --max-advantage 0.1 --cluster-size 20 --correlation 0.3",
            "mace plan --expected 0.2 --max-advantage 0.1 --spread 0.05 --records-per-model 1000",
        ),
        bodies=(JSON,),
        forms=WORDS,
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
)
"""The operations of the core."""

OPERATIONS: tuple[Operation, ...] = (
    *CORE,
    *(replace(row, wing=wing.__name__.rpartition(".")[2]) for wing in WINGS for row in wing.ROWS),
)
"""Every operation, in the order of the documentation."""

BY_NAME = {each.name: each for each in OPERATIONS}
FORMS = {each.name: each.forms for each in OPERATIONS}
SEVERAL = frozenset(each.name for each in OPERATIONS if each.several)
OF_GROUPS = frozenset(each.name for each in OPERATIONS if each.of_groups)
BY_CLUSTERS = frozenset(each.name for each in OPERATIONS if each.by_clusters)
ARRAYS = {each.name: each.arrays for each in OPERATIONS if each.paper or each.arrays}
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

SLOW = re.compile(rb'\\|"(counts|discrete|estimator|groups|metric|mu|noise_multiplier|rdp|shards|units)"|\[\s*["\[]')
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
    return bool(set(row.forms) - {JSON, BRIEF, *row.rows})


def rendered(call: Call) -> bool:
    """Whether the answer is asked for as a report."""
    return call.accept not in (JSON, BRIEF, *BY_NAME[call.operation].rows)


def quick(call: Call, body: bytes) -> bool:
    """Whether a small JSON body is sure to be answered at once; a report is a worker's, as pictures take long."""
    return BY_NAME[call.operation].inline and not rendered(call) and SLOW.search(body) is None
