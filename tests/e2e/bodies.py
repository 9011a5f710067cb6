"""One server for tests that each bring the text of a Workflow's ``run(step)``.

In it ``note(...)`` keeps what `Told.notes` gives, ``undo_of(name)`` makes an undo function that notes its name, and
``await opened(name)`` waits for `Told.open`.
"""

from __future__ import annotations

import itertools
import json
from textwrap import dedent
from typing import Any

from tests.dev import Dev, eventually

CODE = """
import asyncio
import json
import os
from urllib.parse import parse_qs, urlsplit
from workers import Response, WorkerEntrypoint, WorkflowEntrypoint, env
from workers.workflows import NonRetryableError

class World(dict):
    def __init__(self, id):
        self.path = f"{env.FOLDER}/{id}"
        super().__init__(note=self.note, undo_of=self.undo_of, opened=self.opened, asyncio=asyncio, os=os,
                         NonRetryableError=NonRetryableError, path=self.path)

    def note(self, *what):
        with open(self.path, "a") as notes:
            notes.write(json.dumps(what if len(what) > 1 else what[0]) + "\\n")

    def undo_of(self, name, then=None):
        async def undo(error):
            self.note(f"undo {name}")
            if then is not None:
                raise then
        return undo

    async def opened(self, name):
        while not os.path.exists(f"{self.path}.{name}"):
            await asyncio.sleep(0.01)

class Flow(WorkflowEntrypoint):
    async def run(self, event, step):
        world = World(event.instanceId)
        exec(event.payload, world)
        return await world["run"](step)

class Default(WorkerEntrypoint):
    async def fetch(self, request):
        asked = {name: values[0] for name, values in parse_qs(urlsplit(request.url).query).items()}
        if request.method == "POST":
            await env.FLOW.create(id=asked["id"], params=await request.text())
            return Response.json(None)
        instance = await env.FLOW.get(asked["id"])
        if "do" in asked:
            await getattr(instance, asked["do"])(**json.loads(asked["options"]))
            return Response.json(None)
        if "events" in asked:
            return Response.json([json.loads(json.dumps(event)) async for event in await instance.subscribe()])
        seen = await instance.status()
        return Response.json({"status": seen.status, "output": seen.output, "error": seen.get("error"),
                              "rollback": seen.rollback})
"""


class Told:
    """An instance, and what it left behind."""

    def __init__(self, server: Dev, id: str) -> None:
        self._server = server
        self._path = f"/?id={id}"
        self._file = server.project / "notes" / id

    def do(self, method: str, **options: Any) -> None:
        """Call a method of the instance."""
        self._server.json(f"{self._path}&do={method}&options={json.dumps(options)}")

    def status(self) -> Any:
        return self._server.json(self._path)

    def until(self, *statuses: str) -> Any:
        return self._server.until(self._path, lambda seen: seen["status"] in statuses)

    def ends(self) -> Any:
        """Wait until it has ended; gives its status."""
        return self.until("complete", "errored", "terminated")

    def events(self) -> list[dict[str, Any]]:
        """All its events, once it has ended."""
        told: list[dict[str, Any]] = self._server.json(f"{self._path}&events=all")
        return told

    def types(self) -> list[str]:
        return [event["type"] for event in self.events()]

    def undo_types(self) -> list[str]:
        return [name for name in self.types() if name.startswith("rollback_")]

    @property
    def notes(self) -> list[Any]:
        return [json.loads(line) for line in self._file.read_text().splitlines()] if self._file.exists() else []

    def noted(self, *notes: Any) -> None:
        """Wait for notes."""
        eventually(lambda: self.notes == list(notes))

    def open(self, name: str) -> None:
        """Let code that waits for this go on."""
        self._file.with_suffix(f".{name}").touch()


class Server:
    """The server, on which instances are started from their code."""

    def __init__(self, dev: Dev) -> None:
        self._dev = dev
        self._ids = itertools.count(1)

    def start(self, code: str) -> Told:
        """Create an instance with this ``run(step)``."""
        id = f"i{next(self._ids)}"
        self._dev.post(f"/?id={id}", content=dedent(code)).raise_for_status()
        return Told(self._dev, id)
