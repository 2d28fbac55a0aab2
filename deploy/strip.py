"""Cut from shared libraries what no loader reads, symbols for debuggers above all: smaller images.

What `strip` does, where there is none: a file ends with its last segment, and has no table of sections.
"""

import struct
import sys
from pathlib import Path

WORTH_IT = 100_000


def end_of_segments(data: bytes) -> int:
    """Where what is loaded ends, by the program headers of a 64-bit ELF file."""
    (start,) = struct.unpack_from("<Q", data, 32)
    size, count = struct.unpack_from("<HH", data, 54)
    segments = [struct.unpack_from("<IIQQQQ", data, start + size * number) for number in range(count)]
    return max(start + size * count, *(offset + length for _, _, offset, _, _, length in segments))


def stripped(data: bytes) -> bytes:
    """The file without what follows its segments; as it was where that is little, or where it is no such file."""
    if data[:6] != b"\x7fELF\x02\x01" or len(data) - (end := end_of_segments(data)) < WORTH_IT:
        return data
    return data[:40] + bytes(8) + data[48:60] + bytes(4) + data[64:end]


if __name__ == "__main__":
    for path in Path(sys.argv[1]).rglob("*.so*"):
        if path.is_file() and not path.is_symlink():
            path.write_bytes(stripped(path.read_bytes()))
