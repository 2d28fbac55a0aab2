"""The reports of ``/v1/theory``: what each says beside its sentence and its bounds."""

from estimators.python.dataclass import replace
from macekit.questions.theory.layout import PAPERS, Columns, Layout, Tile
from macekit.reports import model
from macekit.reports.charts import lines
from macekit.reports.charts.gate import agreement
from macekit.reports.content import limitations, provenance
from macekit.reports.content.guarantees import Numbers
from macekit.reports.content.plain_words import BLIND, NOTHING, records, without_leak

# What a promise of differential privacy allows.

NOT_EXAMINED: model.Inline = (
    "The bounds take the promise as given. Whether the training kept it is not examined here: see mace audit and "
    "mace theory together.",
)
INDEPENDENT: model.Inline = (
    "These bounds are for records that were drawn at random into the training set; several rows about one person "
    "are protected less than a single row.",
)

NO_LEAK = Tile("Advantage without any leak", "baseline", "share", BLIND)
GUESSING = Tile("Accuracy of guessing", "baseline", "share", BLIND)
WEIGHED_GUESSING = replace(GUESSING, note="the baseline, as this measure weighs errors")
COIN = replace(GUESSING, label="Success of a coin")

PROMISE = Layout(
    "What a promise of differential privacy allows",
    (
        NO_LEAK,
        Tile("Largest epsilon that keeps the advantage", "keeping.epsilon", "floor"),
        Tile("Largest mu that keeps it", "keeping.mu", "floor"),
    ),
    left_open=(NOT_EXAMINED, INDEPENDENT, PAPERS),
    tightest=4,
)

CONVERTED = Layout(
    "One number in the units of the others",
    (NO_LEAK,),
    (
        Columns(
            "What follows from the number",
            "rows",
            (
                ("Quantity", "says", "plain"),
                ("At least, if the number is a lower end", "at_least", "floor"),
                ("At most, if it is an upper limit", "at_most", "ceiling"),
                ("Source", "source", "plain"),
            ),
        ),
    ),
    (NOT_EXAMINED, PAPERS),
    heading="In other units",
)

# How much noise keeps every attack near guessing, and what an algorithm with finitely many outputs gives
# away.

ONCE: model.Inline = (
    "The noise is drawn once, for one release of parameters fitted to one random half. Each further release from "
    "the same data gives away more.",
)
HALF: model.Inline = (
    "The guarantee is about this data set, this way of fitting and a training set drawn at random; an attacker "
    "who already knows something about who was drawn is not covered.",
)

CALIBRATIONS = Columns(
    "Ways to find the scale",
    "calibrations",
    (
        ("Way", "name", "plain"),
        ("Noise", "noise", "plain"),
        ("Scale", "scale", "ceiling"),
        ("Noise of a coordinate, in units of its spread", "deviation", "ceiling"),
        ("Certified", "certified", "plain"),
        ("Source", "source", "plain"),
    ),
)

COORDINATES = Columns(
    "The noise, coordinate by coordinate",
    "noise",
    (
        ("Root mean square of the noise", "deviation", "ceiling"),
        ("Spread, which the scale multiplies", "spread", "plain"),
    ),
)

NOISE = Layout(
    "Noise for membership inference privacy",
    (
        Tile("Scale of the noise", "noise.scale", "ceiling", "times the spread of each coordinate, below"),
        Tile("Eta: accuracy beyond guessing, at most", "eta", "exact"),
        GUESSING,
        Tile("Fits", "draws", "count", "parameters of random halves"),
        Tile("Swaps", "swaps", "count", "pairs that differ by one record"),
    ),
    (CALIBRATIONS, COORDINATES),
    (ONCE, HALF),
    value="Noise needed",
)

FINITE = Layout(
    "What an algorithm with finitely many outputs gives away",
    (
        Tile("Eta of the worst record", "eta", "share", "exact: accuracy beyond guessing"),
        Tile("Accuracy of the best attack on it", "accuracy", "share"),
        GUESSING,
        Tile("Training sets", "subsets", "count", "gone through"),
        Tile("Outputs", "outcomes", "count"),
    ),
    (
        Columns(
            "Record by record",
            "records",
            (
                ("Record", "record", "count"),
                ("Eta", "eta", "share"),
                ("Bound by swaps", "coupling", "ceiling"),
                ("Outputs that say in", "says_in", "count"),
            ),
            worst="eta",
        ),
    ),
    (HALF, PAPERS),
)

