"""What stands for a stream that a step returned, on the wire and in the journal."""

from __future__ import annotations

from typing import Any

import js
import pytest

from workers_shim import values
from workers_shim.errors import ConversionError, DataCloneError
from workers_shim.wire.devalue import DevalueError, clone_size, parse, stringify, to_json
from workers_shim.wire.neutral import ReadableStream

STREAM = ReadableStream(step=3, attempt=2, size=5_000_000, preview="hello[truncated output]")
TEXT = '[["ReadableStream",5],3,2,5000000,"hello[truncated output]",{"step":1,"attempt":2,"size":3,"preview":4}]'


def test_a_stream_is_named_by_step_and_attempt() -> None:
    assert stringify(STREAM) == TEXT
    assert parse(TEXT) == STREAM


def test_numbers_that_are_alike_are_written_once() -> None:
    stream = ReadableStream(1, 1, 1, "")
    assert parse(stringify(stream)) == stream
    assert parse(stringify([stream, {"output": stream}])) == [stream, {"output": stream}]


def test_its_bytes_do_not_count_as_a_values_do() -> None:
    assert clone_size(TEXT) == 0
    assert clone_size(STREAM) == 0
    assert clone_size(["x" * 100, STREAM]) < 250


def test_it_is_shown_as_its_preview() -> None:
    assert to_json(TEXT) == "hello[truncated output]"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('[["ReadableStream"]]', "without its fields"),
        ('[["ReadableStream",1],"x"]', "without its fields"),
        ('[["ReadableStream",1],{"step":2,"attempt":2,"size":2},1]', "does not say which"),
        ('[["ReadableStream",1],{"step":2,"attempt":2,"size":3,"preview":3},1,"x"]', "does not say which"),
    ],
)
def test_one_that_says_too_little_is_refused(text: str, says: str) -> None:
    with pytest.raises(DevalueError, match=says):
        parse(text)


def test_a_python_worker_is_told_that_it_cannot_read_one() -> None:
    with pytest.raises(ConversionError, match="returned a ReadableStream, which only JavaScript Workers can read"):
        values.decode(TEXT)


@pytest.mark.parametrize("result", [js.ReadableStream.new(), {"body": js.ReadableStream.new()}])
def test_a_python_worker_cannot_return_one(result: Any) -> None:
    with pytest.raises(DataCloneError, match='type "ReadableStream"'):
        values.encode(result)
