"""Short questions to the bridge, and its answers as a whole."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec

from .connection import Headers, Pool

_decode = msgspec.json.Decoder().decode


class _Whole:
    """An answer that is put together."""

    def __init__(self) -> None:
        self.done: asyncio.Future[tuple[int, bytes]] = asyncio.get_running_loop().create_future()
        self._status = 0
        self._body = bytearray()

    def headed(self, status: int, headers: Headers) -> None:
        self._status = status

    def body(self, data: bytes) -> None:
        self._body += data

    def ended(self) -> None:
        if not self.done.done():
            self.done.set_result((self._status, bytes(self._body)))

    def broken(self, reason: str) -> None:
        if not self.done.done():
            self.done.set_exception(ConnectionError(reason))

    def writable(self) -> None:
        """The whole question is sent at once."""


async def ask(pool: Pool, token: str, kind: str, worker: str | None = None, body: bytes | None = None) -> Any:
    """The JSON (or, where it is none, the text) that the bridge answers; raises `ConnectionError`."""
    lines = [f"Host: 127.0.0.1:{pool.port}", f"celld-token: {token}", f"celld-kind: {kind}"]
    lines += [] if worker is None else [f"celld-worker: {worker}"]
    lines += [] if body is None else ["content-type: application/json", f"content-length: {len(body)}"]
    head = "\r\n".join([f"{'GET' if body is None else 'POST'} / HTTP/1.1", *lines, "", ""]).encode("latin-1")
    answer = _Whole()
    try:
        connection = await pool.connect()  # never one that was idle: it may be closed just now, and nobody asks again
    except OSError as error:
        raise ConnectionError(str(error)) from error
    connection.begin(head + (body or b""), answer, method="GET" if body is None else "POST", has_body=False)
    try:
        status, text = await answer.done
    except asyncio.CancelledError:
        connection.abort()
        raise
    if status != 200:
        raise ConnectionError(f"the bridge answered {status}: {text[:500].decode('utf-8', 'replace')}")
    try:
        return _decode(text)
    except msgspec.DecodeError:
        return text.decode("utf-8", "replace")
