"""A host for runs on a real workerd, through the bridge: a test says how it answers, and reads what it was told."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import subprocess
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread
from typing import Any

import httpx

from runtime.isolates.workerd.spawn import line_socket
from runtime.isolates.workerd.websocket import Client, Server
from runtime.javascript.tools import Tools
from tests.inbox import Inbox, Message
from workers_shim.wire.devalue import parse, stringify

Answer = Callable[[Message], Any]  # of a `bind`: {"value"} or {"error"}

CONFIG = {"retries": {"limit": 5, "delay": 10000, "backoff": "exponential"}, "timeout": "10 minutes"}
BRIDGE = Path(__file__).parents[3] / "workers_shim" / "workerd"
WORKER = "app"
TOKEN = "token"
WORKFLOW = "flow"
IMPORTS = """
import { WorkflowEntrypoint, WorkerEntrypoint, RpcTarget } from "cloudflare:workers";
import { NonRetryableError } from "cloudflare:workflows";
"""
# What the build makes of a project; here the modules are taken as they are.
ENTRY = """
import {{ wrapDefault, wrapWorkflow }} from "./entry.js";
import * as worker from "./user.js";
export * from "./user.js";
export default wrapDefault(worker.default, worker);
export const Flow = wrapWorkflow(worker.Flow, "Flow");
"""

# What code sees of an error, and of anything that fails.
CAUGHT = """
const caught = async (code) => { try { return [await code()]; } catch (e) { return `${e.name}: ${e.message}`; } };
"""


def flow(body: str) -> str:
    """A Workflow with this body of `run()`."""
    return f"export class Flow extends WorkflowEntrypoint {{ async run(event, step) {{ {body} }} }}\n"


class Run:
    """One run: what holds it, its line, and what it said."""

    def __init__(self, start: Message) -> None:
        self.number: int = start["run"]
        self.heard: list[Message] = []
        self.frames = 0
        self.lines = 0  # how many it has had
        self.refusals = 0  # how many of the next ones are refused
        self.line: Line | None = None
        self.ended: asyncio.Future[str] = asyncio.get_running_loop().create_future()  # why
        self._resting = False  # it was asked for rest, and nothing has been said to it since
        self._coming = True  # the line
        self._waiting: list[bytes] = []
        headers = {"celld-token": TOKEN, "celld-kind": "run", "celld-workflow": start["workflow"]}
        begin = json.dumps([start]).encode()
        self.hold = Client(
            headers, on_open=lambda: self.hold.send(begin), on_texts=self.texts, on_closed=self.ended.set_result
        )
        self._inbox = Inbox()

    def texts(self, frames: list[bytes]) -> None:
        """Frames have come."""
        for frame in frames:
            self.frames += 1
            messages = json.loads(frame)
            self.heard += messages
            self._inbox.arrive(messages)
            if messages[-1]["t"] == "resting" and self._resting and self.line is not None:
                self.line.close()

    def refuse(self) -> HTTPStatus:
        """Answer as a host that has not noticed yet that the line before is closed."""
        self.refusals -= 1
        return HTTPStatus.CONFLICT

    def attach(self, line: Line) -> None:
        """The line is open."""
        self.lines += 1
        self.line = line
        self._coming = False
        self._flush()

    def detach(self) -> None:
        """The line is closed."""
        self.line = None
        self._flush()

    def _flush(self) -> None:
        if not self._waiting:
            return
        if self.line is not None and not self.line.is_closing:
            for frame in self._waiting:
                self.line.send(frame)
            self._waiting = []
        elif self.line is None and not self._coming:
            self._coming = True
            self.hold.send(b'[{"t":"wake"}]')

    # ------------------------------------------------------------------------------------------------------ speaking

    def send(self, *messages: Message) -> None:
        """Say something, in one frame."""
        self._waiting.append(json.dumps([{"run": self.number, **message} for message in messages]).encode())
        self._resting = messages[-1]["t"] == "rest"
        self._flush()

    def exec(self, call: Message, attempt: int = 1, config: Message | None = None) -> None:
        """Order an attempt of a call."""
        self.send({"t": "exec", "call": call["call"], "attempt": attempt, "config": config or CONFIG})

    def ret(self, call: Message, value: Any = None, **extra: Any) -> None:
        """Settle a call: with a value, or with ``error=`` and ``refused=``."""
        self.send(settled(call, value, **extra))

    def rest(self) -> None:
        """Ask when the run parks."""
        self.send({"t": "rest"})

    def undo(self, name: str, nth: int = 1, attempt: int = 1, **more: Any) -> None:
        """Ask for a step's undo function; ``error`` and ``output`` may be given."""
        context = {"step": {"name": name, "count": nth}, "attempt": 1, "config": CONFIG}
        error = more.pop("error", {"name": "Error", "message": "boom"})
        if "output" in more:
            more["output"] = stringify(more["output"])
        message = {"t": "undo", "name": name, "nth": nth, "attempt": attempt, "context": context, "error": error}
        self.send(message | more)

    # ------------------------------------------------------------------------------------------------------- hearing

    async def next(self, *types: str) -> Message:
        """The next message of one of these types; others before it are passed over."""
        return await self._inbox.next(*types)

    async def step(self) -> Message:
        """Run the callback of the next call, and settle it with what it gave; gives the call."""
        call = await self.next("call")
        self.exec(call)
        ran = await self.next("ran")
        self.send(answered(ran))
        return call

    async def play(self) -> Message:
        """Answer as a host without retries or timers would until the run ends; gives its `done`."""
        while True:
            message = await self.next("call", "ran", "done")
            if message["t"] == "done":
                return message
            if message["t"] == "ran":
                self.send(answered(message))
            elif message["kind"] == "do":
                self.exec(message)
            else:
                self.ret(message, {"type": "go", "payload": 1} if message["kind"] == "wait" else None)

    def said(self, *types: str) -> list[Message]:
        """All messages of these types so far."""
        return [message for message in self.heard if message["t"] in types]

    def release(self) -> None:
        """Give the run up."""
        self.hold.close()
        if self.line is not None:
            self.line.abort()


