"""What the tests of field reports share: routes that drive a Workflow, and a look at what really happened."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from textwrap import dedent
from typing import Any

from runtime.store.files import file_name
from runtime.store.types import Key
from tests.dev import Dev, eventually, isolates, write_project

PREAMBLE = """
import asyncio
import json
import os
from urllib.parse import parse_qs, urlsplit
from workers import Response, WorkerEntrypoint, WorkflowEntrypoint, env
from workers.workflows import NonRetryableError

def note(text):
    with open(env.NOTES, "a") as notes:
        notes.write(f"{text}\\n")

async def gate(name):
    while not os.path.exists(f"{env.NOTES}.{name}"):
        await asyncio.sleep(0.01)
"""

ROUTES = """
class Default(WorkerEntrypoint):
    async def fetch(self, request):
        url = urlsplit(request.url)
        asked = {name: values[0] for name, values in parse_qs(url.query, keep_blank_values=True).items()}
        try:
            return Response.json(await self.answer(url.path, asked))
        except Exception as error:
            return Response.json({"error": str(error)}, status=400)

    async def answer(self, path, asked):
        if path == "/create":
            given = {"params": json.loads(asked["params"])} if "params" in asked else {}
            return {"id": (await env.FLOW.create(id=asked["id"], **given)).id}
        if path == "/front":
            return os.getpid()
        if path == "/batch":
            made = await env.FLOW.create_batch([{"id": id} for id in asked["ids"].split(",")])
            return [instance.id for instance in made]
        instance = await env.FLOW.get(asked["id"])
        if path == "/send":
            await instance.send_event({"type": asked["type"], "payload": json.loads(asked["payload"])})
        elif path != "/status":
            await getattr(instance, path[1:])()
        status = await instance.status()
        return {"status": status.status, "output": status.output, "error": status.get("error")}
"""


def flow(folder: Path, run: str, *, routes: str = ROUTES, **config: Any) -> Path:
    """Make a project whose one Workflow, `Flow`, has these methods; ``note(text)`` in it writes what `notes` reads, and
    ``await gate(name)`` waits for `open_gate`."""
    body = "".join(f"    {line}\n" if line else "\n" for line in dedent(run).strip("\n").splitlines())
    code = f"{PREAMBLE}\nclass Flow(WorkflowEntrypoint):\n{body}\n{routes}"
    return write_project(folder / "project", code, "Flow", vars={"NOTES": str(folder / "notes")}, **config)


def notes(server: Dev) -> list[str]:
    """What the Workflow's code has noted, in a file outside the store: what is there did happen."""
    file = server.project.parent / "notes"
    return file.read_text().splitlines() if file.exists() else []


def open_gate(server: Dev, name: str) -> None:
    """Let code that waits at ``gate(name)`` go on."""
    (server.project.parent / f"notes.{name}").touch()


def work_isolate(server: Dev) -> int:
    """The process in which Workflows run."""
    front = server.json("/front")
    assert server.process is not None
    (work,) = set(isolates(server.process.pid)) - {front}
    return work


def noted(server: Dev, *wanted: str) -> list[str]:
    """Wait until the Workflow's code has noted these texts, without asking the server anything."""
    eventually(lambda: set(wanted) <= set(notes(server)))
    return notes(server)


def create(server: Dev, id: str = "one", params: Any = None) -> None:
    """Create an instance."""
    given = {} if params is None else {"params": json.dumps(params)}
    server.json("/create", params={"id": id, **given})


def send(server: Dev, type: str, payload: Any, id: str = "one") -> None:
    """Send an event, and return when it is acknowledged."""
    server.json("/send", params={"id": id, "type": type, "payload": json.dumps(payload)})


def until(server: Dev, status: str, id: str = "one") -> Any:
    """Wait until an instance has a status; gives what `status()` says then."""
    return server.until(f"/status?id={id}", lambda seen: seen["status"] == status)


def output(server: Dev, id: str = "one") -> Any:
    """Wait until an instance has ended well; gives its output."""
    ended = ("complete", "errored", "terminated")
    seen = server.until(f"/status?id={id}", lambda seen: seen["status"] in ended)
    assert seen["status"] == "complete", seen
    return seen["output"]


def journal(server: Dev, id: str = "one") -> list[dict[str, Any]]:
    """An instance's events, read from its file while nobody else needs to know."""
    path = server.state / "instances" / file_name(Key("flow", id))
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as db:
        rows = db.execute("SELECT kind, at, data FROM journal ORDER BY seq").fetchall()
    return [{**json.loads(data), "kind": kind, "at": at} for kind, at, data in rows]


def times(server: Dev, kind: str, id: str = "one") -> list[int]:
    """When events of a kind happened, in ms since the epoch."""
    return [event["at"] for event in journal(server, id) if event["kind"] == kind]
