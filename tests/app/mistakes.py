"""Typical mistakes, in the shell, from Python and over HTTP: each is refused in one line that says what to do."""

import io
import json
import pickle
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

import numpy as np
from sklearn.tree import DecisionTreeClassifier

import macekit
from macekit import testing
from macekit.call import CSV, JSON, NPY

Ask = Callable[[], object]

RNG = np.random.default_rng(0)
MEMBERS, NONMEMBERS = ([round(float(score), 4) for score in RNG.normal(shift, 1, 40)] for shift in (1.0, 0.0))
SIDES = {"members": MEMBERS, "nonmembers": NONMEMBERS}
ROWS, LABELS = RNG.normal(size=(80, 3)), RNG.integers(0, 2, 80)
TREE = DecisionTreeClassifier(random_state=0).fit(ROWS[:40], LABELS[:40])
MODEL_SIDES = ROWS[:40], LABELS[:40], ROWS[40:], LABELS[40:]
COUNTS = {"members": [-1, 50], "nonmembers": [25, 25], "edges": [0.5]}


def table(members: list[Any], nonmembers: list[Any], head: str = "score,member", between: str = ",") -> str:
    rows = [*((score, 1) for score in members), *((score, 0) for score in nonmembers)]
    return "\n".join([head, *(between.join(map(str, row)) for row in rows)]) + "\n"


def predictions(shift: int) -> dict[str, list[float]]:
    """What a model says of 40 rows, and what is true of them."""
    second = [(row * 7 + shift) % 11 / 10 for row in range(40)]
    return {"label": [row % 2 for row in range(40)], "p_0": [1 - p for p in second], "p_1": second}


def as_csv(columns: dict[str, list[float]]) -> str:
    rows = zip(*columns.values(), strict=True)
    return "\n".join([",".join(columns), *(",".join(map(str, row)) for row in rows)]) + "\n"


def spreadsheet() -> bytes:
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w") as archive:
        archive.writestr("xl/workbook.xml", "<workbook/>")
    return sink.getvalue()


SCORES = table(MEMBERS, NONMEMBERS)
TRAIN, HOLDOUT = predictions(0), predictions(3)
SEMICOLONS = [[str(score).replace(".", ",") for score in side] for side in (MEMBERS, NONMEMBERS)]
PERCENT = [[f"{score}%" for score in side] for side in (MEMBERS, NONMEMBERS)]
GROUPED = "".join(f"{score},{score > 0:d},é\n" for score in MEMBERS + NONMEMBERS)
FILES: dict[str, str | bytes] = {
    "scores.csv": SCORES,
    "comma.csv": table(*SEMICOLONS, "score;member", ";"),
    "nan.csv": table([*MEMBERS[:-1], "nan"], NONMEMBERS),
    "gap.csv": table([*MEMBERS[:-1], ""], NONMEMBERS),
    "text.csv": table(["high", *MEMBERS], NONMEMBERS),
    "percent.csv": table(*PERCENT),
    "one-side.csv": table(MEMBERS, []),
    "few.csv": table(MEMBERS[:2], NONMEMBERS[:2]),
    "empty.csv": "",
    "header.csv": "score,member\n",
    "twice.csv": SCORES.replace("score,member", "score,score,member").replace(",", ",1,"),
    "three.csv": SCORES.replace(",1\n", ",2\n", 3),
    "no-member.csv": SCORES.replace("member", "other"),
    "ragged.csv": SCORES + "1,0,3\n",
    "latin.csv": f"score,member,group\n{GROUPED}".encode("latin-1"),
    "comma.json": json.dumps(SIDES)[:-1] + ",}",
    "list.json": json.dumps(MEMBERS),
    "frame.json": json.dumps({"score": dict(enumerate(MEMBERS + NONMEMBERS))}),
    "answer.json": macekit.estimate(MEMBERS, NONMEMBERS).to_json(),
    "broken-answer.json": json.dumps({"sentence": "words", "result": {}, "groups": [{}], "provenance": {}}),
    "headless.csv": "0.72,1,x\n-.57,0,y\n" * 40,
    "field.json": json.dumps({**SIDES, "prio": 0.1}),
    "counts.json": json.dumps({"counts": COUNTS}),
    "pickle.pkl": pickle.dumps(MEMBERS),
    "book.xlsx": spreadsheet(),
    "train.csv": as_csv(TRAIN),
    "holdout.csv": as_csv(HOLDOUT),
    "there.html": "dear",
}
BOTH = "--train train.csv --holdout holdout.csv"


