"""A file is what it begins with, whatever it is called; where that says nothing, its name does."""

import gzip

import pyarrow as pa

from macekit.formats import HEAD, MAGIC, SUFFIXES, encoding_named, encoding_of, format_named, format_of
from tests.cases import each_case

ZSTD = pa.Codec("zstd")


@each_case("suffix", ["", *SUFFIXES])
@each_case("magic, form", MAGIC.items())
def test_a_file_is_what_it_begins_with(magic: bytes, form: str, suffix: str) -> None:
    data = magic + b" and more"

    for packed in (data, gzip.compress(data), ZSTD.compress(data, asbytes=True)):
        assert format_of(f"scores{suffix}", packed[:HEAD]) == form


@each_case("suffix, form", SUFFIXES.items())
def test_a_name_says_what_the_first_bytes_do_not(suffix: str, form: str) -> None:
    assert format_of(f"scores{suffix}", b"score,member") == form
    assert format_of(f"scores{suffix.upper()}.gz", gzip.compress(b"{}")) == form
    assert format_named(f"a.b/scores{suffix}.zstd") == form


@each_case("head, form", [(b"{", "json"), (b"\xef\xbb\xbf\r\n {", "json"), (b"", "csv"), (b"a,b", "csv")])
def test_without_a_name_a_brace_is_json_and_anything_else_a_table(head: bytes, form: str) -> None:
    assert format_of("scores", head) == form
    assert format_of("scores.txt", head) == form


def test_a_name_may_say_how_it_is_compressed_and_the_first_bytes_know() -> None:
    assert encoding_named("scores.csv.GZ") == "gzip"
    assert encoding_named("scores.csv.zstd") == "zstd"
    assert encoding_named("scores.csv") is None
    assert encoding_of(b"score,member") == "identity"
    assert encoding_of(gzip.compress(b"")) == "gzip"


def test_what_only_looks_compressed_goes_by_its_name() -> None:
    for magic in (b"\x1f\x8b", b"\x28\xb5\x2f\xfd"):
        assert format_of("scores.parquet", magic + bytes(64)) == "parquet"
