"""Writable and transform streams. A write is done when the other side has taken it."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable
from typing import Any

from workers_shim.web.errors import type_error
from workers_shim.web.promises import done, rejected, settled, started
from workers_shim.web.proxy import JsProxy, member
from workers_shim.web.streams import END, ReadableStream, ReadableStreamDefaultController

_CLOSED = "This WritableStream has been closed."


class WritableStream(JsProxy):
    """A stream with an underlying sink: ``start``, ``write``, ``close`` and ``abort``, each optional."""

    def __init__(self, sink: Any = None, strategy: Any = None) -> None:
        self._sink = sink
        self._jobs: deque[tuple[Awaitable[Any], asyncio.Future[None]]] = deque()
        self._worker: asyncio.Future[None] | None = None
        self._closed = False
        self._error: BaseException | None = None
        self._locked = False
        start = member(sink, "start")
        if start is not None:
            self._submit(settled(start(self)))

    @property
    def locked(self) -> bool:
        return self._locked

    def getWriter(self) -> WritableStreamDefaultWriter:
        writer: WritableStreamDefaultWriter = WritableStreamDefaultWriter.new(self)
        return writer

    def close(self) -> asyncio.Future[None]:
        if self._closed:
            return rejected(type_error(_CLOSED))
        self._closed = True
        return self._submit(self._call("close"))

    def abort(self, reason: Any = None) -> asyncio.Future[None]:
        self._closed = True
        self._error = self._error or type_error(f"The stream was aborted: {reason}")
        while self._jobs:
            job, future = self._jobs.popleft()
            _forget(job)
            if not future.done():
                future.set_exception(self._error)
        return started(self._call("abort", reason))

    def error(self, reason: Any = None) -> None:
        """As the controller that a sink's ``start`` is given."""
        self._error = reason if isinstance(reason, BaseException) else type_error(str(reason))

    def _write(self, chunk: Any) -> asyncio.Future[None]:
        if self._error is not None:
            return rejected(self._error)
        return rejected(type_error(_CLOSED)) if self._closed else self._submit(self._call("write", chunk))

    async def _call(self, name: str, *args: Any) -> None:
        function = member(self._sink, name)
        if function is not None:
            await settled(function(*args))

    def _submit(self, job: Awaitable[Any]) -> asyncio.Future[None]:
        """Put work in line behind what the sink is still doing."""
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._jobs.append((job, future))
        if self._worker is None:
            self._worker = asyncio.ensure_future(self._work())
        return future

    async def _work(self) -> None:
        while self._jobs:
            job, future = self._jobs.popleft()
            try:
                if self._error is not None:
                    _forget(job)
                    raise self._error
                await job
            except Exception as error:
                self._error = error
                if not future.done():
                    future.set_exception(error)
            else:
                if not future.done():
                    future.set_result(None)
        self._worker = None

    async def _take_all(self, stream: ReadableStream) -> None:
        """What ``pipeTo`` does: every chunk, each when the one before is written."""
        self._lock()
        stream._lock()
        try:
            while (chunk := await stream._read()) is not END:
                await self._write(chunk)
            await self.close()
        except Exception as error:
            stream._cancel(error)
            await self.abort(error)
            raise

    def _lock(self) -> None:
        if self._locked:
            raise type_error("This WritableStream is currently locked to a writer.")
        self._locked = True


class WritableStreamDefaultWriter(JsProxy):
    """The lock on a writable stream."""

    def __init__(self, stream: WritableStream) -> None:
        stream._lock()
        self._stream = stream
        self._last: asyncio.Future[None] | None = None

    @property
    def desiredSize(self) -> int:
        return 1 if self._last is None or self._last.done() else 0

    @property
    def ready(self) -> asyncio.Future[None]:
        return done() if self._last is None else started(_ended(self._last))

    def write(self, chunk: Any = None) -> asyncio.Future[None]:
        self._last = self._stream._write(chunk)
        return self._last

    def close(self) -> asyncio.Future[None]:
        return self._stream.close()

    def abort(self, reason: Any = None) -> asyncio.Future[None]:
        return self._stream.abort(reason)

    def releaseLock(self) -> None:
        self._stream._locked = False


class TransformStream(JsProxy):
    """A writable side whose chunks come out of a readable side, changed by ``transform`` if there is one."""

    def __init__(self, transformer: Any = None, *strategies: Any) -> None:
        self._transformer = transformer
        self._readable: ReadableStream = ReadableStream.new(_Abandoned(self), {"highWaterMark": 0})
        self._controller = TransformStreamDefaultController.new(self._readable)
        self._writable: WritableStream = WritableStream.new(self)
        start = member(transformer, "start")
        if start is not None:
            self._writable._submit(settled(start(self._controller)))

    @property
    def readable(self) -> ReadableStream:
        return self._readable

    @property
    def writable(self) -> WritableStream:
        return self._writable

    async def write(self, chunk: Any) -> None:
        """Pass one chunk on, and wait until the reader has it: this is the back-pressure."""
        transform = member(self._transformer, "transform")
        if transform is None:
            self._controller.enqueue(chunk)
        else:
            await settled(transform(chunk, self._controller))
        await self._readable._empty()

    async def close(self) -> None:
        flush = member(self._transformer, "flush")
        if flush is not None:
            await settled(flush(self._controller))
        self._readable._close()

    def abort(self, reason: Any = None) -> None:
        self._readable._fail(reason if isinstance(reason, BaseException) else type_error(str(reason)))


class TransformStreamDefaultController(ReadableStreamDefaultController):
    """What a transformer feeds the readable side with."""

    def terminate(self) -> None:
        self._stream._close()


class _Abandoned:
    """The source of a transform's readable side: it only hears that the reader is gone."""

    def __init__(self, transform: TransformStream) -> None:
        self._transform = transform

    def cancel(self, reason: Any) -> None:
        self._transform.writable.error(type_error("The readable side of the TransformStream was canceled."))


async def _ended(future: asyncio.Future[None]) -> None:
    await asyncio.wait([future])


def _forget(job: Awaitable[Any]) -> None:
    close = getattr(job, "close", None)
    if close is not None:
        close()  # a coroutine that will never be awaited