class Line(Server):
    """The line of one of these runs."""

    def __init__(self, runs: Mapping[int, Run]) -> None:
        super().__init__()
        self._runs = runs
        self._run: Run | None = None

    def answer(self, headers: Mapping[str, str]) -> HTTPStatus:
        assert headers["celld-token"] == TOKEN
        self._run = self._runs[int(headers["celld-run"])]
        return HTTPStatus.SWITCHING_PROTOCOLS if self._run.refusals == 0 else self._run.refuse()

    def opened(self) -> None:
        assert self._run is not None
        self._run.attach(self)

    def texts(self, texts: list[bytes]) -> None:
        assert self._run is not None
        self._run.texts(texts)

    def closed(self, reason: str) -> None:
        if self._run is not None:
            self._run.detach()


class World:
    """A workerd with the bridge and one worker in it."""

    def __init__(self, port: int, output: Path, answers: Answers, runs: dict[int, Run]) -> None:
        self.port = port
        self.bound = answers.heard
        self._output = output
        self._runs = runs

    def close(self) -> None:
        """Drop every connection."""
        for run in self._runs.values():
            run.hold.abort()

    async def start(
        self,
        journal: Iterable[list[Any]] = (),
        payload: Any = None,
        limit: int = 10000,
        undo: bool = False,
        schedule: Message | None = None,
        workflow: str = WORKFLOW,
    ) -> Run:
        """Start a run of the class ``Flow``."""
        event: Message = {"payload": stringify({} if payload is None else payload), "timestamp": 1_750_000_000_123}
        if schedule is not None:
            event["schedule"] = schedule
        start: Message = {"t": "start", "run": len(self._runs) + 1, "workflow": workflow, "class_name": "Flow"}
        start |= {"instance": "one", "event": event, "step_limit": limit, "journal": list(journal)}
        run = Run(start | {"undo": True} if undo else start)
        self._runs[run.number] = run
        await asyncio.get_running_loop().create_connection(lambda: run.hold, "127.0.0.1", self.port)
        return run

    async def request(self, path: str = "/", kind: str = "request", method: str = "GET", **more: Any) -> httpx.Response:
        """What the bridge answers; a header's ``_`` stands for ``-``."""
        headers = {"celld-token": TOKEN, "celld-kind": kind, "celld-worker": WORKER, **more.pop("headers", {})}
        async with httpx.AsyncClient(timeout=15) as client:
            return await client.request(method, f"http://127.0.0.1:{self.port}{path}", headers=headers, **more)

    async def json(self, path: str = "/") -> Any:
        """The JSON that the worker answers."""
        response = await self.request(path)
        assert response.status_code == 200, response.text
        return response.json()

    def lines(self) -> list[tuple[str, str]]:
        """What was printed so far: level and text of each line, but for what workerd says of itself."""
        parsed = [json.loads(line) for line in self._output.read_text().splitlines() if line.startswith("{")]
        return [(line["level"], line["message"]) for line in parsed if not line["message"].startswith("NOSENTRY")]

    async def line(self, part: str) -> int:
        """Wait until a line with this text is printed; gives its number."""
        found: list[int] = []

        def printed() -> bool:
            found[:] = [number for number, (_, text) in enumerate(self.lines()) if part in text]
            return bool(found)

        await self.until(printed)
        return found[0]

    async def until(self, holds: Callable[[], bool]) -> None:
        """Wait for something that nobody tells of."""
        async with asyncio.timeout(15):
            while not holds():
                await asyncio.sleep(0.02)


