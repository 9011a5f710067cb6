"""Requests of clients on their way to the bridge, and the Worker's responses on the way back."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from workers_shim.wire.messages import STREAM_CREDIT

from .connection import Connection, Headers, Pool
from .head import head_of
from .stacks import Stacks

FAILURE = "celld-failure"
LOST_SOON = 0.2  # seconds in which a broken connection may turn out to be the end of workerd, which is told otherwise
SAFE = frozenset({"GET", "HEAD"})

Say = Callable[[dict[str, Any]], None]

_decode = msgspec.json.Decoder().decode


class Request:
    """One request; `Answering` for its connection. What happens is said to the host in messages."""

    def __init__(self, requests: Requests, message: Mapping[str, Any]) -> None:
        self.id: int = message["id"]
        self._requests = requests
        self._message = message
        self._connection: Connection | None = None
        self._chunked = any(name.lower() == "transfer-encoding" for name, _ in message["headers"])
        self._has_body = self._chunked or any(
            name.lower() == "content-length" and value != "0" for name, value in message["headers"]
        )
        self._waiting: deque[bytes | None] = deque()  # pieces of the request's body, None at its end
        self._unread = 0  # bytes of the response that the host has not passed on yet
        self._again = False  # whether it may be sent once more if there is no answer at all
        self._failure: bytearray | None = None  # the Worker threw: what the bridge says of it
        self.over = False

    async def begin(self, *, anew: bool = False) -> None:
        """Send the head as soon as there is a connection, not one used before if it is begun ``anew``."""
        pool = self._requests.pool
        connection = None if anew else pool.idle()
        self._again = connection is not None and not self._has_body and self._message["method"] in SAFE
        try:
            connection = connection or await pool.connect()
        except OSError as error:
            self._refused(f"workerd cannot be reached: {error}")
            return
        if self.over:
            connection.abort()
            return
        self._connection = connection
        head = head_of(self._message, self._requests.token, self._requests.worker)
        connection.begin(head, self, method=self._message["method"], has_body=self._has_body)
        self._send_body()

    # ------------------------------------------------------------------------------------------------ request's body

    def data(self, data: bytes) -> None:
        """A piece of the body is here."""
        self._waiting.append(data)
        self._send_body()

    def end(self) -> None:
        """The body is over."""
        self._waiting.append(None)
        self._send_body()

    def _send_body(self) -> None:
        connection = self._connection
        while connection is not None and self._waiting and not connection.full and not self.over:
            piece = self._waiting.popleft()
            if piece is None:
                if self._chunked:
                    connection.write(b"0\r\n\r\n")
                connection.uploaded()
            elif piece:
                connection.write(b"%x\r\n%b\r\n" % (len(piece), piece) if self._chunked else piece)
                self._requests.say({"t": "credit", "id": self.id, "bytes": len(piece)})

    def writable(self) -> None:
        self._send_body()

    # ----------------------------------------------------------------------------------------------------- response

    def headed(self, status: int, headers: Headers) -> None:
        self._again = False
        told = next((value for name, value in headers if name.lower() == FAILURE), None)
        if told is not None:  # in the body; to HEAD there is none, and it is in the header itself
            self._failure = bytearray(told.encode() if self._message["method"] == "HEAD" else b"")
        else:
            self._requests.say({"t": "response", "id": self.id, "status": status, "headers": list(headers)})

    def body(self, data: bytes) -> None:
        if self._failure is not None:
            self._failure += data
            return
        self._unread += len(data)
        if self._unread > STREAM_CREDIT and self._connection is not None:
            self._connection.pause_reading()
        self._requests.give(self.id, data)

    def credit(self, count: int) -> None:
        """The host has passed on some of the response."""
        self._unread -= count
        if self._unread <= STREAM_CREDIT and self._connection is not None:
            self._connection.resume_reading()

    def ended(self) -> None:
        if self._failure is not None:
            self._fail(_decode(self._failure))
        else:
            self._requests.finish(self.id)
        self._close()

    def broken(self, reason: str) -> None:
        if self._again:  # workerd has closed the connection in the moment in which the request went out on it
            self._requests.begin_anew(self)
            return
        self._requests.broke(self, f"The connection to workerd broke: {reason}")

    def _fail(self, told: dict[str, Any]) -> None:
        self.fail(told["error"], *self._requests.stacks.failure(told))

    def fail(self, error: Mapping[str, Any], traceback: str, file: str | None = None, line: int | None = None) -> None:
        """The Worker threw, or cannot answer."""
        if self.over:
            return
        place = {} if file is None else {"file": file, "line": line}
        self._requests.say({"t": "request_failed", "id": self.id, "error": error, "traceback": traceback, **place})
        self._close()

    def _refused(self, text: str) -> None:
        """The request has not left: nothing was done for it, and the client may well ask again."""
        if not self.over:
            error = {"name": "Error", "message": text}
            self._requests.say(
                {"t": "request_failed", "id": self.id, "error": error, "traceback": text, "refused": True}
            )
            self._close()

    def left(self) -> None:
        """The host needs no more of it: the client is gone, or the response has no body that anybody would read."""
        if self._connection is not None and not self.over:
            self._connection.abort()
        self._close()

    def _close(self) -> None:
        self.over = True
        self._connection = None
        self._requests.forget(self)


class Requests:
    """All requests on one workerd."""

    def __init__(
        self,
        pool: Pool,
        token: str,
        worker: str,
        stacks: Stacks,
        *,
        say: Say,
        give: Callable[[int, bytes], None],
        finish: Callable[[int], None],
        idle: Callable[[], None],
    ) -> None:
        self.pool, self.token, self.worker, self.stacks = pool, token, worker, stacks
        self.say, self.give, self.finish = say, give, finish
        self._idle = idle
        self._all: dict[int, Request] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def __len__(self) -> int:
        return len(self._all)

    def begin(self, message: Mapping[str, Any]) -> None:
        """A request came in."""
        request = self._all[message["id"]] = Request(self, message)
        self._spawn(request.begin())

    def begin_anew(self, request: Request) -> None:
        """A request has not come to workerd."""
        self._spawn(request.begin(anew=True))

    def of(self, id: int) -> Request | None:
        """A request that is being answered."""
        return self._all.get(id)

    def forget(self, request: Request) -> None:
        """A request is over."""
        self._all.pop(request.id, None)
        if not self._all:
            self._idle()

    def broke(self, request: Request, text: str) -> None:
        """A request's connection is gone; mostly because workerd is, which is then told of by itself."""

        async def fail() -> None:
            await asyncio.sleep(LOST_SOON)
            request.fail({"name": "Error", "message": text}, text)

        self._spawn(fail())

    def close(self) -> None:
        """workerd is gone: nobody says anything more."""
        for task in self._tasks:
            task.cancel()
        for request in list(self._all.values()):
            request.over = True
        self._all.clear()

    def _spawn(self, work: Any) -> None:
        task: asyncio.Task[None] = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
