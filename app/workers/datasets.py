"""Datasets that a request names: files below one folder, or one address in a bucket, and nothing beside it.

Read by workers, which may open what lies there besides what they need; a bucket also needs the network.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

from estimators import MaceError
from estimators.python.dataclass import dataclass, replace
from macekit.call import Body, Call, Reply
from macekit.catalogue import BY_NAME
from macekit.decoding.body import options, table_options
from macekit.operations import answer
from macekit.problems import Problem, fault
from macekit.questions.counts.work import EXPANSION, LARGE
from macekit.schemas.query_string import DATA, of_table
from macekit.sources.reading import read
from macekit.sources.shards import ADDRESS, shards_below

NAMED_FILES = (
    "AWS_CONFIG_FILE",
    "AWS_SHARED_CREDENTIALS_FILE",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "GOOGLE_APPLICATION_CREDENTIALS",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
)
"""Variables that name what a bucket's library reads."""

OF_THE_NETWORK = (
    "/etc/hosts",
    "/etc/nsswitch.conf",
    "/etc/pki",
    "/etc/resolv.conf",
    "/etc/ssl",
    "/run/systemd/resolve",
)

Perform: TypeAlias = Callable[[Call, Body], Reply]


@dataclass(frozen=True, slots=True)
class Datasets:
    """The place below which datasets are named: a folder, or an address in a bucket."""

    place: str

    @property
    def is_remote(self) -> bool:
        """Whether it takes the network to read them."""
        return ADDRESS.fullmatch(self.place) is not None

    @property
    def readable(self) -> list[Path]:
        """What a worker must be able to open for them."""
        if not self.is_remote:
            return [Path(self.place)]
        paths = (os.environ.get(variable) for variable in NAMED_FILES)
        return [*(Path(path) for path in paths if path), *map(Path, OF_THE_NETWORK)]

    def perform(self, perform: Perform, call: Call, body: Body) -> Reply:
        """Answer a call, of the dataset that it names or of its body."""
        names = [value for key, value in call.query if key == DATA]
        if not names:
            return perform(call, body)
        about = replace(call, query=tuple((key, value) for key, value in call.query if key != DATA))
        try:
            if len(names) > 1:
                raise _refused("is given twice; a folder or a pattern stands for several files")
            if body.view():
                raise _refused("names a dataset, and a body came beside it; send one of them")
            return self._answer(perform, about, names[0])
        except (Problem, MaceError) as error:
            problem = Problem.of(error)
            return (_without_address(problem) if self.is_remote else problem).reply(call.request_id)

    def _answer(self, perform: Perform, call: Call, name: str) -> Reply:
        """One file of usual size is a body like any other; several, or a large one, are read in blocks."""
        shards = shards_below(self.place, name)
        if len(shards.shards) == 1:
            with shards.shards[0].open(call) as (file, about):
                expansion = 1 if about.encoding == "identity" else EXPANSION
                if file.size() * expansion <= LARGE:
                    return perform(about, Body.of(file.read()))
        if BY_NAME[call.operation].tables or "group" not in of_table(call.operation) or call.operation == "columns":
            raise _refused(f"names {len(shards.shards)} files or a large one; this question reads one of usual size")
        columns = tuple(table_options(call).items())
        return answer(call, read(shards, call.operation, options(call), columns, textual=True))


def _refused(why: str) -> Problem:
    return fault("bad-option", DATA, why)


def _without_address(problem: Problem) -> Problem:
    """The same without the names of the bucket and of what else is in it, which the service keeps to itself."""
    what, _, reason = problem.detail.partition(": cannot be read: ")
    if not reason:
        return problem
    code = re.search(r"AWS Error ([A-Z_]+)", reason)
    return Problem(problem.kind.slug, f"{what}: cannot be read" + (f": {code[1]}" if code else ""))