class Answers:
    """The host's end of bindings: one answer for every operation."""

    def __init__(self, answer: Answer | None) -> None:
        self.heard: list[Message] = []
        self._answer = answer

    def __call__(self, asked: Message) -> Message:
        self.heard.append({**asked, "args": parse(asked["args"])})
        assert self._answer is not None, "this test has no bindings"
        answer = self._answer(self.heard[-1])
        return answer if isinstance(answer, dict) and "error" in answer else {"value": stringify(answer)}


@asynccontextmanager
async def bridge(
    tools: Tools,
    code: str,
    *,
    date: str = "2026-05-01",
    flags: Iterable[str] = ("nodejs_als",),
    answer: Answer | None = None,
    entry: str = ENTRY,
    front: str | None = None,
    hurry: bool = False,
    v8_flags: Iterable[str] = ("--expose-gc-as=celldCollect",),
) -> AsyncIterator[World]:
    """Run a worker with this code (it exports ``Flow``, unless ``entry`` is another). ``front`` is the code of a worker
    in front of it. In a ``hurry`` the bridge waits for tenths of what it else waits for."""
    answers = Answers(answer)
    runs: dict[int, Run] = {}
    lines, lines_address = line_socket()
    server = await asyncio.get_running_loop().create_unix_server(lambda: Line(runs), sock=lines)
    with TemporaryDirectory() as name, _served(answers) as host:
        folder = Path(name)
        (folder / "bridge").mkdir()
        for file in BRIDGE.glob("*.js"):
            text = file.read_text()
            (folder / "bridge" / file.name).write_text(_hurried(text) if hurry else text)
        (folder / "user.js").write_text(IMPORTS + code)
        (folder / "main.js").write_text(entry.format())
        (folder / "front.js").write_text(front or "")
        config = folder / "config.capnp"
        config.write_text(_config(folder, date, flags, host, lines_address, front is not None, v8_flags))
        output = folder / "output"
        port, process = await asyncio.to_thread(_started, tools.workerd, config, output)
        world = World(port, output, answers, runs)
        try:
            yield world
        finally:
            world.close()
            process.send_signal(signal.SIGKILL)
            process.wait()
            server.close()


def _hurried(text: str) -> str:
    for name, waits in {"BLOCKED": 10_000, "LIMIT": 10_000, "DELAY_LIMIT": 5000}.items():
        text = re.sub(rf"(?m)^const {name} = ([\d_]+);", f"const {name} = {waits // 20};", text)
    return text


def _started(workerd: Path, config: Path, output: Path) -> tuple[int, subprocess.Popen[bytes]]:
    read, write = os.pipe()
    command = [str(workerd), "serve", str(config), "--import-path=/", f"--control-fd={write}"]
    with output.open("wb") as out, os.fdopen(read) as control:
        process = subprocess.Popen(command, stdout=out, stderr=out, pass_fds=[write])
        os.close(write)
        event = control.readline()
    if not event:
        process.wait()
        raise AssertionError(output.read_text())
    return json.loads(event)["port"], process