# What any algorithm may give away of data in categories, and what overfitting does.

WORST: model.Inline = (
    "Delta is that of the worst possible algorithm, which releases all it saw. A given one may give away less.",
)
MIS_INDEPENDENT: model.Inline = ("Records are taken to be independent draws from one distribution.",)
ONE_SIDED: model.Inline = (
    "Losses bound the security from above only: they show what is given away at least, never that no more is.",
)

ONE_OUTPUT: model.Inline = (
    "This is about one output and the two laws given; whether they are the true ones is not examined.",
)
THEOREM_13: model.Inline = (
    "For records that are not Gaussian nothing is stated: the constant of the paper's theorem is not explicit.",
)

DISCRETE = Layout(
    "What any algorithm may give away of such data",
    (
        Tile("Diversity C_K", "diversity.estimate", "plain"),
        Tile("C_K at most", "diversity.upper", "ceiling"),
        Tile("Categories", "categories", "count"),
        WEIGHED_GUESSING,
        Tile("Training records needed", "records_needed.certified", "count", "certified, whatever the algorithm"),
    ),
    (
        Columns(
            "What coarsening buys",
            "coarsened",
            (
                ("Cells", "cells", "count"),
                ("Merge", "merge", "plain"),
                ("C_K", "c_k", "plain"),
                ("Delta", "delta", "ceiling"),
                ("Delta at most", "delta_upper", "ceiling"),
                ("Records as they were", "kept", "percent"),
                ("Delta of so many cells at most", "cells_upper", "ceiling"),
                ("Training records needed (of the sample: estimated)", "records", "count"),
            ),
        ),
    ),
    (WORST, MIS_INDEPENDENT),
)

OVERFITTING = Layout(
    "What losses show of overfitting",
    (
        Tile("Security at most", "security.upper", "share"),
        Tile("Delta at least", "delta_at_least", "floor"),
        WEIGHED_GUESSING,
        Tile("The cut that shows it", "threshold", "plain"),
        Tile("The cut that the mean loss vouches for", "by_mean.epsilon", "ceiling", "whatever the losses"),
        Tile("Security at most, by that cut", "by_mean.security_at_most", "ceiling"),
    ),
    left_open=(ONE_SIDED, MIS_INDEPENDENT),
)

OUTPUT_LAWS = Layout(
    "How far the laws of one output are apart",
    (
        Tile("Delta", "delta", "ceiling", "exact: D_gamma of the two laws"),
        Tile("Security", "security", "floor"),
        Tile("Accuracy of the best attack", "accuracy", "share"),
        WEIGHED_GUESSING,
        Tile("Members it finds", "true_positive_rate", "percent"),
        Tile("Nonmembers it accuses", "false_positive_rate", "percent"),
        Tile("Outputs", "outputs", "count"),
    ),
    left_open=(ONE_OUTPUT,),
)

GAUSSIAN_MEAN = Layout(
    "What the mean of Gaussian records gives away",
    (
        Tile("Delta", "delta", "ceiling", "exact"),
        Tile("Security", "security", "floor"),
        Tile("Records in the mean", "n", "count"),
        Tile("Coordinates of a record", "dimension", "count"),
        Tile("Accuracy of the best attack", "accuracy", "share"),
        WEIGHED_GUESSING,
        Tile("Records needed", "records_needed", "count", "for the Delta wanted"),
    ),
    left_open=(MIS_INDEPENDENT, THEOREM_13),
)

# What a mechanism reveals to an attacker who knows the candidate records but not which were used.

PRACTICAL: model.Inline = (
    "The practical epsilon is about an attacker who knows the candidate records but not which half was used. For an "
    "attacker who knows more - some members for certain, or several releases - only the epsilon of the mechanism "
    "holds.",
)

