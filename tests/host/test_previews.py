"""What is shown of a stream."""

from __future__ import annotations

import pytest

from runtime.host.previews import HEAD, preview


@pytest.mark.parametrize(
    ("data", "shown"),
    [
        (b"", ""),
        (b"hello world", "hello world"),
        ("\ufeffbéta".encode(), "béta"),
        (b"x" * 1024, "x" * 1024),
        (b"x" * 1025, "x" * 1024 + "[truncated output]"),
        (b"x" * 600_000, "x" * 1024 + "[truncated output]"),
        (b"\xff" * 600_000, "[ReadableStream (binary): 600000 bytes]"),
        (b"text and then \xc3", "[ReadableStream (binary): 15 bytes]"),
        ("😀".encode() * 512, "😀" * 512),
        ("😀".encode() * 513, "😀" * 512 + "[truncated output]"),
        # Cut as JavaScript cuts, in the middle of a pair.
        (b"x" + "😀".encode() * 600, "x" + "😀" * 511 + "\ud83d[truncated output]"),
        # The first bytes end in the middle of a character, and that is no reason to take it for something else.
        (b"x" + "é".encode() * 4000, "x" + "é" * 1023 + "[truncated output]"),
    ],
)
def test_a_stream_is_shown_by_its_beginning(data: bytes, shown: str) -> None:
    assert preview(data[:HEAD], len(data)) == shown
