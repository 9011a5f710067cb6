"""Where the runs of a workerd connect, to say what they have to say: a server for WebSockets."""

from __future__ import annotations

import asyncio
import hmac
import socket
from collections.abc import Callable, Mapping
from http import HTTPStatus

from .run_socket import RunSocket
from .websocket import Server


class Lines:
    """Takes the lines of runs. ``run_of`` knows those that there are, by number."""

    def __init__(self, token: str, run_of: Callable[[int], RunSocket | None]) -> None:
        self._token = token
        self._run_of = run_of
        self._server: asyncio.Server | None = None

    async def open(self, sock: socket.socket) -> None:
        """Serve what comes to a socket that listens already."""
        loop = asyncio.get_running_loop()
        serve = loop.create_server if sock.family == socket.AF_INET else loop.create_unix_server
        self._server = await serve(lambda: Line(self._token, self._run_of), sock=sock)

    def close(self) -> None:
        """Listen no more."""
        if self._server is not None:
            self._server.close()


class Line(Server):
    """The line of a run, as soon as it has said of which."""

    def __init__(self, token: str, run_of: Callable[[int], RunSocket | None]) -> None:
        super().__init__()
        self._token = token
        self._run_of = run_of
        self._run: RunSocket | None = None

    def answer(self, headers: Mapping[str, str]) -> HTTPStatus:
        if not hmac.compare_digest(headers.get("celld-token", "").encode(), self._token.encode()):
            return HTTPStatus.FORBIDDEN
        number = headers.get("celld-run", "")
        run = self._run_of(int(number)) if number.isdecimal() else None
        if run is None or run.over:
            return HTTPStatus.GONE
        if not run.attach(self):
            return HTTPStatus.CONFLICT
        self._run = run
        return HTTPStatus.SWITCHING_PROTOCOLS

    def opened(self) -> None:
        if self._run is not None:
            self._run.flush()

    def texts(self, texts: list[bytes]) -> None:
        if self._run is not None:
            self._run.texts(texts)

    def closed(self, reason: str) -> None:
        run, self._run = self._run, None
        if run is not None:
            run.detach(reason)
