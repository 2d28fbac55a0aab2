"""A body reads the same wherever it lies."""

import os
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from macekit.call import Body

CONTENT = bytes(range(256)) * 1000


def in_memory(content: bytes, _directory: Path) -> Body:
    return Body.of(content)


def as_memoryview(content: bytes, _directory: Path) -> Body:
    return Body.of(memoryview(content))


def in_file(content: bytes, directory: Path) -> Body:
    (directory / "body").write_bytes(content)
    return Body.of_descriptor(os.open(directory / "body", os.O_RDONLY))


def in_written_memfd(content: bytes, _directory: Path) -> Body:
    fd = os.memfd_create("test")
    os.write(fd, content)
    return Body.of_descriptor(fd)


def in_pipe(content: bytes, _directory: Path) -> Body:
    reader, writer = os.pipe()

    def feed() -> None:
        with os.fdopen(writer, "wb") as file:
            file.write(content)

    threading.Thread(target=feed).start()
    return Body.of_descriptor(reader)


kinds = pytest.mark.parametrize("make", [in_memory, as_memoryview, in_file, in_written_memfd, in_pipe])
Make = Callable[[bytes, Path], Body]


@kinds
def test_a_view_shows_the_whole_body_as_often_as_it_is_taken(make: Make, tmp_path: Path) -> None:
    with make(CONTENT, tmp_path) as body:
        found = body.view()

        assert body.view() == found == CONTENT
        assert np.frombuffer(found, np.uint8).sum() == sum(CONTENT)


@kinds
def test_a_stream_gives_as_much_as_is_asked_until_the_end(make: Make, tmp_path: Path) -> None:
    with make(CONTENT, tmp_path) as body:
        stream = body.stream()
        parts = [stream.read(100_000), stream.read(100_000), stream.read(100_000), stream.read(100_000)]

    assert [len(part) for part in parts] == [100_000, 100_000, 56_000, 0]
    assert b"".join(parts) == CONTENT


@kinds
def test_an_empty_body_is_empty_either_way(make: Make, tmp_path: Path) -> None:
    with make(b"", tmp_path) as body:
        assert body.view() == b""
    (tmp_path / "again").mkdir()
    with make(b"", tmp_path / "again") as body:
        assert body.stream().read() == b""


@kinds
def test_a_closed_body_says_so(make: Make, tmp_path: Path) -> None:
    body = make(CONTENT, tmp_path)
    body.view()
    body.close()
    body.close()

    with pytest.raises(ValueError, match="closed"):
        body.view()


@pytest.mark.parametrize("make", [in_memory, as_memoryview, in_file, in_written_memfd])
def test_all_but_a_pipe_can_be_read_again(make: Make, tmp_path: Path) -> None:
    with make(CONTENT, tmp_path) as body:
        assert body.seekable
        assert body.stream().read() == body.stream().read() == CONTENT


def test_a_pipe_has_one_stream_and_is_not_seekable(tmp_path: Path) -> None:
    with in_pipe(CONTENT, tmp_path) as body:
        assert not body.seekable
        assert body.stream() is body.stream()
        body.view()


def test_a_mapped_file_outlives_its_body_while_something_looks_at_it(tmp_path: Path) -> None:
    body = in_file(CONTENT, tmp_path)
    numbers = np.frombuffer(body.view(), np.uint8)
    body.close()

    assert numbers[255] == 255


def test_a_closed_body_keeps_no_descriptor(tmp_path: Path) -> None:
    before = set(os.listdir("/proc/self/fd"))
    for make in (in_file, in_written_memfd):
        body = make(CONTENT, tmp_path)
        body.view()
        body.close()
        del body

    assert set(os.listdir("/proc/self/fd")) == before


def test_a_pipe_left_early_is_closed_for_its_writer(tmp_path: Path) -> None:
    reader, writer = os.pipe()
    os.write(writer, b"x" * 1000)
    with Body.of_descriptor(reader) as body:
        body.stream().read(1)

    with pytest.raises(BrokenPipeError):
        os.write(writer, b"x")
    os.close(writer)
