"""From what was typed to an answer that is printed or written: what every command with a question does.

In place of scores, `mace report` also takes an answer that was saved.
"""

import argparse
import codecs
import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import PurePath
from types import MappingProxyType
from typing import Any

import msgspec

from app.cli.importing import open_result, tool_of
from app.cli.inputs import Source, as_misuse, detail_of, in_shell, open_source
from app.cli.options import Option, columns_of, options_of, values_of
from app.cli.outputs import Answer, Form, Target, form_of, is_shown, suffixes_of, target_of
from app.cli.parsing import Misuse
from app.cli.run import Apart, Inputs, Sides, Tables, answer_inputs, risks_to_write
from app.cli.terminal import Progress, screen_width, write_line
from estimators.python.dataclass import dataclass, replace
from estimators.python.renamed import notice
from macekit.call import ARROW, JSON, Call, Reply
from macekit.decoding.compression import expanded
from macekit.formats import FORMATS
from macekit.operation import Operation
from macekit.operations.encode import json_bytes
from macekit.operations.options import validate
from macekit.problems import Problem
from macekit.reports.model import TOP_RECORDS, Context, minute
from macekit.reports.saved import MARKS, BrokenAnswerError, recognise, require_names_once, validate_answer
from macekit.reports.text import closing, text
from macekit.schemas.by_operation import QUESTIONS
from macekit.schemas.query_string import of_table, takes_arrays
from macekit.sources.risks import write_risks
from macekit.sources.shards import Shards, is_address, safe_name, shards_of
from macekit.text import escape_controls_in_json, nearest, printable

_Marks = msgspec.defstruct("_Marks", [(name, Any, None) for name in MARKS])
"""The fields that only an answer has; everything else is skipped."""


NOT_CHECKED = "Signature not checked: this may not be the answer that was signed; mace verify tells."
SIGNATURE_HOLDS = "Signature checked with the public key: this is the answer that was signed."


def saved_answer(inputs: Inputs, call: Call, values: Mapping[str, object], public_key: str | None) -> Answer | None:
    """The answer that the one input holds; None if it holds scores or a request.

    With the file of a public key, an answer that was not signed with it, byte for byte, is refused.
    """
    answer, has_key = None, public_key is not None
    source = inputs[0] if isinstance(inputs, list) and len(inputs) == 1 else None
    if isinstance(source, Source) and source.media_type == JSON and source.size is not None:
        with as_misuse(f"{source.name}: "), source.body() as body:
            data = expanded(Call(call.operation, JSON, source.encoding), body)
            if public_key is not None:
                _require_signed(source, data, public_key)
            answer = _read(source, data, has_options=bool(call.query or values), has_public_key=has_key)
    if answer is None and has_key:
        raise Misuse("--public-key: goes with one kept answer, as it came from the service")
    return answer


def _require_signed(source: Source, data: memoryview, public_key: str) -> None:
    """Refuse what is not, byte for byte, what the holder of the key signed."""
    from app import signing

    try:
        signing.verify(bytes(data), signing.public_keys(public_key))
    except signing.BadKey as error:
        raise Misuse(f"--public-key: {printable(public_key)}: {error}") from None
    except signing.Unverified as error:
        raise Misuse(f"{source.name}: refused: {error}") from None


@contextmanager
def blame_file(answer: Answer) -> Iterator[None]:
    """If a saved answer cannot be shown, its file is at fault."""
    try:
        yield
    except Misuse:
        raise
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError):
        if answer.file is None:
            raise
        raise Misuse(f"{answer.file}: not a complete answer of mace, so it cannot be shown") from None


def _read(source: Source, data: memoryview, *, has_options: bool, has_public_key: bool) -> Answer | None:
    if bytes(data[: len(codecs.BOM_UTF8)]) == codecs.BOM_UTF8:
        data = data[len(codecs.BOM_UTF8) :]
    try:
        marks = msgspec.json.decode(data, type=_Marks)
        if all(getattr(marks, name) is None for name in MARKS):
            return None
        content = msgspec.json.decode(data)
        operation = recognise(content)
        if operation is None or operation == "counts":  # a question is asked of counts
            return None
        if has_options:
            raise Misuse(f"{source.name}: is an answer already; options need the scores")
        require_names_once(data)
        signature = SIGNATURE_HOLDS if has_public_key else NOT_CHECKED if "signature" in content else ""
        content = validate_answer(operation, content)
        reply = Reply(200, JSON, msgspec.json.encode(content))
        return Answer(operation, reply, content, source.name, signature)
    except msgspec.DecodeError:
        if _has_unbounded_numbers(data):
            raise Misuse(f"{source.name}: no answer of mace's: it holds NaN, or a number beyond any float") from None
        return None  # the reader of requests says what is wrong
    except RecursionError:
        raise Misuse(f"{source.name}: nested too deeply") from None
    except BrokenAnswerError as error:
        raise Misuse(f"{source.name}: not a complete answer of mace: {error}") from None


