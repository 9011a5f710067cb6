"""A Worker under test, as a test sees it."""

from __future__ import annotations

import asyncio
import datetime
import inspect
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType, TracebackType
from typing import Any, Self

from runtime.host.options import Options, Target
from runtime.host.projects import python_project
from wrangler_compat import ConfigError

from . import requests
from .errors import NothingMoves
from .handles import Env, Instance, Workflow
from .host import Host
from .inline import write_project
from .response import Response
from .session import PATIENCE, Session


class Worker:
    """A Worker project that runs in this process, over a store in memory and on a clock that stands still.

    Every call blocks until everything is at rest: no instance has anything to decide or commit, and no code of the
    Worker can go on. Code that awaits something of its own, such as ``asyncio.sleep`` or a socket, is given
    ``patience`` seconds of real time.
    """

    def __init__(self, session: Session) -> None:
        self.session = session
        self.clock = TestClock(session)

    @classmethod
    def open(
        cls,
        project: str | Path,
        *,
        env: str | None = None,
        vars: Mapping[str, str] | None = None,
        target: Target = "cloudflare",
        patience: float = PATIENCE,
        now: int | None = None,
        schedules: bool = False,
        strict_replay: bool = False,
        replay_every_step: bool = False,
    ) -> Worker:
        """Start the project in a folder (or of a configuration file). Close it, or use it in a ``with``.

        The last three are the options of `celld-py dev`; with ``schedules`` cron entries fire as time is moved.
        """
        options = Options(
            project=Path(project),
            env=env,
            vars=vars or {},
            target=target,
            schedules=schedules,
            strict_replay=strict_replay,
            replay_every_step=replay_every_step,
        )
        try:
            opened = python_project(options)
        except ConfigError as error:
            _annotate(error)
            raise
        session = Session(opened, options, patience=patience, now=now)
        session.open()
        return cls(session)

    @classmethod
    def inline(cls, folder: Path, source: str, *, config: Mapping[str, Any] | None = None, **options: Any) -> Worker:
        """Start a Worker whose whole source is given; it is written to ``folder``.

        Each ``class X(WorkflowEntrypoint)`` is bound: ``MyFlow`` is ``env.MY_FLOW`` and has the name ``my-flow``.
        ``config`` is merged into the configuration; other options are those of `open`.
        """
        return cls.open(write_project(folder, source, config or {}), **options)

    # ------------------------------------------------------------------------------------------------- what it offers

    @property
    def env(self) -> Env:
        """The Worker's ``env``: its Workflow bindings, with blocking methods, and its variables."""
        return Env(self.session)

    def fetch(
        self,
        url: str,
        method: str = "GET",
        *,
        headers: Mapping[str, str] | None = None,
        content: bytes | str | None = None,
        data: requests.Form | None = None,
        json: Any = None,
    ) -> Response:
        """Send a request to the Worker; ``url`` may be a path, ``data`` a form. Redirects are not followed.

        Raises `NothingMoves` when everything is at rest and there is no answer.
        """
        body, kind = requests.body_of(content, data, json)
        scope = requests.scope_of(method, url, headers, body, kind)

        async def send(host: Host) -> asyncio.Task[Response]:
            return host.sending(requests.send(host.ingress, scope, body))

        async def give_up(host: Host) -> list[str]:
            places = host.work.places(self.session.project.main.parent)
            sending.cancel()
            return places

        sending = self.session.call(send)
        if not sending.done():
            places = ", ".join(self.session.call(give_up))
            raise NothingMoves(
                f"There is no answer to {method} {url}, and everything is at rest; code of the Worker waits at "
                f"{places or 'no line of its own'}. Code that only takes long can be given more time: patience=."
            )
        return sending.result()

    def run(self, act: Callable[[], Any]) -> Any:
        """Call a function on the Worker's own loop, and await what it gives if that can be awaited."""

        async def run(host: Host) -> Any:
            given = act()
            return await given if inspect.isawaitable(given) else given

        return self.session.call(run)

    def crash(self) -> None:
        """Lose everything that is only in memory, as by kill -9, and go on from what is committed.

        Running code stands still where it is (no ``finally`` of it runs), and the project is loaded afresh.
        """
        self.session.crash()

    @property
    def module(self) -> ModuleType:
        """The Worker's main module, as it is loaded now: after a crash it is another one."""
        return sys.modules[self.session.project.main.stem]

    # ------------------------------------------------------------------------------------------------ what happened

    @property
    def said(self) -> str:
        """What `celld-py dev` would have shown besides the Worker's own output: warnings, failures."""
        return "".join(self.session.kept.said)

    @property
    def instances(self) -> list[Instance]:
        """All instances of all Workflows, oldest first in each."""
        declared = self.session.project.workflows
        return [one for w in declared for one in Workflow(self.session, w.binding or "", w.name).list()]

    def journal(self, instance: Instance) -> list[dict[str, Any]]:
        """Everything that was committed for an instance, as dicts."""
        return instance.journal()

    def timeline(self, instance: Instance | None = None) -> str:
        """What happened to an instance, or to all of them, to be read."""
        chosen = self.instances if instance is None else [instance]
        return "\n\n".join(one.timeline() for one in chosen)

    # -------------------------------------------------------------------------------------------------------- end

    def close(self) -> None:
        """End it, and leave the process as it was."""
        self.session.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


_NAME_IT = (
    "Name the project's folder: celld_py_project in pytest's ini file, "
    '@pytest.mark.worker("path"), or Worker.open("path").'
)


def _annotate(error: ConfigError) -> None:
    """Have the place, the hint and the other mistakes shown where only the exception is."""
    for one in error.all:
        hint = _NAME_IT if one.code == "config_missing" else one.hint
        parts = (one.message if one is not error else None, one.where, hint)
        error.add_note("\n".join(part for part in parts if part))


class TestClock:
    """The time of sleeps, retries, timeouts and event waits. Moving it takes no real time."""

    __test__ = False  # pytest would take it for tests

    def __init__(self, session: Session) -> None:
        self._session = session

    @property
    def now_ms(self) -> int:
        """ms since the epoch."""
        return self._session.clock.now()

    @property
    def now(self) -> datetime.datetime:
        """The time, in UTC."""
        return _moment(self.now_ms)

    def advance(self, duration: float | str | datetime.timedelta) -> None:
        """Let durable time pass: ms, a text such as "7 days", or a timedelta. Everything rests after each alarm."""
        self._session.advance(duration)

    def skip_to_next(self) -> datetime.datetime | None:
        """Go to the next moment at which something is due; gives it, or None when nothing is."""
        due = self._session.next_due()
        if due is None:
            return None
        self._session.advance(max(0, due - self.now_ms))
        return _moment(due)


def _moment(ms: int) -> datetime.datetime:
    return datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC) + datetime.timedelta(milliseconds=ms)
