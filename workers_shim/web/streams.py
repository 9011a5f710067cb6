"""Readable streams: pulled chunk by chunk, never further than the consumer has come."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from typing import Any, Literal

from workers_shim.web.buffers import Uint8Array, bytes_of
from workers_shim.web.errors import type_error
from workers_shim.web.promises import done, observed, rejected, started
from workers_shim.web.proxy import Array, JsProxy, Object, array, member

END: Any = object()  # what a read gives after the last chunk
_LOCKED = "This ReadableStream is currently locked to a reader."


class ReadableStream(JsProxy):
    """A stream with an underlying source: ``start``, ``pull`` and ``cancel``, each optional."""

    def __init__(self, source: Any = None, strategy: Any = None) -> None:
        self._queue: deque[Any] = deque()
        self._reads: deque[asyncio.Future[Any]] = deque()
        self._taken: asyncio.Future[None] | None = None
        self._state: Literal["readable", "closing", "closed", "errored"] = "readable"
        self._error: BaseException | None = None
        self._room = member(strategy, "highWaterMark", 1)
        self._source = source
        self._pulling = self._pull_again = self._ready = False
        self._locked = self._disturbed = False
        self._run("start", self._start_ended, self._controller())

    @property
    def locked(self) -> bool:
        return self._locked

    def getReader(self, options: Any = None) -> ReadableStreamDefaultReader:
        reader: ReadableStreamDefaultReader = ReadableStreamDefaultReader.new(self)
        return reader

    def cancel(self, reason: Any = None) -> asyncio.Future[None]:
        """Give the rest of the stream up."""
        return rejected(type_error(_LOCKED)) if self._locked else self._cancel(reason)

    def tee(self) -> Array:
        """Two streams, each with every chunk of this one."""
        from workers_shim.web.tee import tee

        return array(tee(self))

    def pipeTo(self, writable: Any, options: Any = None) -> asyncio.Future[None]:
        return started(writable._take_all(self))

    def pipeThrough(self, transform: Any, options: Any = None) -> ReadableStream:
        self.pipeTo(transform.writable).add_done_callback(observed)  # its error is the readable side's too
        readable: ReadableStream = transform.readable
        return readable

    def values(self, options: Any = None) -> AsyncIterator[Any]:
        return self.__aiter__()

    async def __aiter__(self) -> AsyncIterator[Any]:
        self._lock()
        try:
            while (chunk := await self._read()) is not END:
                yield Uint8Array.new(chunk) if isinstance(chunk, bytes) else chunk
        finally:
            self._locked = False
            self._cancel(None)

    async def chunks(self) -> AsyncIterator[bytes]:
        """The stream as the bytes of a body; leaving early cancels it."""
        self._lock()
        try:
            while (chunk := await self._read()) is not END:
                yield body_chunk(chunk)
        finally:
            self._cancel(None)

    def _lock(self) -> None:
        if self._locked:
            raise type_error(_LOCKED)
        self._locked = True

    def _read(self) -> asyncio.Future[Any]:
        self._disturbed = True
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        if self._queue:
            future.set_result(self._queue.popleft())
            self._chunk_taken()
        elif self._state == "errored":
            assert self._error is not None
            future.set_exception(self._error)
        elif self._state == "closed":
            future.set_result(END)
        else:
            self._reads.append(future)
            self._pull()
        return future

    def _chunk_taken(self) -> None:
        if not self._queue and self._taken is not None and not self._taken.done():
            self._taken.set_result(None)
        if self._state == "closing" and not self._queue:
            self._finish()
        else:
            self._pull()

    def _enqueue(self, chunk: Any) -> None:
        if self._state != "readable":
            raise type_error("Unable to enqueue: the stream is closed or errored.")
        while self._reads:
            read = self._reads.popleft()
            if not read.done():  # one that is done was cancelled by its reader
                read.set_result(chunk)
                break
        else:
            self._queue.append(chunk)
        self._pull()

    def _close(self) -> None:
        if self._state == "readable":
            self._state = "closing"
            if not self._queue:
                self._finish()

    def _finish(self) -> None:
        self._state = "closed"
        self._settle_reads(lambda read: read.set_result(END))

    def _fail(self, error: BaseException) -> None:
        if self._state in ("closed", "errored"):
            return
        self._state, self._error = "errored", error
        self._queue.clear()
        self._settle_reads(lambda read: read.set_exception(error))

    def _settle_reads(self, settle: Any) -> None:
        while self._reads:
            read = self._reads.popleft()
            if not read.done():
                settle(read)
        if self._taken is not None and not self._taken.done():
            self._taken.set_result(None)

    def _cancel(self, reason: Any) -> asyncio.Future[None]:
        self._disturbed = True
        if self._state in ("closed", "errored"):
            return done()
        self._queue.clear()
        self._finish()
        return self._run("cancel", None, reason) or done()

    def _wants_more(self) -> bool:
        return self._state == "readable" and (bool(self._reads) or len(self._queue) < self._room)

    def _pull(self) -> None:
        """Ask the source for more if there is room and it is not already at work."""
        if not self._ready or not self._wants_more() or member(self._source, "pull") is None:
            return
        if self._pulling:
            self._pull_again = True
            return
        self._pulling = True
        self._run("pull", self._pull_ended, self._controller())

    def _controller(self) -> ReadableStreamDefaultController:
        # Not kept: without a cycle, a dropped stream drops its source at once, and with it a connection.
        controller: ReadableStreamDefaultController = ReadableStreamDefaultController.new(self)
        return controller

    def _pull_ended(self) -> None:
        self._pulling = False
        if self._pull_again:
            self._pull_again = False
            self._pull()

    def _start_ended(self) -> None:
        self._ready = True
        self._pull()

    def _run(self, name: str, then: Any, *args: Any) -> asyncio.Future[None] | None:
        """Call a function of the source; its error is the stream's."""
        function = member(self._source, name)
        if function is None:
            if then is not None:
                then()
            return None
        try:
            future = started(function(*args))
        except Exception as error:
            if name == "start":
                raise
            self._fail(error)
            return None

        def ended(future: asyncio.Future[Any]) -> None:
            if future.cancelled():
                self._fail(type_error("The stream's source was cancelled."))
            elif error := future.exception():
                self._fail(error)
            elif then is not None:
                then()

        future.add_done_callback(ended)
        return future

    def _empty(self) -> asyncio.Future[None]:
        """Done when the consumer has taken every chunk, or wants none."""
        if not self._queue or self._state in ("closed", "errored"):
            return done()
        if self._taken is None or self._taken.done():
            self._taken = asyncio.get_running_loop().create_future()
        return self._taken


