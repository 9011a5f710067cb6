"""What each message of the host leads to."""

from __future__ import annotations

import asyncio
import gc
import os
import sys
from collections.abc import Callable
from typing import Any

from workers_shim import compat, current, env, output
from workers_shim.host import IsolateHost
from workers_shim.load import Program, digest, load, set_paths
from workers_shim.report import failure
from workers_shim.run import Run
from workers_shim.runs import Runs
from workers_shim.scope import NEUTRAL
from workers_shim.serve import Server
from workers_shim.transport import Transport
from workers_shim.undo import missing
from workers_shim.wire.messages import Bound, Load, Start, Undo


class Inbox:
    """The receiving end of the isolate. Unless it is ``alone`` in its process, it leaves that to its owner: its streams
    are not taken, and its garbage is not frozen."""

    def __init__(self, loop: asyncio.AbstractEventLoop, transport: Transport, *, alone: bool = True) -> None:
        self.gone = asyncio.Event()
        self._loop = loop
        self._transport = transport
        self._alone = alone
        self._partial: asyncio.Handle | None = None
        self._arming = False  # a thread has asked for `_arm`
        self._program = Program({}, {}, {})
        self._exports = env.Exports({})
        self._runs = Runs(transport.send, loop)
        self._server = Server(transport, loop)
        self._host: IsolateHost | None = None
        self._handlers: dict[str, Callable[[Any], None]] = {
            "load": self._load,
            "start": self._start,
            "release": self._runs.release,
            "ret": self._of_run(lambda run, message: run.ret(message)),
            "exec": self._of_run(lambda run, message: run.attempts.exec(message)),
            "cancel": self._of_run(lambda run, message: run.attempts.cancel(message)),
            "delay": self._of_run(lambda run, message: run.attempts.delay(message)),
            "undo": self._undo,
            "cancel_undo": self._of_run(lambda run, message: run.undos.cancel(message)),
            "rest": self._of_run(lambda run, message: run.pump.rest()),
            "bound": self._bound,
            "request": self._server.request,
            "disconnect": self._server.disconnect,
            "credit": self._server.credit,
            "drain": self._server.drain,
        }

    @property
    def runs(self) -> Runs:
        """The runs that live here."""
        return self._runs

    @property
    def work(self) -> set[asyncio.Future[Any]]:
        """What requests have left behind with ``wait_until``, and is not done."""
        return set() if self._host is None else self._host.work

    # ------------------------------------------------------------------------------------------- what the socket says

    def message(self, message: dict[str, Any]) -> None:
        """Do what a message asks for."""
        self._handlers[message["t"]](message)

    def data(self, stream: int, data: bytes) -> None:
        """A piece of a request's body."""
        self._server.data(stream, data)

    def end(self, stream: int) -> None:
        """The end of a request's body."""
        self._server.end(stream)

    def closed(self) -> None:
        """The host is gone, or wants this isolate gone."""
        output.flush_all()
        self._transport.flush()
        self.gone.set()

    def _of_run(self, act: Callable[[Run, Any], None]) -> Callable[[Any], None]:
        def handle(message: Any) -> None:
            run = self._runs.get(message["run"])
            if run is not None:
                try:
                    act(run, message)
                except Exception as error:  # it must not end the isolate, in which other runs live
                    self._runs.fail(message["run"], error)

        return handle

    def _undo(self, message: Undo) -> None:
        run = self._runs.get(message["run"])
        if run is not None:
            self._of_run(lambda run, message: run.undos.undo(message))(message)
        else:  # it could not even be started
            self._transport.send(missing(message))

    # ----------------------------------------------------------------------------------------------------------- load

    def _load(self, message: Load) -> None:
        if self._alone:
            output.install(self._log, self._flush_later)
        date, flags = message["compatibility_date"], message["compatibility_flags"]
        host = self._host = IsolateHost(self._transport.send, date, compat.flags_for(date, flags))
        current.host = host
        set_paths(message["main"])
        sources = [os.path.dirname(message["main"])]
        if self._alone:
            sources.append(os.getcwd())  # the host starts us in the project's root
        host.env = env.Env(message["vars"], message["env"])
        on_env = env.exports_on_env(message) if host.flag(compat.EXPORTS_ON_ENV) else None
        self._exports = env.Exports(message["exports"] if on_env is None else {})
        try:
            self._program = load(message["main"], on_env)
        except BaseException as error:  # also SystemExit at import
            output.flush_all()
            self._transport.send({"t": "load_failed", **failure(error)})
            return
        output.flush_all()
        if self._alone:
            gc.freeze()  # what is loaded stays; collections need not look at it again
        self._server.serve(self._program, host, self._exports)
        self._transport.send(
            {
                "t": "loaded",
                "workflows": list(self._program.workflows),
                "entrypoints": list(self._program.entrypoints),
                "handlers": list(self._program.handlers),
                "python": ".".join(map(str, sys.version_info[:3])),
                "code": digest(*sources),
            }
        )

    def _bound(self, message: Bound) -> None:
        assert self._host is not None
        self._host.bound(message)

    def _start(self, message: Start) -> None:
        try:
            entrypoint = self._program.workflows.get(message["class_name"])
            if entrypoint is None:
                raise LookupError(f"The Worker exports no WorkflowEntrypoint class {message['class_name']!r}.")
            self._runs.start(message, entrypoint, env.make_context(self._exports))
        except Exception as error:
            self._runs.fail(message["run"], error)

    # --------------------------------------------------------------------------------------------------------- output

    def _log(self, stream: output.Stream, text: str, origin: output.Origin) -> None:
        message: dict[str, Any] = {"t": "log", "stream": stream, "text": text}
        if origin is not None:
            run, step, attempt = origin
            if step is None and self._runs.muted(run):
                return
            message["run"] = run
            if step is not None:
                message |= {"step": step, "attempt": attempt}
        self._send_from_any_thread(message)

    def _send_from_any_thread(self, message: dict[str, Any]) -> None:
        first = self._transport.logs.append(message)
        if asyncio._get_running_loop() is self._loop:
            self._transport.flush_soon()
        elif first:  # else the loop was called already; each call would wait in it while it is blocked
            self._loop.call_soon_threadsafe(self._transport.flush_soon, context=NEUTRAL)

    def _flush_later(self) -> None:
        if asyncio._get_running_loop() is self._loop:
            self._arm()
        elif not self._arming:
            self._arming = True
            self._loop.call_soon_threadsafe(self._arm, context=NEUTRAL)

    def _arm(self) -> None:
        self._arming = False
        if self._partial is None:
            self._partial = self._loop.call_later(output.PARTIAL_AFTER, self._flush_partial, context=NEUTRAL)

    def _flush_partial(self) -> None:
        self._partial = None
        output.flush_all()
