"""Starts workerd for built projects, in whatever thread, before anybody listens to it.

The host does so while the rest of it is imported: keep this module's imports few.
"""

from __future__ import annotations

import os
import secrets
import socket
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from runtime.javascript.config import arguments, write_config
from runtime.javascript.plan import Plan, Worker

from .started import Started

CONFIG = "workerd.capnp"


@dataclass(frozen=True, slots=True)
class Launch:
    """What is to be run, and where: ``folder`` is for this process alone, ``storage`` for Durable Objects."""

    workers: tuple[Worker, ...]
    workerd: Path
    newest_date: str
    folder: Path
    storage: Path
    inspector: str | None = None
    keep: Sequence[int] = ()  # descriptors that the process inherits


@dataclass(frozen=True, slots=True)
class Spawned:
    """A workerd that nobody listens to yet, and the sockets on which it will ask for what it needs, and runs speak."""

    what: Launch
    token: str
    bindings: socket.socket
    lines: socket.socket
    config: Path
    started: Started

    def kill(self) -> None:
        """End it: nobody will listen to it."""
        self.started.kill()
        self.started.wait()
        self.started.bury()
        self.bindings.close()
        self.lines.close()
        for descriptor in (self.started.control, self.started.output):
            os.close(descriptor)


def spawn(what: Launch) -> Spawned:
    """Start the process. Raises `OSError` when it cannot be started."""
    token = secrets.token_hex(16)
    bindings = socket.create_server(("127.0.0.1", 0))
    lines, lines_address = line_socket()
    try:
        host, port = bindings.getsockname()
        plan = plan_of(what, token, f"{host}:{port}", lines_address)
        config = what.folder / CONFIG
        write_config(plan, config)
        command = [str(what.workerd), "serve", str(config), *arguments(plan)]
        started = Started(command, what.workers[0].project.root, what.keep)
    except BaseException:
        bindings.close()
        lines.close()
        raise
    return Spawned(what, token, bindings, lines, config, started)


def line_socket() -> tuple[socket.socket, str]:
    """A socket for the lines of runs, and its address as workerd has it.

    A message over a Unix socket takes the two processes a seventh less time than over TCP. One with an abstract name,
    which Linux alone has, leaves no file behind. Whoever comes needs the token, as with TCP.
    """
    if sys.platform != "linux":
        sock = socket.create_server(("127.0.0.1", 0))
        return sock, "{}:{}".format(*sock.getsockname())
    name = f"celld-{secrets.token_hex(16)}"
    sock = socket.socket(socket.AF_UNIX)
    sock.bind(f"\0{name}")
    sock.listen(socket.SOMAXCONN)
    return sock, f"unix-abstract:{name}"


def plan_of(what: Launch, token: str, host: str, lines: str) -> Plan:
    """The plan of a process that reaches the host at these addresses."""
    return Plan(what.workers, token, host, lines, what.storage, what.newest_date, inspector=what.inspector)