@dataclass(frozen=True)
class Mistake:
    """A mistake, what is said of it, and how it is made in the shell, from Python and over HTTP, as far as it can be.

    ``http`` is an address below ``/v1/``, a body, and its type unless that is JSON.
    """

    name: str
    says: str
    shell: str | None = None
    python: Ask | None = None
    http: tuple[str, object] | tuple[str, object, str] | None = None

    def __str__(self) -> str:
        return self.name


def estimated(*sides: Any, **options: Any) -> Ask:
    return lambda: macekit.estimate(*sides, **options)


def with_option(name: str, says: str, shell: str, **options: Any) -> Mistake:
    """The same wrong option by every door."""
    return Mistake(
        name,
        says,
        f"estimate scores.csv {shell}",
        estimated(MEMBERS, NONMEMBERS, **options),
        ("advantage", {**SIDES, **options}),
    )


def with_file(name: str, says: str, file: str, command: str = "estimate", path: str = "advantage") -> Mistake:
    """The same wrong file by every door."""
    media_type = JSON if file.endswith(".json") else CSV
    return Mistake(name, says, f"{command} {file}", estimated(file), (path, FILES[file], media_type))


MISTAKES = [
    # what is asked
    Mistake("rows and labels in each other's place",
        r"X_train, y_train: are in each other's place.*the order is audit_model\(model, X_train, y_train",
        python=lambda: macekit.audit_model(TREE, LABELS[:40], ROWS[:40], LABELS[40:], ROWS[40:])),
    Mistake("the order of train_test_split",
        r"X_test, y_train: are in each other's place.*train_test_split gives X_train, X_test, y_train, y_test",
        python=lambda: macekit.audit_model(TREE, ROWS[:40], ROWS[40:], LABELS[:40], LABELS[40:])),
    Mistake("a model that is not fitted", "it is not fitted; call fit",
        python=lambda: macekit.audit_model(DecisionTreeClassifier(), *MODEL_SIDES)),
    Mistake("the path of a model",
        "got a path; a pickle .* Load it yourself, if you trust where it comes from, and give the model",
        python=lambda: macekit.audit_model("model.pkl", *MODEL_SIDES)),
    Mistake("the training rows as the hold-out",
        "(it|its rows) (is|are those of) X_train; need rows that the model was not|it is train, row for row.*held out",
        "model --train train.csv --holdout train.csv",
        lambda: macekit.audit_model(TREE, *MODEL_SIDES[:2], *MODEL_SIDES[:2]),
        ("model", {"train": TRAIN, "holdout": TRAIN})),
    Mistake("labels and scores, as scikit-learn takes them",
        r"look like labels\. Give members' and nonmembers' scores apart, or one table of both",
        python=estimated([1] * 40 + [0] * 40, MEMBERS + NONMEMBERS),
        http=("advantage", {"members": [1] * 40 + [0] * 40, "nonmembers": MEMBERS + NONMEMBERS})),
    Mistake("one side alone",
        "--members and --nonmembers go together|nonmembers: is required and missing; give the scores of records that",
        "estimate --members scores.csv", estimated(MEMBERS), ("advantage", {"members": MEMBERS})),
    Mistake("a gate without a limit", "give at least one of (--)?max.advantage", "gate scores.csv",
        lambda: macekit.gate(MEMBERS, NONMEMBERS), ("gate", SIDES)),
    Mistake("an assertion without a limit", "give at least one of max_advantage",
        python=lambda: testing.assert_gate(MEMBERS, NONMEMBERS)),
    Mistake("a pass required of what has no limit", "nothing can pass; give one, such as max_advantage=0.1",
        python=lambda: macekit.estimate(MEMBERS, NONMEMBERS).require_pass()),
    Mistake("a table that is lacking",
        "--synthetic: is required|synthetic: is required and missing|argument: 'synthetic'", f"synthetic {BOTH}",
        lambda: attrgetter("audit_synthetic")(macekit)(TRAIN, HOLDOUT),
        ("synthetic", {"train": TRAIN, "holdout": HOLDOUT})),
    Mistake("tables without a column in common", "no column in common; need the same names in all",
        f"synthetic {BOTH} --synthetic scores.csv",
        lambda: macekit.audit_synthetic("train.csv", "holdout.csv", "scores.csv"),
        ("synthetic", {"train": TRAIN, "holdout": HOLDOUT, "synthetic": {"score": MEMBERS}})),
    Mistake("groups of another length", "groups: got 5 labels for 80 records",
        python=lambda: macekit.report(MEMBERS, NONMEMBERS, groups=["a"] * 5),
        http=("report", {**SIDES, "groups": ["a"] * 5})),
    Mistake("an image for each record", "got an array of 3 dimensions, need one value or one row a record",
        python=estimated(np.zeros((40, 2, 2)), NONMEMBERS)),
    # names
    Mistake("a command, a function or an address that is not there",
        "did you mean estimate\\?|there is nothing at this address; /docs shows what there is", "estimat scores.csv",
        lambda: attrgetter("estimat")(macekit), ("estimat", SIDES)),
    with_option("a mistyped option", "did you mean (--|')prior", "--prio 0.1", prio=0.1),
    with_file("a mistyped field in a file", "a field is not known; did you mean 'prior'", "field.json"),
    Mistake("a field of an answer that is not there", "did you mean advantage",
        python=lambda: macekit.estimate(MEMBERS, NONMEMBERS).advantge),
    Mistake("a column that is not there", "no column of the 2 has this name(, 'los'; there are 'score', 'member')?$",
        "estimate scores.csv --score los", estimated("scores.csv", score="los"),
        ("advantage?score=los", SCORES, CSV)),
    Mistake("a column of a table that is not there",
        "train has no column ('lable'; it has 'label', 'p_0', 'p_1'|of this name among its 3)$",
        f"model {BOTH} --truth lable", lambda: macekit.audit_predictions("train.csv", "holdout.csv", truth="lable"),
        ("model", {"train": TRAIN, "holdout": HOLDOUT, "truth": "lable"})),
    with_option("an unknown metric", "metric.*(accuracy|did you mean)", "--metric accuracyy", metric="accuracyy"),
    with_option("an unknown estimator", "needs to be 'auto', 'histogram', 'kde'", "--estimator forest",
        estimator={"kind": "forest"}),
    # numbers
    with_option("a confidence in percent", "0.999999; a percentage is written as a share, 95% as 0.95",
        "--confidence 95", confidence=95),
    Mistake("a limit out of its range", "less than or equal to 1; a percentage is written as a share",
        "gate scores.csv --max-advantage 10", lambda: macekit.gate(MEMBERS, NONMEMBERS, max_advantage=10),
        ("gate", {**SIDES, "max_advantage": 10})),
    with_option("a prior as text", "prior: needs to be a number, such as 0.1", "--prior half", prior="half"),
    with_option("a prior of zero", "prior: needs to be greater than 0", "--prior 0", prior=0),
    with_option("a negative epsilon", "needs to be greater than or equal to 0", "--claimed-epsilon -1",
        claimed_epsilon=-1),
    with_option("a delta beyond 1", "delta: needs to be less than 1$", "--claimed-epsilon 1 --claimed-delta 1.5",
        claimed_epsilon=1, claimed_delta=1.5),
    with_option("a false positive rate of zero", "needs to be greater than 0", "--operating-points 0",
        operating_points=[0]),
    with_option("half a seed", "seed: needs to be a valid integer", "--seed 1.5", seed=1.5),
    Mistake("a promise without its number", "give one of epsilon, mu, rdp", "theory dp", macekit.theory.dp,
        ("theory/dp", {})),
    Mistake("a plan without an aim", "give .*width, one of the two", "plan --expected 0.1",
        lambda: macekit.plan(expected=0.1), ("plan", {"expected": 0.1})),
    # what a file holds
    with_file("decimal commas", "numbers have a decimal comma; need a decimal point", "comma.csv"),
    with_file("NaN in a table", "row 39 has no value; every row needs one", "nan.csv"),
    Mistake("NaN in a list", "members: record 39 is NaN or beyond 1e308; leave it out, or look why",
        python=estimated([*MEMBERS[:-1], float("nan")], NONMEMBERS)),
    with_file("a gap in a table", "row 39 has no value; every row needs one", "gap.csv"),
    with_file("text among numbers", "row 0 is text, but others are numbers; write one kind", "text.csv"),
    with_file("percent signs", "without percent or currency signs", "percent.csv"),
    with_file("a table of one side", "nonmember scores: got 0, need at least 8", "one-side.csv"),
    with_file("two records of either side", "member scores: got 2, need at least 8", "few.csv"),
    with_file("a header and nothing below it", "member scores: got 0, need at least 8", "header.csv"),
    with_file("an empty file", "empty; (look at what was to write it|need a header, and a row for each record)",
        "empty.csv"),
    Mistake("two columns of one name", "columns 0 and 2 both have this name; give each its own",
        "estimate twice.csv --score score", estimated("twice.csv", score="score"),
        ("advantage?score=score", FILES["twice.csv"], CSV)),
    with_file("membership of three values", "if the column has two other values, name that of members with",
        "three.csv"),
    with_file("no column of membership", "no column is called member, .*; say with (--)?member", "no-member.csv"),
    with_file("a row that is too long", "row 80 has 3 values, the header 2", "ragged.csv"),
    Mistake("bytes that are no UTF-8", "not UTF-8: save it as UTF-8", "report latin.csv --group group",
        lambda: macekit.report("latin.csv", group="group"), ("report?group=group", FILES["latin.csv"], CSV)),
    with_file("JSON with a trailing comma", "not JSON at byte .*a comma stands before a closing bracket: remove it",
        "comma.json"),
    with_file("a JSON list", r"JSON but no object; need \{.* JSON lines: an object a line", "list.json"),
    with_file("what pandas calls JSON", r"as those of a pandas frame do in JSON lines: frame\.to_json", "frame.json"),
    with_file("an answer in place of scores", r"is an answer of `mace estimate` and no request; `mace report FILE`",
        "answer.json"),
    with_file("an answer whose fields are no columns", r"is an answer of .* and no request; `mace report FILE`",
        "broken-answer.json"),
    with_file("no header", "the first line looks like values, and a header is needed", "headless.csv"),
    with_file("negative counts", "cell 0 is negative; need how many records lie in it", "counts.json"),
    Mistake("JSON called CSV", "begins as JSON does; send JSON as application/json", http=("advantage", SIDES, CSV)),
    Mistake("CSV called JSON", r"if it is a table, name its format \(text/csv\)", http=("advantage", SCORES)),
    # files
    Mistake("a pickle", "mace never opens one .*write plain scores", "estimate pickle.pkl", estimated("pickle.pkl"),
        ("advantage", FILES["pickle.pkl"], NPY)),
    Mistake("a spreadsheet", "of a spreadsheet, export the table as CSV|is it text", "estimate book.xlsx",
        estimated("book.xlsx"), ("advantage", FILES["book.xlsx"], CSV)),
    Mistake("a type that is none of ours", "need application/json, text/csv",
        http=("advantage", SCORES, "application/msword")),
    Mistake("a file that is not there", r"No such file or directory; did you mean scores.csv\?",
        "estimate score.csv"),
    Mistake("a folder without files", "the folder holds no file", "report none", lambda: macekit.report("none")),
    Mistake("a folder in place of a file", "a folder; name a file in it", "model --train none --holdout holdout.csv",
        lambda: macekit.audit_predictions("none", "holdout.csv")),
    Mistake("an output that is there", "is there already; --overwrite replaces it",
        "report scores.csv -o there.html"),
    Mistake("an output in no folder", "there is no such folder", "report scores.csv -o nowhere/report.html"),
    Mistake("an output of an unknown form", "is written as .json, .html", "report scores.csv -o report.pdf"),
    Mistake("a form that is not known", "xls is none of csv, tsv", "estimate scores.csv --format xls"),
    Mistake("an option given twice", "given twice", "estimate scores.csv --prior .1 --prior .2",
        http=("advantage?prior=.1&prior=.2", SCORES, CSV)),
]  # fmt: skip
