"""Makes an isolate of a workerd."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from runtime.isolates.streams import StreamStore
from runtime.isolates.transport import Listener
from runtime.javascript.plan import Worker
from runtime.javascript.source_maps import SourceMaps

from .isolate import Served, WorkerdIsolate
from .process import Process
from .spawn import Launch as Launch
from .spawn import Spawned, spawn
from .spawn import plan_of as plan_of
from .stacks import Stacks


async def launch(what: Launch, listener: Listener, streams: StreamStore | None = None) -> WorkerdIsolate:
    """Start the process; `loaded` or `load_failed` follows. Raises `OSError` when it cannot be started."""
    return await attach(await asyncio.to_thread(spawn, what), listener, streams)


async def attach(
    spawned: Spawned, listener: Listener, streams: StreamStore | None = None, *, mute: bool = False
) -> WorkerdIsolate:
    """Listen to a process that is there already; `loaded` or `load_failed` follows. ``mute`` drops what it prints."""
    served = [_served(worker) for worker in spawned.what.workers]
    isolate = WorkerdIsolate(served, spawned.token, listener, streams, mute=mute)

    def listening(event: Mapping[str, Any]) -> None:
        spawned.config.unlink(missing_ok=True)  # workerd has read it, and there are secrets in it
        isolate.listening(event)

    await isolate.bindings.open(spawned.bindings)
    await isolate.lines.open(spawned.lines)
    isolate.attach(Process(spawned.started, on_listening=listening, on_lines=isolate.printed, on_exit=isolate.ended))
    return isolate


def _served(worker: Worker) -> Served:
    project = worker.project
    stacks = Stacks(SourceMaps(worker.bundle.folder), project.root)
    workflows = [declared.name for declared in worker.workflows()]
    return Served(worker.name, workflows, stacks, worker.bundle.digest)
