"""Streams: chunk by chunk, and the producer never further than one chunk ahead."""

from __future__ import annotations

import asyncio
from typing import Any

import js
import pytest
from pyodide.ffi import create_proxy, to_js

from workers_shim.web.streams import stream_of

pytestmark = pytest.mark.asyncio


async def rest() -> None:
    """Let everything that can go on without us go on."""
    for _ in range(20):
        await asyncio.sleep(0)


async def test_a_source_is_not_asked_for_more_until_its_last_chunk_is_taken() -> None:
    made: list[int] = []

    async def pull(controller: Any) -> None:
        made.append(len(made))
        controller.enqueue(bytes([len(made)]))

    reader = js.ReadableStream.new(pull=pull).getReader()
    await rest()
    assert len(made) == 1  # one ahead: the high-water mark

    await reader.read()
    await rest()
    assert len(made) == 2


async def test_a_source_is_a_javascript_object_or_keywords_and_may_be_synchronous() -> None:
    def start(controller: Any) -> None:
        controller.enqueue(to_js(b"a"))
        controller.enqueue(b"b")
        controller.close()

    source = to_js({"start": create_proxy(start)}, dict_converter=js.Object.fromEntries)

    assert await js.Response.new(js.ReadableStream.new(source)).text() == "ab"
    assert await js.Response.new(js.ReadableStream.new(start=start)).text() == "ab"


async def test_a_reader_sees_chunks_and_then_the_end() -> None:
    reader = stream_of(b"xy").getReader()

    first, end = await reader.read(), await reader.read()

    assert (first.done, first.value.to_bytes(), end.done, end.value) == (False, b"xy", True, None)


async def test_an_error_of_the_source_reaches_the_reader() -> None:
    async def pull(controller: Any) -> None:
        raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        await js.Response.new(js.ReadableStream.new(pull=pull)).text()


async def test_a_reader_that_leaves_cancels_the_source() -> None:
    cancelled: list[Any] = []
    stream = js.ReadableStream.new(pull=lambda c: c.enqueue(b"x"), cancel=cancelled.append)

    async for _ in stream:
        break
    await rest()

    assert cancelled == [None]


async def test_closing_the_wires_iterator_closes_the_generator_behind_it() -> None:
    closed: list[bool] = []

    async def chunks() -> Any:
        try:
            yield b"a"
            await asyncio.Event().wait()
        finally:
            closed.append(True)

    wire = stream_of(chunks()).chunks()
    assert await anext(wire) == b"a"
    waiting = asyncio.ensure_future(anext(wire))
    await rest()
    waiting.cancel()
    await asyncio.wait([waiting])
    await rest()

    assert closed == [True]


async def test_a_write_into_a_transform_waits_for_the_reader() -> None:
    pair = js.TransformStream.new()
    writer = pair.writable.getWriter()
    write = writer.write(b"1")
    await rest()
    assert not write.done()

    reader = pair.readable.getReader()
    assert (await reader.read()).value.to_bytes() == b"1"
    await write


async def test_writes_need_not_be_awaited() -> None:
    pair = js.TransformStream.new()
    writer = pair.writable.getWriter()
    writes = [writer.write(b"a"), writer.write(b"b"), writer.close()]

    assert await js.Response.new(pair.readable).text() == "ab"
    await asyncio.gather(*writes)


async def test_a_transformer_changes_what_passes() -> None:
    upper = js.TransformStream.new(
        transform=lambda chunk, controller: controller.enqueue(chunk.to_bytes().upper()),
        flush=lambda controller: controller.enqueue(b"!"),
    )

    async def letters() -> Any:
        for letter in (b"a", b"b"):
            yield letter

    def as_javascript(chunk: Any, controller: Any) -> None:
        controller.enqueue(js.Uint8Array.new(chunk))

    source = stream_of(letters()).pipeThrough(js.TransformStream.new(transform=as_javascript))
    assert await js.Response.new(source.pipeThrough(upper)).text() == "AB!"


async def test_a_write_after_the_reader_left_fails() -> None:
    pair = js.TransformStream.new()
    await pair.readable.cancel("enough")

    with pytest.raises(Exception, match="canceled"):
        await pair.writable.getWriter().write(b"x")


async def test_tee_gives_both_branches_everything() -> None:
    async def letters() -> Any:
        for letter in (b"a", b"b", b"c"):
            yield letter

    first, second = stream_of(letters()).tee()

    assert await js.Response.new(first).text() == "abc"
    assert await js.Response.new(second).text() == "abc"


async def test_a_stream_has_one_reader() -> None:
    stream = stream_of(b"x")
    reader = stream.getReader()

    with pytest.raises(Exception, match="currently locked to a reader"):
        stream.getReader()
    reader.releaseLock()
    stream.getReader()


async def test_a_body_of_text_chunks_is_refused_by_name() -> None:
    stream = js.ReadableStream.new(start=lambda c: c.enqueue("text"))

    with pytest.raises(Exception, match=r"must give chunks of bytes .* not str"):
        await js.Response.new(stream).text()
