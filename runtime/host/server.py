"""uvicorn, on the host's own loop."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
import traceback
from collections.abc import Callable, Iterator
from typing import Any

from runtime.cli.terminal import Terminal
from runtime.http.exchange import ResponseCut


class _ToTerminal(logging.Handler):
    """Shows what uvicorn has to say the way everything else is shown."""

    def __init__(self, terminal: Terminal) -> None:
        super().__init__(logging.WARNING)
        self._terminal = terminal

    def emit(self, record: logging.LogRecord) -> None:
        error = record.exc_info[1] if record.exc_info else None
        if not isinstance(error, ResponseCut):
            detail = "".join(traceback.format_exception(error)) if error is not None else None
            self._terminal.error(f"HTTP server: {record.getMessage()}", detail)


def http_server(
    app: Any, terminal: Terminal, on_ready: Callable[[], None], websocket: Callable[..., asyncio.Protocol] | None = None
) -> Any:
    """A uvicorn server that leaves signals to us and tells when it accepts connections.

    ``websocket`` makes the protocol of a connection that asks for a WebSocket, else that is a request like any other.
    """
    import uvicorn

    from runtime.http.protocol import Connection

    class Server(uvicorn.Server):
        @contextlib.contextmanager
        def capture_signals(self) -> Iterator[None]:
            yield

        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            on_ready()

    log = logging.getLogger("uvicorn.error")
    log.handlers, log.propagate = [_ToTerminal(terminal)], False
    config = uvicorn.Config(
        app,
        http=Connection,
        ws=websocket or "none",  # type: ignore[arg-type]  # uvicorn calls it, no more
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
    )
    return Server(config)
