"""The process of workerd on the event loop: it tells its ports, its output and its end."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import threading
from collections.abc import Callable
from typing import Any

from .started import Started

LAST_WORDS = 0.5  # seconds that the output may take to arrive after the end


class Process:
    """A started workerd, listened to."""

    def __init__(
        self,
        started: Started,
        *,
        on_listening: Callable[[dict[str, Any]], None],
        on_lines: Callable[[list[str]], None],
        on_exit: Callable[[int], None],
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self.exited: asyncio.Future[int] = self._loop.create_future()
        self.pid = started.pid
        self._started = started
        self._on_exit = on_exit
        self._pipes = [
            self._loop.create_task(self._read(started.output, _Lines(on_lines))),
            self._loop.create_task(self._read(started.control, _Lines(_each_read(on_listening)))),
        ]
        threading.Thread(target=self._wait, daemon=True, name=f"workerd {self.pid}").start()

    async def _read(self, descriptor: int, lines: _Lines) -> None:
        pipe = os.fdopen(descriptor, "rb", 0)
        transport, _ = await self._loop.connect_read_pipe(lambda: lines, pipe)
        try:
            await lines.over.wait()
        finally:
            transport.close()

    def _wait(self) -> None:
        status = self._started.wait()
        with contextlib.suppress(RuntimeError):  # the loop is closed: the host is ending
            self._loop.call_soon_threadsafe(self._ended, status)

    def _ended(self, status: int) -> None:
        self._started.bury()
        self._end = self._loop.create_task(self._tell_end(status))

    async def _tell_end(self, status: int) -> None:
        """Tell the end after the last words, which may say why it came."""
        await asyncio.wait(self._pipes, timeout=LAST_WORDS)
        for pipe in self._pipes:
            pipe.cancel()
        await asyncio.wait(self._pipes)
        self.exited.set_result(status)
        self._on_exit(status)

    def terminate(self) -> None:
        """Let it finish its requests, and end."""
        self._started.terminate()

    def kill(self) -> None:
        """End it, and everything of its process group, at once."""
        self._started.kill()


def _each_read(hear: Callable[[dict[str, Any]], None]) -> Callable[[list[str]], None]:
    def lines(texts: list[str]) -> None:
        for text in texts:
            hear(json.loads(text))

    return lines


class _Lines(asyncio.Protocol):
    """Lines of a pipe, those that arrive together at once."""

    def __init__(self, hear: Callable[[list[str]], None]) -> None:
        self._hear = hear
        self._rest: list[bytes] = []  # pieces of a line
        self.over = asyncio.Event()

    def data_received(self, data: bytes) -> None:
        whole, end, rest = data.rpartition(b"\n")
        if end:
            lines = b"".join([*self._rest, whole]).split(b"\n")
            self._rest = [rest] if rest else []
            self._hear([line.decode("utf-8", "replace") for line in lines])
        else:
            self._rest.append(data)

    def connection_lost(self, exc: Exception | None) -> None:
        if self._rest:
            self._hear([b"".join(self._rest).decode("utf-8", "replace")])
        self.over.set()
