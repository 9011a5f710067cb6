"""One request and its response."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from typing import Any

from workers_shim import http_messages, output
from workers_shim.report import failure
from workers_shim.streams import Inflow, Outflow
from workers_shim.transport import Transport
from workers_shim.wire.messages import Request

Handler = Callable[[Any], Any]  # the user's, given the request; may be async

_BODILESS = ("GET", "HEAD")

Body = bytes | AsyncIterator[bytes] | None


class Exchange:
    """Serves a request in a task of its own. The handler goes on when the client leaves; what it sends is dropped."""

    def __init__(self, request: Request, transport: Transport) -> None:
        self.number = request["id"]
        self.inflow = None if request["method"] in _BODILESS else Inflow(self.number, transport.send)
        self.outflow = Outflow(self.number, transport.send_data)
        self.task: asyncio.Task[None] | None = None
        self._request = request
        self._transport = transport
        self._gone = False
        self._sending = False

    async def serve(self, find_handler: Callable[[], Handler]) -> None:
        """Give the request to its handler and send what that gives."""
        asked = self._request
        with self._reported():
            request = http_messages.incoming(asked["method"], asked["url"], asked["headers"], self.inflow)
            response = find_handler()(request)
            if inspect.isawaitable(response):
                response = await response
            status, headers, body = http_messages.outgoing(response, asked["method"])
            await self._respond(status, headers, body)

    @contextmanager
    def _reported(self) -> Iterator[None]:
        try:
            yield
        except GeneratorExit:
            raise  # the loop is being closed
        except BaseException as error:  # also SystemExit: user code must not end the isolate
            if not (self._gone and self._sending):  # then it is the end of a producer that nobody hears
                self._transport.send({"t": "request_failed", "id": self.number, **failure(error)})
        finally:
            if self.inflow is not None:
                self.inflow.broken()  # with the response the host stops to send the rest of the request
            output.flush()

    async def _respond(self, status: int, headers: list[tuple[str, str]], body: Body) -> None:
        self._sending = True
        if not self._gone:
            self._transport.send({"t": "response", "id": self.number, "status": status, "headers": headers})
        if isinstance(body, AsyncIterator):
            await self._stream(body)
        elif body and not self._gone:
            await self.outflow.write(body)
        if not self._gone:
            self._transport.send_end(self.number)

    async def _stream(self, body: AsyncIterator[bytes]) -> None:
        try:
            if not self._gone:
                async for chunk in body:
                    await self.outflow.write(chunk)
        finally:
            close: Any = getattr(body, "aclose", None)
            if close is not None:
                await close()

    def disconnect(self) -> None:
        """The client is gone: the producer of a stream is stopped."""
        self._gone = True
        if self.inflow is not None:
            self.inflow.broken()
        if self._sending and self.task is not None:
            self.task.cancel()