def _has_unbounded_numbers(data: memoryview) -> bool:
    """Whether this would be an answer if JSON had NaN and infinity."""
    try:
        content = json.loads(bytes(data))
    except ValueError:
        return False
    return recognise(content) is not None


SHOWN_RECORDS = 10  # records that `mace risk` prints without --top


@dataclass(frozen=True, slots=True)
class Output:
    """A file to write, and its form."""

    target: Target
    form: Form


def answer_question(
    question: Operation,
    arguments: argparse.Namespace,
    beside: Mapping[str, object] = MappingProxyType({}),
    write_files: Callable[[dict[str, Any]], None] | None = None,
) -> Answer:
    """Ask the question of the files, and of what stands beside them; write the answer and print it, and return it.

    Files are written first, those of ``write_files``, too: who reads what is printed may have stopped reading.
    """
    options, from_file = options_of(question.name), ""
    has_limits = hasattr(arguments, "limits")
    if has_limits and not {"state", "declaration"} & beside.keys():  # which have their own
        from app.cli.limits_file import fill_in

        from_file = fill_in(question.name, options, arguments)
    values = {**values_of(options, arguments), **beside}
    output = _output(question, arguments)
    if question.command == "risk" and "top" not in values:
        values |= _top(arguments, output)
    accept = JSON if output is None else output.form.accept
    call = Call(question.name, query=columns_of(options, arguments), accept=accept)
    _check(call, values, options, complete=question.most_files == 0)
    from_limits = {each.name for each in getattr(arguments, "filled_in", ())}
    of_tables = tuple(each for each in call.query if each[0] in from_limits)
    call = replace(call, query=tuple(each for each in call.query if each not in of_tables))
    tables = _tables(question, arguments)
    paths = list(tables.values()) or paths_of(question, arguments)
    if output is not None and os.path.realpath(output.target.path) in map(os.path.realpath, paths):
        message = f"{output.target.name}: is read, and would be replaced by the answer; give -o another name"
        raise Misuse(message)
    with Progress(arguments.quiet) as progress, ExitStack() as stack:
        for each in options:
            if each.former and getattr(arguments, "former", None) == each.former:
                progress.say(notice(each.former, each.flag))
        if getattr(arguments, "tool", None) is None:
            inputs = _inputs(question, tables, paths, arguments, stack)
        else:
            inputs = _results(question, paths, arguments, progress)
        if has_limits:
            from app.cli.limits_file import values_of_each

            own = values_of_each(inputs, question.name, options, arguments, from_file)
            if isinstance(inputs, Apart):
                inputs = replace(inputs, values=own)
            else:
                values = {**own[0], **beside}
        if isinstance(inputs, Apart):
            progress.say(f"{len(paths)} files, each judged by itself; --one-table reads them as one table")
        elif _takes_shards(question) and len(paths) > 1 and isinstance(inputs, list):
            progress.say(f"{inputs[0].name} are read as one table; mace compare takes them apart")
        of_records = output is not None and output.form.accept == ARROW
        large = risks_to_write(call, values, inputs) if of_records else None
        if output is not None and large is not None:
            answer = _write_risks(call, values, large, output, progress)
        else:
            answer_before = (
                saved_answer(inputs, call, values, arguments.public_key) if question.name == "report" else None
            )
            answer = answer_before or Answer(question.name, _reply(call, values, inputs, progress, of_tables))
            if output is not None:
                progress.now("writing")
                context = _context(inputs, [] if answer.file else paths, arguments, answer.signature)
                with blame_file(answer):
                    output.target.write(output.form.file(answer, context))
    if write_files is not None:
        write_files(answer.content)
    with blame_file(answer):
        _print(arguments, answer, output)
    return answer


