"""`mace shadows`: signals of a model and of its shadows to LiRA, RMIA and calibrated loss, and to a first verdict."""

from __future__ import annotations

import argparse
import os
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from app.cli.parsing import ENDINGS, Parser, add_overwrite, status_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from app.cli.inputs import Source
    from estimators.decisions.compare import Comparison
    from estimators.sample.scores import Scores

TARGET, SIGNALS, MEMBERSHIP, MEMBER = "target", "signals", "membership", "member"
LEARNED = ("features", "calibration_features", "calibration_signal")
COPIED = ("id", "group", "unit")
SUFFIXES = (".csv", ".jsonl", ".ndjson", ".npz", ".parquet")
SCALES = ("logit", "log", "plain")

UNLIKE = 0.1
"""How far the shares of shadows with a record may be apart between the sides before that is worth a word."""

DESCRIPTION = """LiRA, RMIA, calibrated loss and quantile regression, from what a model and its shadows say of records.

FILE is an NPZ archive of arrays, as numpy.savez writes it; higher signals are more like members:
  target        the audited model's signal of each record
  signals       the shadows' signals, a row a shadow, a column a record
  membership    True where the shadow was trained on the record, in the same shape; without it no shadow was
  member        True where the audited model was trained on the record
  id, group, unit  one for each record; copied
  features, calibration_features, calibration_signal
                for quantile regression: a row of numbers for each record, and for others that are no members and are
                not scored, with the audited model's signal of these

Records that no shadow was trained on, or that every one was, are left out, and how many is said, as long as half of
either side remain.

--scale says what the signals are: logit, the logarithm of p / (1 - p) of a record's own class; log, that of p; plain,
any other number, of which RMIA makes nothing.

examples:
  mace shadows signals.npz --scale logit
  mace shadows signals.npz --scale logit -o scores.csv && mace report scores.csv --score lira_online
  mace shadows signals.npz --max-advantage 0.1"""


def add(commands: Any) -> None:
    """Describe the command."""
    commands.add_parser(
        "shadows",
        help="LiRA, RMIA and calibrated loss from the signals of a model and of its shadows",
        usage="mace shadows FILE [OPTIONS]",
        description=DESCRIPTION,
        epilog=ENDINGS,
        fill=_fill,
    )


def _fill(parser: Parser) -> None:
    parser.set_defaults(run=run)
    parser.add_argument("file", metavar="FILE", help="NPZ archive of arrays; - is standard input")
    parser.add_argument(
        "--scale", metavar="NAME", help=f"what the signals are: {', '.join(SCALES)} (default plain)"
    )
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        help=f"table of scores to write; its suffix chooses the form: {', '.join(SUFFIXES)}",
    )
    parser.add_argument(
        "--max-advantage", metavar="N", help="largest acceptable advantage, for all queries together"
    )
    parser.add_argument(
        "--accept-exposure", action="store_true", help="let a pass stand beside a severe exposure of members"
    )
    add_overwrite(parser, "the file of -o if it exists")
    parser.add_argument("-q", "--quiet", action="store_true", help="print nothing but errors")