RECORD_BY_RECORD = Columns(
    "Record by record",
    "records",
    (
        ("Record", "record", "count"),
        ("Practical epsilon", "practical_epsilon", "ceiling"),
        ("Success of the best attacker", "success", "ceiling"),
    ),
)

EXPONENTIAL = Layout(
    "Practical membership privacy of an exponential mechanism",
    (
        Tile("Practical epsilon", "practical_epsilon", "ceiling", "exact, or an estimate where sampled"),
        Tile("Practical epsilon at most", "interval.upper", "ceiling"),
        Tile("Epsilon of the mechanism", "epsilon", "plain"),
        Tile("Success of the best attacker, at most", "success", "ceiling", "on the worst record"),
        COIN,
        Tile("Training sets", "training_sets", "count"),
    ),
    (replace(RECORD_BY_RECORD, worst="practical_epsilon"),),
    (PRACTICAL,),
)

PRACTICAL_FINITE = Layout(
    "Practical membership privacy of an algorithm with finitely many outputs",
    (
        Tile("Practical epsilon at this delta", "practical_epsilon", "ceiling", "exact"),
        Tile("Delta", "delta", "exact"),
        Tile("Success of the best attacker", "success", "share", "exact, on the record easiest to tell"),
        COIN,
        Tile("Training sets", "training_sets", "count", "gone through"),
        Tile("Outputs", "outcomes", "count"),
    ),
    (replace(RECORD_BY_RECORD, worst="success"),),
    (PRACTICAL,),
)

GAUSSIAN = Layout(
    "Practical membership privacy of the Gaussian mechanism",
    (
        Tile("Practical epsilon at most", "practical_epsilon", "ceiling"),
        Tile("Epsilon of the mechanism", "epsilon", "ceiling", "whatever the records"),
        Tile("Epsilon on these records", "epsilon_on_records", "ceiling"),
        Tile("Noise sigma", "sigma", "ceiling"),
        Tile("Success of any attacker, at most", "success", "ceiling"),
        COIN,
    ),
    left_open=(PRACTICAL,),
)

# What theory allows beside what was measured.

HEAD = ("Quantity", "Allowed at most", "In one run", "Estimate", "Lower end", "Upper end", "Agrees")
RESOLVED: model.Inline = (
    "A yes is about this score at the resolution that its guarantee names. An attacker who reads the score more finely "
    "may see more, so a false claim can have a yes in every row. A no holds at every resolution.",
)
NOT_SHOWN: model.Inline = (
    "That nothing contradicts the claim does not show that it was kept: another attack may find more.",
)


def content(answer: model.AnswerPath, figures: model.Figures, context: model.Context) -> model.Report:
    """The decision, then quantity by quantity what is allowed and what was found."""
    source = answer["provenance"]
    tiles = (
        model.Fact(
            "Epsilon promised",
            answer["claimed_epsilon"].number("exact"),
            ("at delta ", answer["claimed_delta"].number("exact")),
        ),
        without_leak(answer["baseline"], NOTHING),
        *records(source),
    )
    table = model.Table("What is allowed, and what was measured", HEAD, tuple(map(_row, answer["rows"])))
    blocks: tuple[model.Block, ...] = (*figures.items, table)
    backing = Numbers()
    for row in answer["rows"]:
        backing.interval(row["says"].quote(), row, answer["confidence"])
    sections = (
        model.Section("agreement", "What theory allows, and what was measured", blocks, (table,)),
        model.Section("numbers", "The numbers, and what they are worth", backing.tables("Every number")),
        limitations.section(
            (NOT_SHOWN, RESOLVED, *limitations.of_sample(source["options"]["prior"])), answer["warnings"]
        ),
        provenance.section("theory/together", source, context),
    )
    broken = answer["decision"].value == "contradicted"
    headline = model.Headline("fail" if broken else None, answer["sentence"].quote())
    return model.Report("Theory and measurement together", headline, model.Facts(tiles), sections)


def _row(row: model.AnswerPath) -> tuple[model.Cell, ...]:
    ceilings = row.numbers("allowed", "allowed_in_one_run", kind="ceiling")
    return (row["says"].quote(), *ceilings, *row.interval(), row["agrees"].quote())