class ReadableStreamDefaultController(JsProxy):
    """What a source feeds its stream with."""

    def __init__(self, stream: ReadableStream) -> None:
        self._stream = stream

    @property
    def desiredSize(self) -> int | float:
        return int(self._stream._room) - len(self._stream._queue)

    def enqueue(self, chunk: Any) -> None:
        self._stream._enqueue(chunk)

    def close(self) -> None:
        self._stream._close()

    def error(self, reason: Any = None) -> None:
        self._stream._fail(reason if isinstance(reason, BaseException) else type_error(str(reason)))


class ReadableStreamDefaultReader(JsProxy):
    """The lock on a stream, and its chunks one by one."""

    def __init__(self, stream: ReadableStream) -> None:
        stream._lock()
        self._stream: ReadableStream | None = stream

    def read(self) -> asyncio.Future[Any]:
        return started(self._next()) if self._stream else rejected(type_error("This reader has been released."))

    async def _next(self) -> Any:
        assert self._stream is not None
        chunk = await self._stream._read()
        if chunk is END:
            return Object.of({"done": True, "value": None})
        return Object.of({"done": False, "value": Uint8Array.new(chunk) if isinstance(chunk, bytes) else chunk})

    def cancel(self, reason: Any = None) -> asyncio.Future[None]:
        return self._stream._cancel(reason) if self._stream else done()

    def releaseLock(self) -> None:
        if self._stream is not None:
            self._stream._locked = False
            self._stream = None


class _Iteration:
    """An async iterator of bytes as the source of a stream."""

    def __init__(self, chunks: AsyncIterator[bytes]) -> None:
        self._chunks = chunks
        self._asking: asyncio.Task[Any] | None = None

    async def pull(self, controller: ReadableStreamDefaultController) -> None:
        self._asking = asyncio.current_task()
        try:
            controller.enqueue(await anext(self._chunks))
        except StopAsyncIteration:
            controller.close()
        finally:
            self._asking = None

    async def cancel(self, reason: Any) -> None:
        if self._asking is not None:
            self._asking.cancel()  # a generator at work cannot be closed
            return
        close = getattr(self._chunks, "aclose", None)
        if close is not None:
            await close()


def stream_of(body: bytes | AsyncIterator[bytes]) -> ReadableStream:
    """A stream of these bytes, or of these chunks; an iterator is asked only when a reader asks."""
    stream: ReadableStream
    if isinstance(body, bytes):
        stream = ReadableStream.new()
        if body:
            stream._enqueue(body)
        stream._close()
        return stream
    stream = ReadableStream.new(_Iteration(body), {"highWaterMark": 0})
    return stream


def body_chunk(chunk: Any) -> bytes:
    """The bytes of one chunk of a body."""
    data = bytes_of(chunk)
    if data is None:
        raise type_error(
            f"A body's stream must give chunks of bytes (Uint8Array, ArrayBuffer or Python bytes), not "
            f"{type(chunk).__name__}."
        )
    return data
