"""The client's end of a WebSocket."""

from __future__ import annotations

import asyncio
import socket
from types import SimpleNamespace
from typing import Any, cast

import pytest
import uvloop

from runtime.http.tunnel import Tunnel


class Deaf:
    """An ingress that has no Worker for anybody, and says so when the client is gone."""

    def __init__(self) -> None:
        self.tunnels: set[Tunnel] = set()
        self.statuses: list[int] = []

    async def upgrade(self, scope: dict[str, Any], tunnel: Tunnel) -> None:
        """Wait for the client to leave, and refuse it."""
        self.tunnels.add(tunnel)
        while tunnel in self.tunnels:
            await asyncio.sleep(0)
        tunnel.refuse(503, "There is no Worker.")

    def answered_upgrade(self, scope: dict[str, Any], status: int, seconds: float) -> None:
        """Note what the client is told."""
        self.statuses.append(status)


def test_a_client_that_left_while_it_waited_is_refused_in_silence(caplog: pytest.LogCaptureFixture) -> None:
    async def refuse() -> list[int]:
        ingress = Deaf()
        state = SimpleNamespace(connections=set())
        made: list[Tunnel] = []

        def tunnel() -> Tunnel:
            made.append(Tunnel(cast(Any, ingress), None, state, {}))
            return made[-1]

        server = await asyncio.get_running_loop().create_server(tunnel, "127.0.0.1", 0)
        with socket.create_connection(server.sockets[0].getsockname()) as client:
            client.sendall(b"GET / HTTP/1.1\r\nhost: here\r\n\r\n")
            while not ingress.tunnels:
                await asyncio.sleep(0)
            made[0].close()
        while not ingress.statuses:
            await asyncio.sleep(0)
        server.close()
        return ingress.statuses

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        assert runner.run(refuse()) == [503]
    assert not caplog.records
