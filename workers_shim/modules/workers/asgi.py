"""Serve an ASGI application from a Worker, streaming both ways."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping
from typing import Any
from urllib.parse import unquote

from workers._blob import unwrapped
from workers._entrypoints import WorkerEntrypoint
from workers._lifespan import lifespan
from workers_shim import current
from workers_shim.web.errors import not_served
from workers_shim.web.headers import Headers
from workers_shim.web.request import Request
from workers_shim.web.response import Response, received
from workers_shim.web.streams import ReadableStream
from workers_shim.web.url import URL

Message = MutableMapping[str, Any]
App = Callable[[Message, Callable[[], Awaitable[Message]], Callable[[Message], Awaitable[None]]], Awaitable[None]]

_PORTS = {"http:": 80, "https:": 443}


async def fetch(app: App, req: Any, env: Any, ctx: Any = None, *, options: Any = None) -> Response:
    """The application's response to a request; its body may still be on its way.

    As on Workers, the application's lifespan begins and ends with each request.
    """
    exchange = _Exchange(unwrapped(req))
    task = asyncio.ensure_future(exchange.serve(app, env))
    current.host.wait_until(task)
    try:
        return await exchange.response
    except asyncio.CancelledError:
        task.cancel()
        raise


async def websocket(app: App, req: Any, env: Any, *args: Any, **options: Any) -> Any:
    """Serve a WebSocket of the application."""
    raise NotImplementedError(not_served("asgi.websocket"))


def entrypoint(app: App, *, options: Any = None) -> type[WorkerEntrypoint]:
    """The default entrypoint that serves the application: ``Default = asgi.entrypoint(app)``."""

    class Default(WorkerEntrypoint):
        async def fetch(self, request: Any) -> Response:
            return await fetch(app, request, self.env, self.ctx, options=options)

    return Default


class _Exchange:
    """One request and its response; also the source of the response's stream."""

    def __init__(self, request: Request) -> None:
        self.response: asyncio.Future[Response] = asyncio.get_running_loop().create_future()
        self._request = request
        self._body = _chunks(request)
        self._gone = asyncio.Event()  # the client does not want the rest
        self._start: Message | None = None
        self._stream: ReadableStream | None = None

    async def serve(self, app: App, env: Any) -> None:
        try:
            async with lifespan(app) as state:
                scope = {**_scope(self._request), "env": env, **({} if state is None else {"state": dict(state)})}
                await app(scope, self._receive, self._send)
            if not self.response.done():
                raise RuntimeError("The ASGI application ended without a response.")
        except Exception as error:
            if not self._told(error):
                raise
        finally:
            if not self.response.done():
                self.response.cancel()

    def _told(self, error: Exception) -> bool:
        """Whether somebody hears of the error in place of a response or of its rest, or caused it by leaving."""
        if not self.response.done():
            self.response.set_exception(error)
            return True
        if self._stream is not None and self._stream._state == "readable":
            self._stream._fail(error)
            return True
        return _comes_of(error, _ClientGone)

    def cancel(self, reason: Any = None) -> None:
        """As the stream's source: its reader has left."""
        self._gone.set()

    async def _receive(self) -> Message:
        try:
            chunk = await anext(self._body)
        except StopAsyncIteration:
            await self._gone.wait()
            return {"type": "http.disconnect"}
        return {"type": "http.request", "body": chunk, "more_body": chunk != b""}

    async def _send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._start = message
        elif message["type"] == "http.response.body":
            await self._send_body(bytes(message.get("body", b"")), message.get("more_body", False))

    async def _send_body(self, data: bytes, more: bool) -> None:
        if self._start is None:
            raise RuntimeError("The ASGI application sent a body before http.response.start.")
        if self._stream is None:
            self._begin(self._start, data, more)
        elif self._stream._state != "readable":
            raise _ClientGone("the client is gone")
        elif data:
            self._stream._enqueue(data)
        if self._stream is None:
            return
        await self._stream._empty()
        if not more:
            self._stream._close()
            self._gone.set()

    def _begin(self, start: Message, data: bytes, more: bool) -> None:
        """Make the response: with a stream if there is more to come."""
        headers = Headers.of((name.decode("latin-1"), value.decode("latin-1")) for name, value in start["headers"])
        body: Any = data or None
        if more:
            body = self._stream = ReadableStream.new(self, {"highWaterMark": 0})
            if data:
                self._stream._enqueue(data)
        else:
            self._gone.set()
        if not self.response.done():
            self.response.set_result(received(start["status"], headers, body, "", redirected=False))


class _ClientGone(OSError):
    """What a send raises when nobody reads the rest; ASGI 2.4 asks for an OSError."""


def _comes_of(error: BaseException | None, kind: type[BaseException]) -> bool:
    while error is not None and not isinstance(error, kind):
        error = error.__cause__ or error.__context__  # frameworks raise their own in its place
    return error is not None


async def _chunks(request: Request) -> AsyncIterator[bytes]:
    """The body's chunks, with an empty one at the end."""
    body = request.detach()
    if isinstance(body, bytes):
        yield body
    elif body is not None:
        async for chunk in body:
            if chunk:
                yield chunk
    if body != b"":
        yield b""


def _scope(request: Request) -> Message:
    url = URL.new(request.url)
    return {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.4"},
        "http_version": "1.1",
        "method": request.method,
        "scheme": url.protocol.removesuffix(":"),
        "path": unquote(url.pathname),
        "raw_path": url.pathname.encode(),
        "query_string": url.search.removeprefix("?").encode(),
        "root_path": "",
        "headers": [(name.lower().encode("latin-1"), _bytes(value)) for name, value in request.headers.lines()],
        "server": (url.hostname, int(url.port or _PORTS.get(url.protocol, 0))),
        "client": None,
    }


def _bytes(value: str) -> bytes:
    return value.encode("latin-1") if max(value, default="") < "\u0100" else value.encode()


def __getattr__(name: str) -> Any:
    if name == "env":  # for FastAPI only, which is imported when somebody asks
        from workers._fastapi import env

        return env
    raise AttributeError(f"module 'workers.asgi' has no attribute {name!r}")