def _config(
    folder: Path, date: str, flags: Iterable[str], host: str, lines: str, front: bool, v8_flags: Iterable[str]
) -> str:
    ours = sorted((folder / "bridge").glob("*.js"))
    user = [folder / "main.js", folder / "user.js", *ours]
    bridge = sorted(ours, key=lambda file: file.name != "bridge.js")
    props = json.dumps(json.dumps({"workflow": WORKFLOW}))
    tables = {
        "WORKERS": {WORKER: "USER_0"},
        "FRONTS": {WORKER: "FRONT_0"} if front else {},
        "WORKFLOWS": {WORKFLOW: {"class": "WF_0_Flow", "user": "USER_0"}},
    }
    return f"""
using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  structuredLogging = true, v8Flags = {json.dumps(list(v8_flags))},
  services = [
    (name = "user", worker = (
      modules = [{_modules(user)}],
      compatibilityDate = "{date}", compatibilityFlags = {json.dumps(list(flags))},
      bindings = [
        (name = "FLOW", wrapped = (moduleName = "cloudflare-internal:workflows-api", innerBindings = [
          (name = "fetcher", service = (name = "bridge", entrypoint = "WorkflowBinding", props = (json = {props}))),
        ])),
        (name = "CELLD:hop", service = (name = "bridge", entrypoint = "Hop")),
        (name = "CELLD:lines", service = "lines"),
        (name = "CELLD:workflow:Flow", service = (name = "user", entrypoint = "Flow")),
        (name = "SELF", service = "user"),
        (name = "FLOW_CLASS", service = (name = "user", entrypoint = "Flow")),
      ],
    )),
    (name = "front", worker = (
      modules = [(name = "front.js", esModule = embed "{folder / "front.js"}")],
      compatibilityDate = "{date}", bindings = [(name = "BEHIND", service = "user")],
    )),
    (name = "bridge", worker = (
      modules = [{_modules(bridge)}],
      compatibilityDate = "2026-01-01",
      bindings = [
        (name = "TOKEN", text = "{TOKEN}"), (name = "HOST", service = "host"), (name = "USER_0", service = "user"),
        {'(name = "FRONT_0", service = "front"),' if front else ""}
        (name = "WF_0_Flow", service = (name = "user", entrypoint = "Flow")),
        {", ".join(f"(name = {json.dumps(k)}, json = {json.dumps(json.dumps(v))})" for k, v in tables.items())},
      ],
    )),
    (name = "host", external = (address = "{host}", http = (
      injectRequestHeaders = [(name = "celld-token", value = "{TOKEN}")],
    ))),
    (name = "lines", external = (address = "{lines}", http = (
      injectRequestHeaders = [(name = "celld-token", value = "{TOKEN}")],
    ))),
  ],
  sockets = [(name = "bridge", address = "127.0.0.1:0", http = (cfBlobHeader = "celld-cf"), service = "bridge")],
);
"""


def _modules(files: Iterable[Path]) -> str:
    return ", ".join(f'(name = "{file.name}", esModule = embed "{file}")' for file in files)


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: a workerd that is killed resets its connections."""


class _served:
    """A server for `/bind` for as long as the block lasts; gives its address."""

    def __init__(self, answers: Answers) -> None:
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
                assert (self.path, self.headers["celld-token"]) == ("/bind", "token")
                body = json.dumps(answers(asked)).encode()
                self.send_response(200)
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: Any) -> None:
                """Say nothing."""

        self._server = _Server(("127.0.0.1", 0), Handler)
        self._thread = Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02})

    def __enter__(self) -> str:
        self._thread.start()
        return f"127.0.0.1:{self._server.server_address[1]}"

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


def settled(call: Message, value: Any = None, **extra: Any) -> Message:
    """The `ret` of a call."""
    kept = {} if "error" in extra else {"value": stringify(value)}
    return {"t": "ret", "call": call["call"], **kept, **extra}


def answered(ran: Message) -> Message:
    """The `ret` that gives a call what its attempt gave."""
    return {"t": "ret", **{key: ran[key] for key in ran if key in ("call", "value", "error")}}


def value(message: Message) -> Any:
    """The value that a message carries, in the neutral model."""
    assert "value" in message, message
    return parse(message["value"])


def recorded(kind: str, name: str, nth: int = 1, **outcome: Any) -> list[list[Any]]:
    """The journal's lines of a call that settled with ``result`` or ``error``, or (neither) did not."""
    lines: list[list[Any]] = [["c", kind, name, nth, 0]]
    if "result" in outcome:
        lines.append(["v", kind, name, nth, stringify(outcome["result"])])
    elif "error" in outcome:
        lines.append(["e", kind, name, nth, outcome["error"]])
    return lines