# What one training run shows of a promise.

NO_PROOF: model.Inline = (
    "That a promise is not contradicted does not show that it was kept: another attack, or more records, may find "
    "more.",
)
ONLY_IF_GAUSSIAN: model.Inline = (
    "The bound on mu says something about epsilon only if the mechanism is Gaussian. That of epsilon holds for every "
    "mechanism.",
)


def of_one_run(answer: model.AnswerPath, figures: model.Figures, context: model.Context) -> model.Report:
    """The decision, the bounds, and the guesses behind them."""
    source, epsilon, promise, normal = (answer[name] for name in ("provenance", "epsilon", "promise", "gaussian"))
    at: model.Inline = ("at delta ", epsilon["delta"].number("exact"), ", whatever the mechanism")
    tiles = [model.Fact("Epsilon of the mechanism, at least", epsilon["lower_bound"].number("floor"), at)]
    if promise:
        tiles.append(
            model.Fact(
                "p of the promise",
                promise["p_value"].number("plain"),
                ("a small one says that guesses were right too often",),
            )
        )
    if normal:
        mu: model.Inline = ("and epsilon ", normal["epsilon"].number("floor")) if normal["epsilon"] else ()
        tiles.append(model.Fact("Mu at least, if the mechanism is Gaussian", normal["mu"].number("floor"), mu))
    unit = "coins of records" if answer["draw"].value == "coin" else "pairs of records"
    tiles.append(model.Fact("Fair coins", answer["coins"].number("count"), (unit,)))
    backing = answer["guarantee"]
    words = (
        model.Paragraph(("Covered: ", backing["covers"].quote(), ".")),
        model.Paragraph(("Taken for granted: ", backing["assumes"].quote(), ".")),
    )
    left_open = (NO_PROOF, *((ONLY_IF_GAUSSIAN,) if normal else ()), limitations.CONFIDENCE)
    runs = answer["runs"] if "runs" in answer.value else None
    sections = (
        *(() if runs is None else (after_each(runs),)),
        model.Section("guesses", "How often guesses were right", figures.items, figures.items),
        model.Section("worth", "What it is worth", words, words),
        limitations.section((left_open), answer["warnings"]),
        provenance.section("theory/one-run", source, context),
    )
    broken = answer["decision"].value == "contradicted"
    headline = model.Headline("fail" if broken else None, answer["sentence"].quote())
    return model.Report("A promise in one run", headline, model.Facts(tuple(tiles)), sections)


def after_each(runs: model.AnswerPath) -> model.Section:
    """What epsilon is at least after each of several runs."""
    rows = tuple(
        (run["name"].untrusted(), run["coins"].number("count"), run["lower_bound"].number("floor")) for run in runs
    )
    table = model.Table(
        "After each run",
        ("run", "fair coins", "epsilon at least"),
        rows,
        "All bounds hold together: whoever stops after any run may state its own.",
    )
    return model.Section("runs", "After each run", (table,), (table,))


PAGES = {
    "dp": model.Page(PROMISE.content, lines.promise),
    "convert": model.Page(CONVERTED.content),
    "mip": model.Page(NOISE.content, lines.noise),
    "mip_finite": model.Page(FINITE.content),
    "mis": model.Page(DISCRETE.content, lines.discrete),
    "mis_divergence": model.Page(OUTPUT_LAWS.content, lines.divergence),
    "mis_mean": model.Page(GAUSSIAN_MEAN.content, lines.mean),
    "mis_overfitting": model.Page(OVERFITTING.content, lines.overfitting),
    "pmp_exponential": model.Page(EXPONENTIAL.content),
    "pmp_finite": model.Page(PRACTICAL_FINITE.content, lines.finite),
    "pmp_gaussian": model.Page(GAUSSIAN.content, lines.gaussian),
    "onerun": model.Page(of_one_run, lines.one_run),
    "together": model.Page(content, lambda answer: (agreement(answer["rows"]),)),
}
"""By the key of the operation."""
