"""More typical mistakes, in files, limits and forms: at every door one line that says what to do."""

import gzip
import lzma
from pathlib import Path

import macekit
from macekit.call import CSV, NPZ
from tests.app.mistakes import FILES as OTHERS
from tests.app.mistakes import HOLDOUT, MEMBERS, NONMEMBERS, SCORES, SIDES, TRAIN, Mistake, as_csv, spreadsheet
from tests.macekit.decoding.support import form

PEERS = Path(__file__).parents[1] / "macekit" / "imports" / "peers"
FORM = "multipart/form-data; boundary=xYz"
LIMIT = "--max-advantage .1"
MODEL = {"train": TRAIN, "holdout": HOLDOUT, "truth": "label"}

GROUPED = "score,member,who,group\n" + "".join(f"{i * 7 % 80},{i % 2},{i // 4},{i % 3}\n" for i in range(80))
UNITS = [str(place) for place in range(80)]
TWICE = gzip.compress(gzip.compress(SCORES.encode()))
PICTURE = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"
LOGITS: dict[str, list[float]] = {**TRAIN, "p_0": [5 * p - 2 for p in TRAIN["p_0"]]}
PERCENT = {**TRAIN, **{name: [100 * p for p in TRAIN[name]] for name in ("p_0", "p_1")}}
OVER_ONE: dict[str, list[float]] = {**TRAIN, "p_0": TRAIN["p_1"]}
SIXES: dict[str, list[float]] = {**TRAIN, "label": [6] * 40}
RENAMED = {"label": HOLDOUT["label"], "q_0": HOLDOUT["p_0"], "q_1": HOLDOUT["p_1"]}
PEOPLE = {"height": MEMBERS, "weight": NONMEMBERS}
GUESSES: dict[str, list[float]] = {"members": [1, 1, 0, 1] * 20, "nonmembers": [1, 0, 0, 0] * 20}
SHORTER = {"label": TRAIN["label"][:5], "p_0": TRAIN["p_0"], "p_1": TRAIN["p_1"]}
FILES: dict[str, str | bytes] = {
    "scores.csv": SCORES, "grouped.csv": GROUPED, "picture.csv": PICTURE, "picture.png": PICTURE,
    "minus.csv": SCORES.replace(",0\n", ",-1\n"), "other.csv": as_csv(RENAMED), "train.csv": as_csv(TRAIN),
    "holdout.csv": as_csv(HOLDOUT), "over.csv": as_csv(OVER_ONE), "logits.csv": as_csv(LOGITS),
    "sixes.csv": as_csv(SIXES), "percents.csv": as_csv(PERCENT), "people.csv": as_csv(PEOPLE),
    "guesses.csv": as_csv(GUESSES), "columns.json": '{"score": [1, 2], "member": [1, 0]}',
    "pipes.csv": SCORES.replace(",", "|"), "excel.csv": "sep=,\n" + SCORES,
    "infinite.csv": SCORES + "-inf,0\n", "twice.csv.gz": TWICE,
    "scores.csv.xz": lzma.compress(SCORES.encode()), "words.jsonl": '{"text": "a b c", "member": 1}\n',
    "leakpro.json": (PEERS / "leakpro.json").read_bytes(),
    "sacro_ml.npz": (PEERS / "sacro_ml.npz").read_bytes(),
}  # fmt: skip


def predicted(train: str, name: str, says: str, more: str = "", **options: str) -> Mistake:
    """A wrong table of predictions at every door."""
    tables = {"over.csv": OVER_ONE, "logits.csv": LOGITS, "sixes.csv": SIXES, "percents.csv": PERCENT}
    return Mistake(
        name,
        says,
        f"model --train {train} --holdout holdout.csv --truth label {more}",
        lambda: macekit.audit_predictions(train, "holdout.csv", truth="label", **options),  # type: ignore[arg-type]
        ("model", {**MODEL, "train": tables.get(train, TRAIN), **options}),
    )


