"""Starts workerd for built projects, in whatever thread, before anybody listens to it.

The host does so while the rest of it is imported: keep this module's imports few.
"""

from __future__ import annotations

import os
import secrets
import socket
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
    """A workerd that nobody listens to yet, and the socket on which it will ask for what it needs."""

    what: Launch
    token: str
    bindings: socket.socket
    config: Path
    started: Started

    def kill(self) -> None:
        """End it: nobody will listen to it."""
        self.started.kill()
        self.started.wait()
        self.started.bury()
        self.bindings.close()
        for descriptor in (self.started.control, self.started.output):
            os.close(descriptor)


def spawn(what: Launch) -> Spawned:
    """Start the process. Raises `OSError` when it cannot be started."""
    token = secrets.token_hex(16)
    bindings = socket.create_server(("127.0.0.1", 0))
    try:
        host, port = bindings.getsockname()
        plan = plan_of(what, token, f"{host}:{port}")
        config = what.folder / CONFIG
        write_config(plan, config)
        command = [str(what.workerd), "serve", str(config), *arguments(plan)]
        return Spawned(what, token, bindings, config, Started(command, what.workers[0].project.root, what.keep))
    except BaseException:
        bindings.close()
        raise


def plan_of(what: Launch, token: str, host: str) -> Plan:
    """The plan of a process that reaches the host at this address."""
    return Plan(what.workers, token, host, what.storage, what.newest_date, inspector=what.inspector)
