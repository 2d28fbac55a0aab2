"""A wing: from data to scores and a verdict: tables, what a model answers, releases.

``ROWS`` are its operations.
"""

from macekit.call import ARROW, BRIEF, CSV, HTML, JSON, MARKDOWN, NDJSON, NPZ, PNG, SVG
from macekit.operation import Operation

ROWS = (
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
        tables=("train", "holdout", "synthetic", "reference"),
        python="audit_synthetic",
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
        tables=("train", "holdout", "synthetic", "reference"),
    ),
    Operation(
        "model",
        "model",
        "What a model's predictions give away about the rows it was trained on, with a verdict",
        "Give what the model predicts for its training rows and for hold-out rows, beside what is true of them: "
        "probabilities, logits, predictions of a regressor, or labels. Every query that they allow is asked of both "
        "sides, and limits are held against the riskiest of them. One table may hold both: `table` names the column "
        "that says of each row whether it is of train or holdout. With planted and spared records, the answer says how "
        "strong the queries are.",
        (
            "mace model --train train.csv --holdout holdout.csv --truth label",
            "mace model --train t.parquet --holdout h.parquet --truth y --outputs logits --max-advantage 0.1 "
            "-o report.html",
        ),
        tables=("train", "holdout", "planted", "spared"),
        python="audit_predictions",
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
        tables=("train", "holdout"),
        python="check_split",
    ),
    Operation(
        "unlearning",
        "unlearning",
        "Whether a model has forgotten records: what one score still tells of them, with a verdict",
        "Give a score of each forgotten record, and of records of the same kind that the model has never seen: what "
        "tells them apart is left, or shows that too much was forgotten. With the score of a model that was trained "
        "again without them, the limit is on the difference from it; with retained records, the share of memory that "
        "remains is stated. One table may hold all: `table` names the column that says of each row whether it is of "
        "forgotten, unseen or retained.",
        (
            "mace unlearning --forgotten forgotten.csv --unseen unseen.csv --max-advantage 0.1",
            "mace unlearning --forgotten f.parquet --unseen u.parquet --retained r.parquet --score loss "
            "--retrained loss_retrained -o report.html",
        ),
        tables=("forgotten", "unseen", "retained"),
    ),
    Operation(
        "text",
        "text",
        "What a language model's log-probabilities give away about texts, with a verdict",
        "Give the log-probabilities of each text's tokens. Every query that they allow is asked, and limits are held "
        "against the riskiest of them. `Accept: text/csv` or an Arrow stream returns the scores of each text.",
        (
            "mace text tokens.jsonl --max-advantage 0.1",
            "mace text --members seen.jsonl --nonmembers unseen.jsonl -o report.html",
            "mace text tokens.jsonl scores.jsonl",
            "mace text tokens.jsonl.gz scores.parquet --by document --how max",
        ),
        bodies=(JSON, NDJSON, NPZ),
        forms=(JSON, CSV, ARROW, HTML, MARKDOWN, BRIEF, SVG, PNG),
        rows=(CSV, ARROW),
        texts=True,
        python="audit_text",
    ),
    Operation(
        "shadows",
        "shadows",
        "LiRA, RMIA and calibrated loss from the signals of a model and of its shadows, with a verdict",
        "Give the signals of the audited model and of each shadow, and who was trained on which record. Every "
        "query that they allow is asked, and limits are held against the riskiest of them. `Accept: text/csv` or an "
        "Arrow stream returns the scores of each record.",
        (
            "mace shadows signals.npz --scale logit --max-advantage 0.1",
            "mace shadows signals.npz --scale logit -o scores.csv",
        ),
        bodies=(JSON, NPZ),
        forms=(JSON, CSV, ARROW, HTML, MARKDOWN, BRIEF, SVG, PNG),
        rows=(CSV, ARROW),
        arrays=(
            "target",
            "signals",
            "member",
            "membership",
            "id",
            "group",
            "unit",
            "features",
            "calibration_features",
            "calibration_signal",
        ),
        python="audit_shadows",
    ),
    Operation(
        "usage",
        "usage",
        "How large a share of some records was trained on, from records known to be members and not",
        "Give the model's scores of records known to be trained on, of records known not to be, and of those in "
        "question. The answer is an interval for the share of the last that was trained on, and a lower end that takes "
        "nothing for granted of how members score. One table may hold all: `table` names the column that says of "
        "each row whether it is of members, nonmembers or candidates.",
        (
            "mace usage --members known.csv --nonmembers fresh.csv --candidates corpus.csv --score loss",
            "mace usage --members k.parquet --nonmembers f.parquet --candidates c.parquet --unit document "
            "--per-unit mean --max-share 0.05 -o report.html",
            "mace usage --members k.csv --nonmembers f.csv --candidates c.csv --score text_loss,mink --combine auto",
        ),
        tables=("members", "nonmembers", "candidates"),
    ),
    Operation(
        "exposed",
        "exposed",
        "Which members are exposed, by name, and how many of the list may be false",
        "Give scores of the members, and of nonmembers that nothing was trained on. The answer is the longest list of "
        "members of which at most `max_false_share` score as a nonmember would, and that so many are exposed at least: "
        "without a prior, at every cut at once. `Accept: text/csv` or an Arrow stream returns a row for each member.",
        (
            "mace exposed scores.csv --max-false-share 0.1 -o exposed.csv",
            "mace exposed scores.parquet --score loss --direction low -o exposed.html",
        ),
        forms=(JSON, CSV, ARROW, HTML, MARKDOWN, BRIEF, SVG, PNG),
        rows=(CSV, ARROW),
    ),
)