def _write_risks(
    call: Call, values: Mapping[str, object], source: Shards, output: Output, progress: Progress
) -> Answer:
    """The risk of each record of what is larger than memory, written as it is read again."""
    progress.say(f"{source.name} is large, so mace counts it, then reads it again and looks each record up")
    progress.now("counting, then writing")
    with as_misuse(), output.target.writing() as file:
        content = write_risks(source, call.query, values, file, output.target.suffix)
    return Answer(call.operation, Reply(200, JSON, json_bytes(content)), dict(content))


def _top(arguments: argparse.Namespace, output: Output | None) -> dict[str, object]:
    """How many records to print, unless the answer is written as data."""
    if output is None:
        return {} if arguments.json else {"top": SHOWN_RECORDS}
    return {"top": TOP_RECORDS} if output.form.is_report else {}


def _output(question: Operation, arguments: argparse.Namespace) -> Output | None:
    """The file to write, checked before any work is done."""
    card, chart = getattr(arguments, "card", False), getattr(arguments, "chart", None)
    if arguments.output is None and getattr(arguments, "dated", False):
        raise Misuse("--dated: goes with -o")
    if arguments.output is None and (card or chart):
        form_of(question.name, "", card, chart)
    if arguments.output is None:
        return None
    target = target_of(arguments.output, suffixes_of(question.name), arguments.overwrite)
    return Output(target, form_of(question.name, target.suffix, card, chart))


def _context(inputs: Inputs, paths: list[str], arguments: argparse.Namespace, signature: str) -> Context:
    """The names of the files without their folders, because a report is sent to others; and the time, if asked for."""
    names: list[str] = []
    if paths and isinstance(inputs, list) and any(isinstance(each, Shards) for each in inputs):
        names = [each.name for each in inputs]
    elif "-" not in paths:
        names = [PurePath(path).name.encode("utf-8", "backslashreplace").decode() for path in paths]
    date = minute() if getattr(arguments, "dated", False) else None
    return Context(names[0] if names else None, date, tuple(names[1:]), signature)


def _check(call: Call, values: dict[str, object], options: Sequence[Option], *, complete: bool) -> None:
    """Refuse wrong options before a file is opened; a file may hold what is missing, unless ``complete``."""
    try:
        validate(QUESTIONS[call.operation], values)
    except Problem as problem:
        if problem.kind.slug == "missing-field" and not complete:
            return
        flag = next((each.flag for each in options if each.name == problem.field), None)
        detail = problem.local.removeprefix(f"{problem.field}: ")
        raise Misuse(f"{flag}: {detail}" if flag else in_shell(problem.local)) from None


def paths_of(question: Operation, arguments: argparse.Namespace) -> list[str]:
    """The files to read; standard input, if there is none and it is not a terminal."""
    if question.most_files == 0:
        return []
    if arguments.format is not None and arguments.format not in FORMATS:
        near = nearest(arguments.format, FORMATS)
        raise Misuse(f"--format: {printable(arguments.format)} is none of {', '.join(FORMATS)}{near}")
    files: list[str] = arguments.files
    sides = [side for side in (getattr(arguments, "members", None), getattr(arguments, "nonmembers", None)) if side]
    if sides and (len(sides) == 1 or files):
        raise Misuse("--members and --nonmembers go together, and without another file")
    if sides:
        return sides
    if question.most_files == 1 and len(files) > 1 and not _takes_shards(question):
        raise Misuse(f"takes one file, got {len(files)}")
    if not files and sys.stdin is not None and sys.stdin.isatty():
        raise Misuse(
            f"no file\nName a file ({question.examples[0]}), or pipe one in."
            if takes_arrays(question.name)
            else f"no file\nName a file of scores ({question.examples[0]}), give --members and --nonmembers, "
            "or pipe scores in.\n`mace demo` shows a first answer without any."
        )
    return files or ["-"]


def _tables(question: Operation, arguments: argparse.Namespace) -> dict[str, str]:
    """The files of the tables of a question, by what they are."""
    files = {name: getattr(arguments, name) for name in question.tables}
    missing = [name for name in question.needed_tables if files[name] is None]
    if missing:
        raise Misuse(f"--{missing[0]}: is required ({question.examples[0]})")
    return {name: path for name, path in files.items() if path is not None}


