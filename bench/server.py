"""A server under measurement: started from scratch, asked, killed."""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from bench import processes
from bench.client import Client, RequestFailed
from bench.sides import Side

PORTS = range(18300, 18400)
LOOK = 0.005  # seconds between two looks at a server that starts
STOP_PATIENCE = 10.0
TAIL = 1500  # characters of a failed server's output that are shown


class ServerFailed(Exception):
    """The server ended, or did not become ready; with its last words."""


class Server:
    """One start of one side. Its state folder may be given to a second start."""

    def __init__(self, side: Side, folder: Path, patience: float) -> None:
        self.side = side
        self.folder = folder
        self.port = _free_port()
        self.began = time.monotonic()
        self._patience = patience
        self._log = folder / f"{side.name.replace(' ', '-')}-{self.port}.log"
        with self._log.open("wb") as log:
            self.process = subprocess.Popen(
                side.command(folder / "project", self.port, folder / "state"),
                cwd=folder / "project",
                env={**os.environ, **side.environment},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    async def first_response(self) -> float:
        """Seconds from the launch to the first answered request."""
        while time.monotonic() - self.began < self._patience:
            with contextlib.suppress(OSError, asyncio.IncompleteReadError, RequestFailed):
                client = await Client.connect(self.port)
                try:
                    await client.get("/")
                    return time.monotonic() - self.began
                finally:
                    await client.close()
            if self.process.poll() is not None:
                raise ServerFailed(f"{self.side.name} ended with status {self.process.returncode}:\n{self.tail()}")
            await asyncio.sleep(LOOK)
        raise ServerFailed(f"{self.side.name} did not answer within {self._patience:g} s:\n{self.tail()}")

    def tail(self) -> str:
        """The end of what it printed."""
        return self._log.read_text("utf-8", "replace")[-TAIL:]

    @property
    def pids(self) -> list[int]:
        """Its processes."""
        return processes.tree(self.process.pid)

    @contextlib.asynccontextmanager
    async def client(self) -> AsyncIterator[Client]:
        """A connection to it."""
        client = await Client.connect(self.port)
        try:
            yield client
        finally:
            await client.close()

    def kill(self) -> list[int]:
        """End all its processes with SIGKILL; gives their ids."""
        pids = self.pids
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.process.wait()
        return pids

    def stop(self) -> None:
        """End it in an orderly way, and by force if that takes too long."""
        pids = self.pids
        with contextlib.suppress(ProcessLookupError):
            self.process.send_signal(signal.SIGINT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(STOP_PATIENCE)
        for pid in processes.alive(pids):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.process.wait()


def prepare(side: Side, folder: Path) -> None:
    """Copy the project to where it may write beside itself, and make room for its state."""
    shutil.copytree(side.project, folder / "project", ignore=shutil.ignore_patterns("__pycache__", ".*"))


@contextlib.asynccontextmanager
async def running(side: Side, folder: Path, patience: float) -> AsyncIterator[Server]:
    """A server that has answered once; killed at the end."""
    server = Server(side, folder, patience)
    try:
        await server.first_response()
        yield server
    finally:
        server.kill()


async def finished(client: Client, workflow: str, id: str, every: float, patience: float) -> Any:
    """Ask for an instance's status until it is complete; gives its output."""
    end = time.monotonic() + patience
    while time.monotonic() < end:
        answer = await status(client, workflow, id)
        if answer["status"] == "complete":
            return answer["output"]
        if answer["status"] in ("errored", "terminated"):
            raise ServerFailed(f"{workflow}/{id} is {answer['status']}")
        await asyncio.sleep(every)
    raise ServerFailed(f"{workflow}/{id} was not complete within {patience:g} s")


async def status(client: Client, workflow: str, id: str) -> Any:
    """An instance's status and output."""
    import json

    return json.loads(await client.get("/status", workflow=workflow, id=id))


def _free_port() -> int:
    for port in random.sample(PORTS, len(PORTS)):  # another bench may be running
        with socket.socket() as sock, contextlib.suppress(OSError):
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            sock.bind(("127.0.0.1", port))
            return port
    raise ServerFailed(f"no port of {PORTS.start} to {PORTS.stop - 1} is free")
