"""Calls of bindings reach the host in the order in which the code makes them, however large they are."""

from __future__ import annotations

import asyncio
import json
from collections.abc import MutableMapping
from typing import Any

import pytest

from runtime.http.exchange import ResponseCut
from runtime.isolates.workerd.bind_server import BindServer

pytestmark = pytest.mark.asyncio


class Request:
    """A request whose body comes in parts."""

    def __init__(self, server: BindServer) -> None:
        self._parts: asyncio.Queue[MutableMapping[str, Any]] = asyncio.Queue()
        scope = {"type": "http", "path": "/bind", "headers": [(b"celld-token", b"token")]}
        self.task = asyncio.ensure_future(server(scope, self._parts.get, self._send))

    def part(self, body: bytes, *, more: bool = False) -> None:
        """More of the body."""
        self._parts.put_nowait({"type": "http.request", "body": body, "more_body": more})

    def breaks_off(self) -> None:
        """The connection is gone."""
        self._parts.put_nowait({"type": "http.disconnect"})

    async def _send(self, message: MutableMapping[str, Any]) -> None:
        """Nobody reads the answers."""


def hearing() -> tuple[list[str], BindServer]:
    """A server that answers at once, and what it was asked, in order."""
    heard: list[str] = []

    def say(message: dict[str, Any]) -> None:
        heard.append(message["args"])
        server.answer({"id": message["id"], "value": "-1"})

    server = BindServer("token", None, say, lambda _, stack: stack)
    return heard, server


async def test_a_large_call_is_not_overtaken_by_a_small_one_after_it() -> None:
    heard, server = hearing()
    large, small = Request(server), Request(server)
    text = body("large")
    large.part(text[:10], more=True)
    small.part(body("small"))
    await turns()
    assert heard == []

    large.part(text[10:])
    await asyncio.gather(large.task, small.task)
    assert heard == ["large", "small"]


async def test_a_call_that_breaks_off_holds_nothing_up() -> None:
    heard, server = hearing()
    broken, whole = Request(server), Request(server)
    broken.part(body("broken")[:10], more=True)
    whole.part(body("whole"))
    await turns()
    broken.breaks_off()
    await whole.task
    assert heard == ["whole"]
    with pytest.raises(ResponseCut):
        await broken.task


async def test_a_call_that_breaks_off_lets_none_overtake_those_before_it() -> None:
    heard, server = hearing()
    large, broken, small = Request(server), Request(server), Request(server)
    text = body("large")
    large.part(text[:10], more=True)
    broken.breaks_off()
    small.part(body("small"))
    with pytest.raises(ResponseCut):
        await broken.task
    await turns()
    assert heard == []

    large.part(text[10:])
    await asyncio.gather(large.task, small.task)
    assert heard == ["large", "small"]


def body(args: str) -> bytes:
    """A call of a binding, as the bridge writes it."""
    return json.dumps({"workflow": "flow", "op": "sendEvent", "args": args}).encode()


async def turns() -> None:
    """Let everything run that can."""
    for _ in range(20):
        await asyncio.sleep(0)