def _takes_shards(question: Operation) -> bool:
    """Whether several files are one sample together."""
    return question.most_files == 1 and "group" in of_table(question.name)


def _inputs(
    question: Operation, tables: dict[str, str], paths: list[str], arguments: argparse.Namespace, stack: ExitStack
) -> Inputs:
    """What is read: a file for each table, for each side, or for each query; many files for one sample, or apart."""
    by_groups = question.of_groups and getattr(arguments, "option:group", None) is not None
    if len(paths) > 1 and getattr(arguments, "one_table", None) is False and arguments.files:
        _require_distinct(paths)
        return Apart([(safe_name(path), _inputs(question, tables, [path], arguments, stack)) for path in paths])
    together = (_takes_shards(question) or by_groups) and not getattr(arguments, "members", None)
    if together and (len(paths) > 1 or is_address(paths[0])):
        return [_shards(paths, arguments)]
    apart = question.most_files is None
    sources = [
        _shards([path], arguments)
        if apart and is_address(path)
        else stack.enter_context(open_source(path, arguments.format))
        for path in paths
    ]
    if apart:
        return sources
    files = [source for source in sources if not isinstance(source, Shards)]
    if tables:
        return Tables(dict(zip(tables, files, strict=True)))
    return Sides(*files) if getattr(arguments, "members", None) else sources


def _results(question: Operation, paths: list[str], arguments: argparse.Namespace, progress: Progress) -> Inputs:
    """Scores out of another tool's file: one, or one for each query."""
    if getattr(arguments, "members", None) or arguments.format is not None:
        message = "--from: reads both sides of one file, and tells its format by itself; name the file alone"
        raise Misuse(message)
    if question.most_files == 1 and len(paths) > 1:
        raise Misuse("--from: reads one file; mace import makes a table of each")
    return [open_result(path, arguments.tool, progress.say) for path in paths]


def _of_other_tool(source: Source | Shards | None) -> str:
    """That a file which cannot be read is another tool's result, and how it is; empty if it is none."""
    tool = tool_of(source) if isinstance(source, Source) else None
    return "" if tool is None else f"is a result of {tool.title}'s: --from {tool.name} reads it"


def _require_distinct(paths: Sequence[str]) -> None:
    """Refuse a file that is named twice, by whatever name."""
    seen: set[str] = set()
    for path in paths:
        real = path if path == "-" or is_address(path) else os.path.realpath(path)
        if real in seen:
            raise Misuse(f"{safe_name(path)}: is given twice; each file is judged once")
        seen.add(real)


def _shards(paths: list[str], arguments: argparse.Namespace) -> Shards:
    """The files that what was typed stands for."""
    if arguments.format is not None:
        raise Misuse("--format: of several files, each is read in its own format; remove it")
    try:
        return shards_of(paths)
    except Problem as problem:
        raise Misuse(problem.local) from None


def _reply(
    call: Call, values: dict[str, object], inputs: Inputs, progress: Progress, of_tables: Sequence[tuple[str, str]]
) -> Reply:
    reply = answer_inputs(call, values, inputs, progress, of_tables)
    if reply.problem is not None:
        only = inputs[0] if isinstance(inputs, list) and len(inputs) == 1 else None
        prefix = "" if only is None else f"{only.name}: "
        raise Misuse(prefix + (_of_other_tool(only) or detail_of(reply)))
    return reply


def _print(arguments: argparse.Namespace, answer: Answer, output: Output | None) -> None:
    """The answer on standard output; its sentence on standard error if the numbers went to a file."""
    if getattr(arguments, "brief", False):
        from macekit.reports.brief import brief, brief_of_files

        form = brief_of_files if "files" in answer.content else brief
        write_line(escape_controls_in_json(json_bytes(form(answer.content)).decode()))
    elif arguments.json:
        write_line(escape_controls_in_json(bytes(answer.reply.body).decode()))
    elif output is None:
        write_line(text(answer.operation, answer.content, screen_width(), answer.signature))
        if not is_shown(answer.operation):
            write_line("note: --json prints the whole answer, -o FILE.json writes it to a file")
    elif not arguments.quiet:
        print(closing(answer.content), file=sys.stderr)
    if answer.signature and (arguments.json or output is not None) and not arguments.quiet:
        print(answer.signature, file=sys.stderr)