def run(options: argparse.Namespace) -> int:
    """Print a line for each query, write the scores, and end with what was decided."""
    from app.cli.ask import run_command
    from app.cli.inputs import Misuse, in_shell, open_source
    from app.cli.outputs import target_of
    from app.cli.tables import table_of
    from app.cli.terminal import Progress, write_line
    from estimators import MaceError
    from macekit.problems import Problem

    def work() -> int:
        scale = "plain" if options.scale is None else options.scale
        if scale not in SCALES:
            raise Misuse(f"--scale: needs to be one of {', '.join(SCALES)}")
        limit = _limit(options.max_advantage)
        output = None if options.output is None else target_of(options.output, SUFFIXES, options.overwrite)
        with ExitStack() as stack:
            source = stack.enter_context(open_source(options.file, "npz"))
            progress = stack.enter_context(Progress(options.quiet))
            try:
                arrays, notes = _with_shadows(_arrays(source))
                progress.now("computing")
                member = arrays[MEMBER]
                scores, reasons = _scores(arrays, scale)
                lines, first, decision = _verdict(
                    scores, member, reasons, limit, arrays.get(MEMBERSHIP), notes, options.accept_exposure
                )
            except Problem as problem:
                raise Misuse(f"{source.name}: {in_shell(problem.local)}") from None
            except MaceError as error:
                raise Misuse(f"{source.name}: {error.message}") from None
            if output is not None:
                copied = {name: arrays[name] for name in COPIED if name in arrays}
                with table_of(output) as write:
                    write(
                        {name: each.tolist() for name, each in {**copied, MEMBER: member, **scores}.items()}
                    )
                lines.append(f"next: mace report {output.name} --score {first}")
        if not options.quiet:
            write_line("\n".join(lines))
        return status_of({"decision": decision})

    return run_command("shadows", work)


def _limit(text: str | None) -> float | None:
    from app.cli.inputs import Misuse

    try:
        limit = None if text is None else float(text)
    except ValueError:
        limit = 2.0
    if limit is not None and not -1.0 <= limit <= 1.0:
        raise Misuse("--max-advantage: needs a number from -1 to 1")
    return limit


def _arrays(source: Source) -> dict[str, NDArray[Any]]:
    """The arrays that the queries need, and those that are copied."""
    from macekit.call import NPZ, Call
    from macekit.decoding.compression import expanded
    from macekit.decoding.npy import values_of
    from macekit.decoding.npz import Archive
    from macekit.problems import Problem

    most = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
    call = Call("counts", NPZ, source.encoding, expanded_limit=most)
    with source.body() as body, Archive.of(expanded(call, body), most) as archive:
        needed = (TARGET, SIGNALS, MEMBER)
        missing = next((name for name in needed if name not in archive.names), None)
        if missing is not None:
            raise Problem("missing-field", f"{missing}: no array has this name; need {', '.join(needed)}")
        some = [name for name in LEARNED if name in archive.names]
        if some and len(some) < len(LEARNED):
            lacking = next(name for name in LEARNED if name not in some)
            raise Problem(
                "missing-field", f"{lacking}: no array has this name; {', '.join(LEARNED)} go together"
            )
        names = [*needed, MEMBERSHIP, *COPIED, *LEARNED]
        arrays = {name: archive.array(name) for name in names if name in archive.names}
    for name in (MEMBER, *COPIED):
        if name not in arrays:
            continue
        if arrays[name].shape != arrays[TARGET].shape[:1]:
            raise Problem(
                "dimension-mismatch", f"{name}: need one for each record of {TARGET}, in one dimension"
            )
        if arrays[name].dtype.kind not in "biufU":
            raise Problem(
                "bad-records", f"{name}: an array of this type cannot be used; need numbers or text"
            )
        values_of(arrays[name], 0)  # which refuses text of letters that there are none of
    return arrays


def _member(arrays: dict[str, NDArray[Any]]) -> NDArray[Any]:
    """Who is a member of the audited model."""
    import numpy as np

    from macekit.problems import Problem

    member = arrays[MEMBER]
    if member.dtype.kind not in "biuf" or not np.isin(member, (0, 1)).all():
        raise Problem("bad-records", f"{MEMBER}: need True or False (1 or 0) for each record")
    return member.astype(np.bool_)


def _with_shadows(arrays: dict[str, NDArray[Any]]) -> tuple[dict[str, NDArray[Any]], list[str]]:
    """The records that have the shadows that queries need, and how many are left out."""
    from estimators.audits.model import left_out_of_shadows
    from estimators.audits.queries.shadows import records_with_shadows

    arrays[MEMBER] = _member(arrays)
    if MEMBERSHIP not in arrays:
        return arrays, []
    keep = records_with_shadows(arrays[MEMBERSHIP], arrays[MEMBER])
    if keep.all():
        return arrays, []
    along = {
        name: array[:, keep] if name in (SIGNALS, MEMBERSHIP) else array[keep]
        for name, array in arrays.items()
        if name not in LEARNED[1:]
    }
    return {**arrays, **along}, [f"note: {each.message}" for each in left_out_of_shadows(keep)]


