"""workerd as `Isolate`: what the host says becomes HTTP and WebSocket messages to the bridge, and back."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Collection, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from runtime.http.tunnel import Near
from runtime.isolates.streams import StreamStore
from runtime.isolates.transport import Listener, Message
from workers_shim.wire.busy_poll import BusyPoll
from workers_shim.wire.messages import Pulse

from .asking import ask
from .bind_server import BindServer
from .connection import Pool
from .garbage import Garbage
from .lines import Lines
from .load_failure import load_failed
from .logs import Logs, Speaker
from .process import Process
from .requests import Requests
from .run_socket import RunSocket
from .stacks import Stacks
from .upgrade import Upgrade

PULSE_TIMEOUT = 2.0  # seconds; a bridge that is not kept from it answers within one millisecond
LATE_SPEAKERS = 1024  # runs that are over whose late output still gets its place


@dataclass(frozen=True, slots=True)
class Served:
    """One Worker of the process, as it is known in it."""

    name: str
    workflows: Collection[str]  # the names of those whose class is there
    stacks: Stacks
    digest: str


class WorkerdIsolate:
    """`Isolate` over a `Process`, for both roles."""

    # As in Cloudflare's local engine, which counts from its call too. Told by a frame of its own it took a fifth of the
    # speed: 0.95 ms of workerd's time a step instead of 0.75.
    says_began = False
    parks_by_ending = True
    role = "both"

    def __init__(
        self,
        workers: Sequence[Served],
        token: str,
        listener: Listener,
        streams: StreamStore | None = None,
        *,
        mute: bool = False,
    ) -> None:
        self.lost = False
        self.pid = 0
        self.inspector: str | None = None
        self.bindings = BindServer(token, streams, self._say, self._mapped)
        self._workers = workers
        self._logs = Logs(self._speaker, workers[0].name)
        self._told_load = False  # `loaded` or `load_failed` was said
        self._stacks = {name: worker.stacks for worker in workers for name in worker.workflows}
        self._token = token
        self._mute = mute  # on trial: what it prints comes again from the one that serves
        self._listener = listener
        self._loop = asyncio.get_running_loop()
        self._process: Process | None = None
        self._pool: Pool | None = None
        self._requests: Requests | None = None
        self._runs: dict[int, RunSocket] = {}
        self.lines = Lines(token, self._runs.get)
        self._speakers: dict[int, Speaker] = {}  # by run
        self._dirty: list[RunSocket] = []
        self._upgrades: set[Upgrade] = set()
        self._scheduled = 0  # handlers that are running
        self._draining = False
        self._hearing = False
        self._began = self._loop.time()
        self._tasks: set[asyncio.Task[None]] = set()
        self._busy_poll = BusyPoll(self._loop)
        self._garbage = Garbage(self._collect, self._spawn)

    # ------------------------------------------------------------------------------------------------------- start

    def attach(self, process: Process) -> None:
        """The process is started."""
        self._process = process
        self.pid = process.pid

    def listening(self, event: Mapping[str, Any]) -> None:
        """workerd tells a port of its own."""
        if event["event"] == "listen-inspector":
            self.inspector = f"127.0.0.1:{event['port']}"
        elif event["event"] == "listen":
            self._pool = Pool(event["port"])
            self._requests = Requests(
                self._pool,
                self._token,
                self._workers[0].name,
                self._workers[0].stacks,
                say=self._say,
                give=self._give,
                finish=self._end,
                idle=self._drained,
            )
            self._spawn(self._load())

    async def _load(self) -> None:
        """Ask what the code offers: that it answers says that it is loaded."""
        assert self._pool is not None
        kinds: dict[str, set[str]] = {"workflows": set(), "entrypoints": set(), "handlers": set()}
        try:
            for worker in self._workers:
                described = await ask(self._pool, self._token, "worker", worker.name)
                for kind, names in kinds.items():
                    names.update(described[kind])
        except ConnectionError as error:
            self._failed_to_load([*self._logs.complaints, str(error)])
            return
        self._told_load = True
        code = "-".join(worker.digest for worker in self._workers)
        loaded = {"t": "loaded", **{kind: sorted(names) for kind, names in kinds.items()}, "python": "", "code": code}
        told = self._logs.loaded()
        self._say(*(() if self._mute else told), loaded)

    def _failed_to_load(self, reasons: Sequence[str], status: int | None = None) -> None:
        if not self._told_load:
            self._told_load = True
            self._say(load_failed(reasons, {worker.name: worker.stacks for worker in self._workers}, status))

    # ------------------------------------------------------------------------------------------------------ to it

    def send(self, message: Message, lane: int | None = None) -> None:
        if self.lost:
            return
        kind = message["t"]
        if kind == "start":
            self._start(message)
        elif kind == "release":
            self._release(message["run"])
        elif "run" in message:
            run = self._runs.get(message["run"])
            if run is not None:
                run.send(message)
        elif kind == "bound":
            self.bindings.answer(dict(message))
        elif kind == "drain":
            self._draining = True
            self._drained()
        else:
            self._of_request(kind, message)

    def _of_request(self, kind: str, message: Message) -> None:
        assert self._requests is not None
        if kind == "request":
            self._requests.begin(message)
        elif (request := self._requests.of(message["id"])) is not None:
            if kind == "credit":
                request.credit(message["bytes"])
            elif kind == "disconnect":
                request.left()

    async def upgrade(self, request: Message, near: Near) -> Upgrade:
        """Pass on a client's request for a WebSocket; raises `ConnectionError`."""
        if self._pool is None or self.lost:
            raise ConnectionError("workerd does not listen")
        main, port = self._workers[0], self._pool.port
        far = Upgrade(near, main.stacks, self._upgrades.discard)
        try:
            await self._loop.create_connection(lambda: far, "127.0.0.1", port)
        except OSError as error:
            raise ConnectionError(str(error)) from error
        self._upgrades.add(far)
        far.begin(request, self._token, main.name)
        return far

    def send_data(self, stream: int, data: bytes) -> None:
        request = self._requests.of(stream) if self._requests is not None else None
        if request is not None:
            request.data(data)

    def _mapped(self, run: int, stack: str) -> str:
        """A stack of a run's code with the places of the sources."""
        socket = self._runs.get(run)
        return stack if socket is None else socket.stacks.mapped(stack)

    def send_end(self, stream: int) -> None:
        request = self._requests.of(stream) if self._requests is not None else None
        if request is not None:
            request.end()

    def _start(self, message: Message) -> None:
        assert self._pool is not None
        run = RunSocket(
            message,
            self._token,
            self._stacks.get(message["workflow"], self._workers[0].stacks),
            hear=self._hear,
            flush_soon=self._flush_soon,
        )
        self._runs[run.run] = run
        self._speakers[run.run] = Speaker(run.echo, run.stacks)
        if len(self._speakers) > LATE_SPEAKERS + len(self._runs):
            del self._speakers[next(each for each in self._speakers if each not in self._runs)]
        self._spawn(run.connect(self._pool.port))

    def _release(self, number: int) -> None:
        run = self._runs.get(number)
        if run is not None:
            run.release()

    def _flush_soon(self, run: RunSocket) -> None:
        if not self._dirty and not self._hearing:
            self._loop.call_soon(self._flush)
        self._dirty.append(run)

    def _flush(self) -> None:
        dirty, self._dirty = self._dirty, []
        for run in dirty:
            run.flush()
        if dirty:
            self._busy_poll.said()

    async def pulse(self) -> Pulse | None:
        if self.lost:
            return None
        if self._pool is None:
            return Pulse(blocked=self._loop.time() - self._began, code="code at the top level of a module")
        try:
            async with asyncio.timeout(PULSE_TIMEOUT):
                await ask(self._pool, self._token, "ping")
        except (TimeoutError, OSError):
            return None
        return Pulse(blocked=0)

    async def scheduled(self, worker: str, cron: str, time_ms: int) -> dict[str, Any]:
        """Call a Worker's `scheduled` handler; gives its ``outcome``, and ``error`` and ``stack`` when it threw.

        Raises `ConnectionError` when the isolate is lost meanwhile.
        """
        if self._pool is None:
            raise ConnectionError("workerd does not listen")
        body = msgspec.json.encode({"cron": cron, "scheduledTime": time_ms})
        self._scheduled += 1
        try:
            result: dict[str, Any] = await ask(self._pool, self._token, "scheduled", worker, body)
        finally:
            self._scheduled -= 1
            self._drained()
        if "stack" in result:
            stacks = next(each.stacks for each in self._workers if each.name == worker)
            result["stack"] = stacks.mapped(result["stack"])
        return result

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()

    def close(self) -> None:
        """Let it finish what it is doing for requests, and end."""
        for run in list(self._runs.values()):
            run.release()
        for upgrade in list(self._upgrades):
            upgrade.abort()
        if self._process is not None:
            self._process.terminate()

    async def wait(self) -> int:
        """Wait for the process to end; gives its exit status."""
        assert self._process is not None
        return await asyncio.shield(self._process.exited)

    # ---------------------------------------------------------------------------------------------------- from it

    def _hear(self, messages: list[dict[str, Any]]) -> None:
        """What a run said in one go, or is said of it."""
        if self.lost:
            return
        self._busy_poll.heard()
        self._hearing = True
        try:
            for message in messages:
                if message["t"] == "released":
                    self._runs.pop(message["run"], None)
                    self._garbage.left()
                self._listener.on_message(self, message)
        finally:
            self._listener.on_turn(self)
            self._hearing = False
            self._flush()  # what the turn had to say goes out in the same iteration of the loop

    async def _collect(self) -> None:
        assert self._pool is not None
        await ask(self._pool, self._token, "collect")

    def _say(self, *messages: dict[str, Any]) -> None:
        for message in messages:
            self._listener.on_message(self, message)
        self._listener.on_turn(self)

    def _give(self, stream: int, data: bytes) -> None:
        self._listener.on_data(self, stream, data)
        self._listener.on_turn(self)

    def _end(self, stream: int) -> None:
        self._garbage.left()
        self._listener.on_end(self, stream)
        self._listener.on_turn(self)

    def printed(self, lines: Sequence[str]) -> None:
        """workerd wrote these lines."""
        told = self._logs.messages(lines)  # also of one that is mute: why it does not load may be among them
        if not self._mute:
            self._say(*told)

    def _speaker(self, run: int | None, name: str | None) -> Speaker:
        """Who wrote a line. Which of several Workers did cannot be told where neither is named."""
        known = self._speakers.get(run) if run is not None else None
        named = [each.stacks for each in self._workers if name in (None, each.name)]
        return known or Speaker(None, named[0] if len(named) == 1 else None)

    def _drained(self) -> None:
        if self._draining and not self._requests and not self._scheduled and not self.lost:
            self._draining = False
            self._spawn(self._finish())

    async def _finish(self) -> None:
        """All handlers have ended; what they have handed to waitUntil is part of them."""
        assert self._pool is not None
        for worker in self._workers:
            with contextlib.suppress(ConnectionError):
                await ask(self._pool, self._token, "drain", worker.name)
        self._say({"t": "drained"})

    def ended(self, status: int) -> None:
        """The process is gone, and everything with it."""
        self._failed_to_load(self._logs.complaints, status)
        self.lost = True
        self._garbage.stop()
        for task in self._tasks:
            task.cancel()
        for run in self._runs.values():
            run.abandon()
        self._runs.clear()
        for upgrade in list(self._upgrades):
            upgrade.abort()
        if self._requests is not None:
            self._requests.close()
        if self._pool is not None:
            self._pool.close()
        self.bindings.close()
        self.lines.close()
        self._listener.on_lost(self)

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = self._loop.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def __repr__(self) -> str:
        return f"<workerd {self.pid}>"
