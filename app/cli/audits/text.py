"""`mace text`: the tokens' log-probabilities that a language model gave, line by line, to scores of every query."""

from __future__ import annotations

import argparse
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from app.cli.parsing import Parser, add_overwrite

if TYPE_CHECKING:
    from app.cli.inputs import Source
    from app.cli.outputs import Target

SHARE = 0.2
HOWS = ("mean", "max", "logsumexp", "top_share")
SUFFIXES = (".jsonl", ".ndjson", ".csv", ".parquet")

DESCRIPTION = """Scores of texts by every query of a language model that the fields allow; higher is more like a member.

One JSON object a line for each text or piece of one:
  logprobs            natural logarithms of the tokens' probabilities; null for a first token that has none
  mean, std           mean and deviation of log p over the vocabulary at each token: for minkpp
  text                the text itself: for zlib_ratio
  reference_logprobs  logprobs of another model, which saw neither side: for reference_difference, reference_ratio
  member, id, group   copied, as are usual names of membership (split, is_member) and what --keep names

text_loss and mink need logprobs alone. Lines are read one after another; memory does not grow with the file, but with
--by, which keeps a few numbers a record.

examples:
  mace text tokens.jsonl scores.jsonl
  mace text tokens.jsonl.gz scores.parquet --by document --how max
  mace text tokens.jsonl scores.csv && mace estimate scores.csv --score mink"""

ENDINGS = """exit status:
  0    written
  2    misuse, or input that cannot be used; standard error names the line
  70   an error in mace itself
  130  interrupted"""


def add(commands: Any) -> None:
    """Describe the command."""
    commands.add_parser(
        "text",
        help="scores of texts from the log-probabilities that a language model gave their tokens",
        usage="mace text FILE OUTPUT [OPTIONS]",
        description=DESCRIPTION,
        epilog=ENDINGS,
        fill=_fill,
    )


def _fill(parser: Parser) -> None:
    parser.set_defaults(run=run)
    parser.add_argument("file", metavar="FILE", help="lines of JSON, compressed or not; - is standard input")
    parser.add_argument(
        "output", metavar="OUTPUT", help=f"table to write; its suffix chooses the form: {', '.join(SUFFIXES)}"
    )
    parser.add_argument(
        "--by", metavar="NAME", help="a field that names the document or person: one score for each"
    )
    parser.add_argument(
        "--how",
        metavar="NAME",
        help=f"how scores of a document are put together: {', '.join(HOWS)} (default mean)",
    )
    parser.add_argument(
        "--share",
        metavar="N",
        help=f"share of tokens for mink and minkpp, and of records for top_share (default {SHARE})",
    )
    parser.add_argument("--keep", metavar="NAME,…", help="further fields to copy")
    add_overwrite(parser, "OUTPUT if it exists")
    parser.add_argument("-q", "--quiet", action="store_true", help="print nothing but errors")


def run(options: argparse.Namespace) -> int:
    """Write a row for each record, or document; 2 if a line cannot be used."""
    from app.cli.ask import run_command
    from app.cli.inputs import Misuse, open_source
    from app.cli.outputs import target_of

    def work() -> int:
        share = _share(options.share)
        how = "mean" if options.how is None else options.how
        if how not in HOWS:
            raise Misuse(f"--how: needs to be one of {', '.join(HOWS)}")
        if options.how is not None and options.by is None:
            raise Misuse("--how: goes with --by")
        target = target_of(options.output, SUFFIXES, options.overwrite)
        with ExitStack() as stack:
            source = stack.enter_context(open_source(options.file))
            _score(source, target, options, share, how)
        return 0

    return run_command("text", work)


def _share(text: str | None) -> float:
    from app.cli.inputs import Misuse

    try:
        share = SHARE if text is None else float(text)
    except ValueError:
        share = 0.0
    if not 0.0 < share <= 1.0:
        raise Misuse("--share: needs a number above 0 and at most 1")
    return share


def _score(source: Source, target: Target, options: argparse.Namespace, share: float, how: Any) -> None:
    from app.cli.audits.tokens import Reader, Units
    from app.cli.run import LARGEST
    from app.cli.tables import table_of
    from app.cli.terminal import Progress, write_line
    from macekit.call import NDJSON, Call
    from macekit.decoding.compression import unpacked
    from macekit.decoding.roles import MEMBER_NAMES

    keep = [name.strip() for name in (options.keep or "").split(",") if name.strip()]
    reader = Reader(source.name, [*keep, *([options.by] if options.by is not None else [])])
    records, queries = 0, list[str]()
    units: Units | None = None
    call = Call("counts", NDJSON, source.encoding, expanded_limit=LARGEST)
    with Progress(options.quiet) as progress, table_of(target) as write:
        progress.now("scoring", source.size)
        with source.stream(progress.read) as body:
            for batch in reader.batches(unpacked(call, body).read):
                scores = reader.scores(batch, share)
                records, queries = records + len(batch.numbers), [*scores]
                if options.by is None:
                    write({**batch.copied, **{name: values.tolist() for name, values in scores.items()}})
                    continue
                if units is None:
                    member = next((name for name in reader.copied if name.lower() in MEMBER_NAMES), None)
                    units = Units(source.name, options.by, member)
                units.add(batch, scores)
        if units is not None:
            progress.now("writing")
            write(units.table(how, share))
    if not options.quiet:
        of = f"{records} records" if units is None else f"{units.count} of {options.by}, of {records} records"
        write_line(f"{of}: {', '.join(queries)}; higher is more like a member")
        write_line(f"next: mace compare {target.name} --score {','.join(queries)}")