def _scores(arrays: dict[str, NDArray[Any]], scale: Any) -> tuple[dict[str, NDArray[Any]], dict[str, str]]:
    """The scores of each query, and why others cannot be had."""
    from estimators.audits.model import shadow_scores
    from estimators.audits.queries.shadows import quantile_regression

    target = arrays[TARGET]
    scores, reasons = shadow_scores(target, arrays[SIGNALS], arrays.get(MEMBERSHIP), scale=scale)
    if scale == "plain":
        reasons["rmia"] = "needs probabilities; say --scale logit or log if the signals are made of them"
    if LEARNED[0] in arrays:
        features, others, signal = (arrays[name] for name in LEARNED)
        scores["quantile_regression"] = quantile_regression(features, target, others, signal)
    else:
        reasons["quantile_regression"] = f"needs {', '.join(LEARNED)}"
    return scores, reasons


def _verdict(
    scores: dict[str, NDArray[Any]],
    member: NDArray[Any],
    reasons: dict[str, str],
    limit: float | None,
    membership: NDArray[Any] | None,
    notes: list[str],
    accept_exposure: bool,
) -> tuple[list[str], str, str | None]:
    """Lines: each query, all intervals holding together, a sentence, a verdict, notes; the riskiest; the decision."""
    from estimators import Scores
    from estimators.audits.model import without_same_order
    from estimators.decisions.exposed_members import exposures_of
    from estimators.decisions.riskiest import compare_queries, judge_queries, limits_of, verdict_of
    from estimators.sample.scores import Query

    every: dict[str, Scores] = {
        name: Scores.of(each[member], each[~member], Query.CONTINUOUS) for name, each in scores.items()
    }
    queries, same = without_same_order(every)
    comparison = compare_queries(queries)
    lines = [*_table(comparison), "", comparison.sentence]
    verdicts = judge_queries(limits_of(max_advantage=limit), queries) if limit is not None else ()
    verdict = verdict_of(verdicts, None, "", None, exposures_of(queries), accept_exposure)
    if verdict.undecided_because:
        lines.append(verdict.sentence)
    else:
        lines += [f"{each.opening}: {each.reason}" for each in verdicts]
    lines += [f"not asked: {name} {reason}" for name, reason in {**same, **reasons}.items()]
    lines += notes
    if membership is not None:
        share = membership.mean(axis=0)
        of_members, of_others = share[member].mean(), share[~member].mean()
        if abs(of_members - of_others) > UNLIKE:
            lines.append(
                f"note: members are in {of_members:.0%} of the shadows and nonmembers in {of_others:.0%}: shadows that "
                "are not drawn from both sides alike know who is a member, and find a leak that is none"
            )
    lines += [f"note: {caution.message}" for caution in comparison.cautions]
    if not verdict.undecided_because:
        lines += [f"note: {caution.message}" for caution in verdict.cautions]
    return lines, comparison.ranking[0].name, verdict.word or None


def _table(comparison: Comparison) -> list[str]:
    from estimators.statement import at_least, at_most

    wide = max(len("Query"), *(len(each.name) for each in comparison.ranking))
    lines = [f"{'Query':<{wide}}  Advantage  Lower end  Upper end"]
    for each in comparison.ranking:
        estimate = each.advantage.estimate
        ends = estimate.interval
        lines.append(
            f"{each.name:<{wide}}  {estimate.value:>9.3f}  {at_least(ends.lower):>9}  {at_most(ends.upper):>9}"
        )
    return lines
