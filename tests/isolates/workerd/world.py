"""A real workerd behind a listener that notes what it is told."""

from __future__ import annotations

import asyncio
import json
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from runtime.isolates.streams import StreamStore
from runtime.isolates.transport import Isolate, Listener
from runtime.isolates.workerd.isolate import WorkerdIsolate
from runtime.isolates.workerd.launch import Launch, launch
from runtime.javascript.build import build
from runtime.javascript.compatibility import newest_date
from runtime.javascript.pins import WORKERD_VERSION
from runtime.javascript.plan import Worker
from runtime.javascript.tools import Tools
from workers_shim.wire import devalue
from wrangler_compat import load_project

Message = dict[str, Any]
PATIENCE = 10.0  # seconds; only a failing test waits for so long

WORKFLOW = """
import { WorkflowEntrypoint } from "cloudflare:workers";
export class It extends WorkflowEntrypoint {
  async run(event, step) { CODE }
}
export default { fetch() { return new Response("it is served"); } };
"""


class Heard:
    """The `Listener`: everything in the order in which it came."""

    def __init__(self) -> None:
        self.messages: list[Message] = []
        self.bodies: dict[int, bytearray] = defaultdict(bytearray)
        self.ended: set[int] = set()
        self.turns = 0
        self.lost = 0
        self.answer: Callable[[Isolate, Message], None] = lambda isolate, message: None
        self._news = asyncio.Event()

    def on_message(self, isolate: Isolate, message: Message) -> None:
        assert not self.lost, f"after the end: {message}"
        self.messages.append(message)
        self.answer(isolate, message)
        self._news.set()

    def on_data(self, isolate: Isolate, stream: int, data: bytes) -> None:
        self.bodies[stream] += data
        self._news.set()

    def on_end(self, isolate: Isolate, stream: int) -> None:
        self.ended.add(stream)
        self._news.set()

    def on_turn(self, isolate: Isolate) -> None:
        self.turns += 1

    def on_lost(self, isolate: Isolate) -> None:
        self.lost += 1
        self._news.set()

    async def until(self, holds: Callable[[], Any]) -> Any:
        """Wait until something holds; gives it."""
        try:
            async with asyncio.timeout(PATIENCE):
                while not (found := holds()):
                    self._news.clear()
                    await self._news.wait()
                return found
        except TimeoutError:
            raise AssertionError(f"it did not come; heard {self.messages}, lost {self.lost}") from None

    def all(self, kind: str, **like: Any) -> list[Message]:
        """The messages of a kind with these values."""
        return [each for each in self.messages if each["t"] == kind and like.items() <= each.items()]

    async def one(self, kind: str, **like: Any) -> Message:
        """The first message of a kind with these values, as soon as it is there."""
        found: list[Message] = await self.until(lambda: self.all(kind, **like))
        return found[0]

    def printed(self) -> list[str]:
        """The lines that user code wrote."""
        return [each["text"] for each in self.all("log")]


def write(folder: Path, code: str, **config: Any) -> Path:
    """A project of one module."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "index.js").write_text(code)
    classes = [name for name in ("It", "Other") if f"class {name} extends WorkflowEntrypoint" in code]
    settings = {
        "name": folder.name,
        "main": "index.js",
        "compatibility_date": "2026-05-01",
        "workflows": [{"name": name.lower(), "class_name": name, "binding": name.upper()} for name in classes],
        **config,
    }
    (folder / "wrangler.json").write_text(json.dumps(settings))
    return folder


def launch_of(tools: Tools, into: Path, folders: Iterable[Path]) -> Launch:
    """What is needed to start the projects in these folders."""
    workers = []
    for number, folder in enumerate(folders):
        project = load_project(folder, environ={})
        workers.append(Worker(project, build(project, tools, into / str(number))))
    return Launch(tuple(workers), tools.workerd, newest_date(WORKERD_VERSION), into, into / "objects")


@asynccontextmanager
async def running(
    tools: Tools, folder: Path, code: str, streams: StreamStore | None = None, **config: Any
) -> AsyncIterator[tuple[WorkerdIsolate, Heard]]:
    """A project of one module in a workerd that has loaded it."""
    heard = Heard()
    what = launch_of(tools, folder / "build", [write(folder / "app", code, **config)])
    async with started(what, heard, streams) as isolate:
        loaded = await heard.until(lambda: heard.all("loaded") or heard.all("load_failed"))
        assert loaded[0]["t"] == "loaded", loaded[0]["traceback"]
        yield isolate, heard


@asynccontextmanager
async def started(what: Launch, heard: Listener, streams: StreamStore | None = None) -> AsyncIterator[WorkerdIsolate]:
    """A workerd, from its start to its end."""
    isolate = await launch(what, heard, streams)
    try:
        yield isolate
    finally:
        isolate.kill()
        await isolate.wait()


def start(run: int, workflow: str = "it", payload: Any = None, journal: Iterable[list[Any]] = ()) -> Message:
    """The message that begins a run."""
    return {
        "t": "start",
        "run": run,
        "workflow": workflow,
        "class_name": workflow.title(),
        "instance": f"instance-{run}",
        "event": {"payload": devalue.stringify(payload), "timestamp": 0},
        "step_limit": 10_000,
        "journal": list(journal),
    }


def settling(isolate: Isolate, message: Message) -> None:
    """The host for `Heard.answer`: every step runs once and settles with what it gave, every wait settles at once."""
    call: Message = {key: message[key] for key in message.keys() & {"run", "call"}}
    if message["t"] == "call" and message["kind"] == "do":
        isolate.send({"t": "exec", **call, "attempt": 1, "config": {}}, message["run"])
    elif message["t"] == "call":
        isolate.send({"t": "ret", **call, "value": "-1"}, message["run"])
    elif message["t"] == "ran":
        outcome: Message = {key: message[key] for key in message.keys() & {"value", "error"}}
        isolate.send({"t": "ret", **call, **outcome}, message["run"])


def request(id: int, path: str = "/", method: str = "GET", headers: Mapping[str, str] | None = None) -> Message:
    """A request of a client."""
    given = [("host", "example.com"), *(headers or {}).items()]
    url = f"http://example.com{path}"
    return {"t": "request", "id": id, "method": method, "url": url, "headers": given, "http_version": "1.1"}
