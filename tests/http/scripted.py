"""Both ends of a request, played by a test: the client as the ASGI server shows it, and the isolate."""

from __future__ import annotations

import asyncio
from collections.abc import MutableMapping
from typing import Any

from runtime.http.error_page import Scope
from runtime.http.ingress import GONE, Ingress
from runtime.isolates.transport import Isolate
from tests.host.fake_isolate import FakeIsolate

TURNS = 20  # of the loop; more than any chain of callbacks in a request needs


async def all_is_quiet() -> None:
    """Let everything happen that needs no news from outside."""
    for _ in range(TURNS):
        await asyncio.sleep(0)


def scope(method: str = "GET", path: str = "/", *, gone: asyncio.Future[None] | None = None, **more: Any) -> Scope:
    """The ASGI scope of a request; the client has left when ``gone`` is done."""
    target, _, query = path.partition("?")
    return {
        "type": "http",
        "http_version": "1.1",
        "scheme": "http",
        "method": method,
        "path": target,
        "raw_path": target.encode(),
        "query_string": query.encode(),
        "headers": [(b"host", b"shop.test")],
        "state": {} if gone is None else {GONE: gone},
        **more,
    }


class Client:
    """What uvicorn's ``receive`` and ``send`` are for the application."""

    def __init__(self) -> None:
        self.sent: list[MutableMapping[str, Any]] = []
        self.reads = asyncio.Event()  # while it is not set, `send` waits: the client takes nothing
        self.reads.set()
        self._said: asyncio.Queue[dict[str, Any]] = asyncio.Queue()

    def says(self, body: bytes = b"", *, more: bool = False) -> Client:
        """A piece of the request's body, the last one unless there is ``more``."""
        self._said.put_nowait({"type": "http.request", "body": body, "more_body": more})
        return self

    def leaves(self) -> None:
        self._said.put_nowait({"type": "http.disconnect"})

    async def receive(self) -> dict[str, Any]:
        return await self._said.get()

    async def send(self, message: MutableMapping[str, Any]) -> None:
        await self.reads.wait()
        self.sent.append(message)

    @property
    def status(self) -> int:
        (start,) = (message for message in self.sent if message["type"] == "http.response.start")
        status: int = start["status"]
        return status

    @property
    def headers(self) -> dict[bytes, bytes]:
        return dict(self.sent[0]["headers"])

    @property
    def body(self) -> bytes:
        return b"".join(message["body"] for message in self.sent[1:])

    @property
    def complete(self) -> bool:
        """Whether the client knows that it has the whole response."""
        return self.sent != [] and self.sent[-1].get("more_body") is False


class HttpIsolate(FakeIsolate):
    """An isolate that takes bodies, and whose news reach an `Ingress`."""

    def __init__(self) -> None:
        self._wire = _Wire()
        super().__init__(self._wire, role="front")
        self.frames: list[tuple[int, bytes]] = []
        self.ended: list[int] = []

    def reaches(self, ingress: Ingress) -> HttpIsolate:
        self._wire.ingress = ingress
        return self

    def send_data(self, stream: int, data: bytes) -> None:
        self.frames.append((stream, data))

    def send_end(self, stream: int) -> None:
        self.ended.append(stream)

    @property
    def taken(self) -> int:
        """Bytes of bodies that it was sent."""
        return sum(len(data) for _, data in self.frames)

    def answers(self, id: int, status: Any = 200, headers: list[tuple[str, str]] | None = None) -> None:
        self.says({"t": "response", "id": id, "status": status, "headers": headers or []})

    def raises(self, id: int, message: str = "boom") -> None:
        error = {"name": "Error", "message": message}
        self.says({"t": "request_failed", "id": id, "error": error, "traceback": f"Traceback\nError: {message}"})

    def streams(self, id: int, *pieces: bytes, end: bool = False) -> None:
        """Pieces of a response's body, and its end."""
        for piece in pieces:
            self._wire.ingress.on_data(id, piece)
        if end:
            self._wire.ingress.on_end(id)


class _Wire:
    """The `Listener` of the isolate, which hands HTTP on."""

    ingress: Ingress

    def on_message(self, isolate: Isolate, message: dict[str, Any]) -> None:
        self.ingress.on_message(message)

    def on_data(self, isolate: Isolate, stream: int, data: bytes) -> None:
        self.ingress.on_data(stream, data)

    def on_end(self, isolate: Isolate, stream: int) -> None:
        self.ingress.on_end(stream)

    def on_turn(self, isolate: Isolate) -> None:
        """Nothing is held back."""

    def on_lost(self, isolate: Isolate) -> None:
        self.ingress.lost(isolate)
