"""What the audit chains of replicas say of one another, as files that were cut, moved or made anew."""

from collections.abc import Callable
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from app.audit_file import AuditFile, begin_anew, files_before, verify
from app.audit_links import LINKED, check_links, name_of
from tests.app.running import until

Chains = tuple[Path, Path]


def write(file: AuditFile, **fields: object) -> None:
    file.append(fields).outcome.result(5)


@pytest.fixture
def chains(tmp_path: Path) -> Chains:
    """Two chains, each of which names the other twice; the second goes over several files."""
    paths = tmp_path / "first", tmp_path / "second"
    with ExitStack() as stack:
        files = [stack.enter_context(closing(AuditFile(path))) for path in paths]
        for number in range(2):
            for file in files:
                write(file, number=number, replica=str(file.path))
            for file, path, other, other_path in (
                (*pair, *reversed_pair)
                for pair, reversed_pair in zip(
                    zip(files, paths, strict=True), zip(files[::-1], paths[::-1], strict=True), strict=True
                )
            ):
                others = {str(name_of(other_path)): other.last}
                write(file, event=LINKED, chain=name_of(path), others=others)
            files[1].rotate()
            until(lambda number=number: len(files_before(paths[1])) == number + 1)
    return paths


def remake(path: Path) -> None:
    """Write the same lines anew, but for one."""
    for each in (*files_before(path), path):
        each.unlink()
    path.with_name(f"{path.name}.checkpoint").unlink()
    with closing(AuditFile(path)) as file:
        for number in range(5):
            write(file, number=number)


def cut(path: Path) -> None:
    """Take the end off, over files."""
    *_, last = files_before(path)
    path.unlink()
    last.rename(path)
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:1]))


def without_beginning(path: Path) -> None:
    """Take the first file away, as whoever keeps lines for a year does."""
    files_before(path)[0].unlink()


def without_beginning_and_end(path: Path) -> None:
    without_beginning(path)
    *_, last = files_before(path)
    path.unlink()
    last.rename(path)
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:1]))


def anew(path: Path) -> None:
    begin_anew(path)


@pytest.mark.parametrize(("change", "faults", "notes"), [
    (None, 0, 0), (cut, 1, 0), (without_beginning, 0, 0), (without_beginning_and_end, 0, 1),
    (remake, 0, 1), (anew, 0, 0),
])  # fmt: skip
def test_what_chains_name_of_one_another_must_be_there(
    chains: Chains, change: Callable[[Path], None] | None, faults: int, notes: int
) -> None:
    if change is not None:
        change(chains[1])
    for path in chains:
        verify(path)

    said: list[str] = []
    found = check_links(chains, said)

    assert (len(found), len(said)) == (faults, notes), (found, said)