MISTAKES = [
    # what a file is
    Mistake("a picture called CSV", "not UTF-8: is it text", f"gate picture.csv {LIMIT}",
        lambda: macekit.gate("picture.csv", max_advantage=0.1), ("gate?max_advantage=.1", PICTURE, CSV)),
    Mistake("a picture", "not UTF-8: is it text", f"gate picture.png {LIMIT}",
        lambda: macekit.gate("picture.png", max_advantage=0.1)),
    Mistake("a file that was compressed twice", "begins as gzip does; one layer is opened.*unpack",
        f"gate twice.csv.gz {LIMIT}", lambda: macekit.gate("twice.csv.gz", max_advantage=0.1),
        ("gate?max_advantage=.1", TWICE, CSV)),
    Mistake("a file that xz compressed", "not UTF-8: xz is not opened: unpack it, or pack it as .gz or .zst",
        f"gate scores.csv.xz {LIMIT}", lambda: macekit.gate("scores.csv.xz", max_advantage=0.1)),
    Mistake("another tool's result", "is a result of LeakPro's(: --from leakpro|: macekit.import_|; `mace import)",
        f"gate leakpro.json {LIMIT}", lambda: macekit.gate("leakpro.json", max_advantage=0.1),
        ("gate", FILES["leakpro.json"])),
    Mistake("another tool's result in NPZ", "is a result of SACRO-ML's(: --from sacro-ml|: macekit|; `mace import)",
        f"gate sacro_ml.npz {LIMIT}", lambda: macekit.gate("sacro_ml.npz", max_advantage=0.1),
        ("gate?max_advantage=.1", FILES["sacro_ml.npz"], NPZ)),
    Mistake("a tool by a wrong name", r"did you mean leakpro\?", f"gate leakpro.json --from leakpr {LIMIT}"),
    Mistake("members called 1, nonmembers -1", "if the column has two other values, name that of members",
        f"gate minus.csv {LIMIT}", lambda: macekit.gate("minus.csv", max_advantage=0.1),
        ("gate?max_advantage=.1", FILES["minus.csv"], CSV)),
    Mistake("a table of both sides as one of them", "a column says who is a member.*if it holds both, give it alone",
        f"gate --members scores.csv --nonmembers people.csv {LIMIT}",
        http=("gate", form(("max_advantage", None, b".1"),
            *((side, "s.csv", SCORES.encode()) for side in ("members", "nonmembers"))), FORM)),
    Mistake("columns in place of sides in a request", "known are accept_exposure.* max_advantage, members",
        "estimate columns.json", http=("advantage", FILES["columns.json"])),
    Mistake("columns called like the sides", "members and nonmembers; if each holds the scores of a side, say so",
        "attack guesses.csv", lambda: macekit.attack(GUESSES), ("attack", FILES["guesses.csv"], CSV)),
    Mistake("columns between which a bar stands", "in CSV a comma, a semicolon or a tab stands between columns",
        f"gate pipes.csv {LIMIT}", lambda: macekit.gate("pipes.csv", max_advantage=0.1),
        ("gate?max_advantage=.1", FILES["pipes.csv"], CSV)),
    Mistake("a line of Excel's own", "the first line of the CSV says sep=, as for Excel; remove it",
        f"gate excel.csv {LIMIT}", lambda: macekit.gate("excel.csv", max_advantage=0.1),
        ("gate?max_advantage=.1", FILES["excel.csv"], CSV)),
    Mistake("infinity in a table", "row 80 is infinite; leave it out", f"gate infinite.csv {LIMIT}",
        lambda: macekit.gate("infinite.csv", max_advantage=0.1), ("gate?max_advantage=.1", FILES["infinite.csv"], CSV)),
    Mistake("a number of members beside a table", "is for an NPY of one dimension alone; remove it",
        "estimate scores.csv --member-count 5", http=("advantage?members=5", SCORES, CSV)),
    # what a model says
    predicted("over.csv", "numbers from 0 to 1 that are no probabilities", "rows do not sum to 1.*one label at a time"),
    predicted("over.csv", "probabilities that do not sum to one", "do not sum to 1; if a record can have several",
        "--outputs probabilities", outputs="probabilities"),
    predicted("logits.csv", "logits called probabilities", "is no probability; say that they are logits",
        "--outputs probabilities", outputs="probabilities"),
    predicted("percents.csv", "percentages", "rows sum to 100, as percentages do; divide by 100"),
    predicted("train.csv", "probabilities called logits", "sum to 1; say that they are probabilities",
        "--outputs logits", outputs="logits"),
    predicted("logits.csv", "outputs by a wrong name", "did you mean '?probabilities", "--outputs probabilites",
        outputs="probabilites"),
    predicted("sixes.csv", "labels that no column is called after", "class.* name the columns of predictions"),
    Mistake("a hold-out with other columns", "holdout has no column ('p_0'; it has|of this name among its 3)",
        "model --train train.csv --holdout other.csv --truth label",
        lambda: macekit.audit_predictions("train.csv", "other.csv", truth="label"),
        ("model", {**MODEL, "holdout": RENAMED})),
    Mistake("columns of different lengths", "column '?p_0'? has 40 rows, '?label'? has 5|5 rows",
        python=lambda: macekit.audit_predictions(SHORTER, HOLDOUT, truth="label"),
        http=("model", {**MODEL, "train": SHORTER})),
    Mistake("the hold-out as the training rows of a release", "row for row.*give rows that were held out",
        "synthetic --train people.csv --holdout people.csv --synthetic people.csv",
        lambda: macekit.audit_synthetic("people.csv", "people.csv", "people.csv"),
        ("synthetic", {"train": PEOPLE, "holdout": PEOPLE, "synthetic": PEOPLE})),
    # limits
    Mistake("a limit in percent signs", "a number, such as 0.1; a percentage is written as a share",
        "gate scores.csv --max-advantage 10%", lambda: macekit.gate(MEMBERS, NONMEMBERS, max_advantage="10%"),  # type: ignore[arg-type]
        ("gate", {**SIDES, "max_advantage": "10%"})),
    Mistake("a limit with a decimal comma", "a number, such as 0.1, with a decimal point and no comma",
        "gate scores.csv --max-advantage 0,1",
        lambda: macekit.gate(MEMBERS, NONMEMBERS, max_advantage="0,1"),  # type: ignore[arg-type]
        ("gate", {**SIDES, "max_advantage": "0,1"})),
    Mistake("a limit of a metric in percent", "less than or equal to 1, which no metric.*written as a share",
        "gate scores.csv --metric accuracy --max 70",
        lambda: macekit.gate(MEMBERS, NONMEMBERS, metric="accuracy", max=70),
        ("gate", {**SIDES, "metric": "accuracy", "max": 70})),
    Mistake("a parameter of a metric that has none", "beta: accuracy takes no parameter; remove it",
        "estimate scores.csv --metric accuracy --beta 2",
        lambda: macekit.estimate(MEMBERS, NONMEMBERS, metric={"preset": "accuracy", "beta": 2}),
        ("advantage", {**SIDES, "metric": {"preset": "accuracy", "beta": 2}})),
    Mistake("the limit by a former name", "did you mean ('|--)max.advantage", "gate scores.csv --threshold .1",
        lambda: macekit.gate(MEMBERS, NONMEMBERS, threshold=0.1),  # type: ignore[call-arg]
        ("gate", {**SIDES, "threshold": 0.1})),
    Mistake("a mistyped limit", "did you mean ('|--)max.advantage", "gate scores.csv --max-advantge .1",
        lambda: macekit.gate(MEMBERS, NONMEMBERS, max_advantge=0.1),  # type: ignore[call-arg]
        ("gate", {**SIDES, "max_advantge": 0.1})),
    Mistake("a rate without where", "say at which false positive rate (--)?max.tpr limits",
        "gate scores.csv --max-tpr .1", lambda: macekit.gate(MEMBERS, NONMEMBERS, max_tpr=0.1),
        ("gate", {**SIDES, "max_tpr": 0.1})),
    Mistake("where without a rate", "give the largest acceptable true positive rate",
        "gate scores.csv --at-fpr .1", lambda: macekit.gate(MEMBERS, NONMEMBERS, at_fpr=0.1),
        ("gate", {**SIDES, "at_fpr": 0.1})),
    Mistake("groups without a limit of theirs", "groups apply only with .*max.group.advantage",
        f"gate grouped.csv --group group {LIMIT}",
        lambda: macekit.gate("grouped.csv", group="group", max_advantage=0.1),
        ("gate?group=group&max_advantage=.1", GROUPED, CSV)),
    Mistake("a limit of groups without groups", "needs a label for each record",
        "gate grouped.csv --max-group-advantage .1",
        lambda: macekit.gate("grouped.csv", max_group_advantage=0.1),
        ("gate?max_group_advantage=.1", GROUPED, CSV)),
    # whose rows are whose
    Mistake("one column for two", "unit, cluster: one column is named for two of them; leave one out",
        f"gate grouped.csv --unit who --cluster who {LIMIT}",
        lambda: macekit.gate("grouped.csv", unit="who", cluster="who", max_advantage=0.1),
        ("gate?unit=who&cluster=who&max_advantage=.1", GROUPED, CSV)),
    Mistake("clusters and units", "does not go with units?.*name one of them",
        f"gate grouped.csv --unit who --cluster group {LIMIT}",
        lambda: macekit.gate(MEMBERS, NONMEMBERS, max_advantage=0.1, units=UNITS, cluster=UNITS),
        ("gate", {**SIDES, "max_advantage": 0.1, "units": UNITS, "cluster": UNITS})),
    Mistake("clusters of another length", "cluster: got 5 labels for 80 rows",
        python=lambda: macekit.gate(MEMBERS, NONMEMBERS, max_advantage=0.1, cluster=["a"] * 5),
        http=("gate", {**SIDES, "max_advantage": 0.1, "cluster": ["a"] * 5})),
    Mistake("units of another length", "units: got 5 labels for 80 records",
        python=lambda: macekit.gate(MEMBERS, NONMEMBERS, max_advantage=0.1, units=["a"] * 5),
        http=("gate", {**SIDES, "max_advantage": 0.1, "units": ["a"] * 5})),
    # at the prompt
    Mistake("a command of theory by a wrong name", r"did you mean dp\?", "theory dpp --epsilon 1"),
    Mistake("a number in words", "epsilon: needs to be a number", "theory dp --epsilon one",
        lambda: macekit.theory.dp(epsilon="one"),  # type: ignore[arg-type]
        ("theory/dp", {"epsilon": "one"})),
    Mistake("a promise without its delta", "--delta: is required with --noise-multiplier",
        "theory dp --noise-multiplier 1 --steps 100"),
    Mistake("a curve of no file and no pairs", "--curve: nope.csv is no file of two columns, and no pairs",
        "theory dp --curve nope.csv"),
    Mistake("a run whose draw is not said", "mace theory one-run: scores.csv: --draw: is required",
        "theory one-run scores.csv"),
    Mistake("an option without its value", "--max-advantage: expected one argument", "gate scores.csv --max-advantage"),
    Mistake("texts without log-probabilities", "logprobs: is missing; need the natural logarithms",
        "text words.jsonl"),
    # what a form holds, as the page and curl send it
    *(
        Mistake(f"a form with {name}", says, http=(path, form(*parts), FORM))
        for name, says, path, parts in (
            ("a pickle", "scores: .*mace never opens one", "gate", [("scores", "s.pkl", OTHERS["pickle.pkl"])]),
            ("a spreadsheet", "scores: .*(CSV|text)", "gate", [("scores", "s.xlsx", spreadsheet())]),
            ("a picture", "scores: .*is it text", "gate", [("scores", "s.png", PICTURE)]),
            ("an empty file", "scores: .*empty", "gate", [("scores", "s.csv", b"")]),
            ("a file of an unknown name", "known are members, nonmembers, scores", "gate",
                [("file", "s.csv", SCORES.encode())]),
            ("one side", "nonmembers: is missing", "gate", [("members", "m.csv", SCORES.encode())]),
            ("decimal commas", "decimal point", "gate", [("scores", "s.csv", str(OTHERS["comma.csv"]).encode())]),
            ("percent signs", "without percent", "gate",
                [("max_advantage", None, b".1"), ("scores", "s.csv", str(OTHERS["percent.csv"]).encode())]),
            ("membership of three values", "two other values", "gate",
                [("scores", "s.csv", str(OTHERS["three.csv"]).encode())]),
            ("no limit", "give at least one of max_advantage", "gate", [("scores", "s.csv", SCORES.encode())]),
            ("a limit in percent", "written as a share", "gate",
                [("max_advantage", None, b"10%"), ("scores", "s.csv", SCORES.encode())]),
            ("another tool's result", "scores: is a result of LeakPro's; `mace import FILE", "gate",
                [("max_advantage", None, b".1"), ("scores", "leakpro.json", FILES["leakpro.json"])]),
            ("a file that was compressed twice", "scores: .*begins as gzip does", "gate",
                [("scores", "s.csv.gz", TWICE)]),
            ("other columns in the hold-out", "holdout has no column", "model",
                [("truth", None, b"label"), ("train", "t.csv", as_csv(TRAIN).encode()),
                 ("holdout", "h.csv", as_csv(RENAMED).encode())]),
            ("the training rows as the hold-out", "row for row", "model",
                [("truth", None, b"label"), ("train", "t.csv", as_csv(TRAIN).encode()),
                 ("holdout", "h.csv", as_csv(TRAIN).encode())]),
        )
    ),
    Mistake("a form without its boundary", "boundary", http=("gate", form(), "multipart/form-data")),
    Mistake("columns of an empty file", "empty", http=("columns", b"", CSV)),
    Mistake("columns of a picture", "is it text", http=("columns", PICTURE, CSV)),
]  # fmt: skip
