"""What the host tells the person at the terminal while it runs."""

from __future__ import annotations

import traceback
from collections import OrderedDict
from http import HTTPStatus
from typing import Any

from runtime.cli.terminal import Terminal
from runtime.http.ingress import CLIENT_LEFT
from runtime.store import StoreError, StoreFull
from runtime.store.types import Key, Row

from .errors import CelldError
from .instances import PASSING, Held
from .isolates import Loaded
from .problem import Problem
from .roles import Kind
from .schedules import Entry, Missed
from .times import utc

REMEMBERED = 10_000  # things said, so as not to say them again

_STATUSES = frozenset(HTTPStatus)
_LOST: dict[Kind, str] = {
    "front": "requests in flight failed",
    "work": "its instances go on by replay",
    "both": "requests in flight failed, instances go on by replay",
}


class Reports:
    """One method for each thing that can be said. What would be said again and again is said once."""

    def __init__(self, terminal: Terminal, *, watched: bool = True) -> None:
        self._terminal = terminal
        self._watched = watched  # the project's files
        self._said: OrderedDict[tuple[Key, str], None] = OrderedDict()
        self._killed: set[int] = set()  # isolates whose end was announced

    def instance(self, key: Key, error: Exception) -> None:
        """An instance cannot go on, or cannot be put away."""
        whose, detail = f"{key.workflow}/{key.id} is stopped", None
        if isinstance(error, Held):
            key, whose = Key(key.workflow, ""), f"Instances of {key.workflow} are stopped"
            hint = "They are kept, and go on when the project has it again."
        elif isinstance(error, StoreFull):
            hint = "It goes on by itself when there is room again."
        elif isinstance(error, PASSING):
            hint = "It goes on by itself as soon as this has passed."
        elif isinstance(error, StoreError):
            hint = "The other instances are not affected."
        else:
            detail = "".join(traceback.format_exception(error))
            hint = "This is a bug of celld-py. The instance is kept; it is tried again at the next start."
        text = str(error) or type(error).__name__
        if self._first_time(key, text):
            self._terminal.error(f"{whose}: {text}", detail, hint, code="instance_stopped")

    def wake_up(self, row: Row | None, error: Exception) -> None:
        """A sleeping instance cannot be woken, or (None) it cannot be told which are to be."""
        if row is not None:
            self.instance(row.key, error)
        elif self._first_time(Key("", ""), str(error)):
            self.error(error)

    def sweep(self, row: Row | None, error: Exception) -> None:
        """An expired instance cannot be deleted, or (None) it cannot be told which have expired."""
        text = str(error) or type(error).__name__
        whose = "Expired instances" if row is None else f"{row.workflow}/{row.id} has expired and"
        if self._first_time(Key("", "") if row is None else row.key, text):
            detail = None if isinstance(error, StoreError) else "".join(traceback.format_exception(error))
            hint = "It is tried again every minute. Until then it takes room on the disk, and nothing else."
            self._terminal.error(f"{whose} cannot be deleted: {text}", detail, hint, code="sweep_failed")

    def missed(self, missed: Missed, reason: str) -> None:
        """Firings of a schedule were not made."""
        what = f'Schedule "{missed.entry.cron.text}" of {missed.entry.workflow}'
        count = f"more than {missed.count} firings were" if missed.more else _firings(missed.count)
        when = utc(missed.first) if missed.count == 1 else f"first {utc(missed.first)}, last {utc(missed.last)}"
        hint = "They are not made up. Create instances by hand where that matters."
        self._terminal.warning(f"{what}: {count} missed {reason} ({when}).", hint)

    def not_fired(self, entry: Entry | None, error: Exception) -> None:
        """A schedule's firing failed, or (None) what is noted of all of them."""
        text = str(error) or type(error).__name__
        key = Key(entry.workflow if entry is not None else "", "")
        if self._first_time(key, f"schedule: {text}"):
            which = "The schedules" if entry is None else f'Schedule "{entry.cron.text}" of {entry.workflow}'
            detail = None if isinstance(error, StoreError) else "".join(traceback.format_exception(error))
            hint = "It is tried again for a minute after the time of a firing; then that is missed."
            self._terminal.error(f"{which} cannot fire: {text}", detail, hint, code="schedule_failed")

    def advice(self, key: Key, text: str) -> None:
        """A call works, but hardly as its author meant it; said once for each Workflow."""
        if self._first_time(Key(key.workflow, ""), text):
            self._terminal.warning(f"{key.workflow}: {text}")

    def _first_time(self, key: Key, text: str) -> bool:
        if (key, text) in self._said:
            return False
        self._said[key, text] = None
        if len(self._said) > REMEMBERED:
            self._said.popitem(last=False)
        return True

    def outside_await(self, key: Key, seconds: float, where: str) -> None:
        """A waiting instance could not leave memory for a long time."""
        self._terminal.warning(
            f"{key.workflow}/{key.id} has waited {seconds / 60:.0f} minutes on something outside the step API: {where}",
            "It leaves memory now; what it awaited starts again when it wakes. Put long waits into steps.",
        )

    def run_broke(self, key: Key, reason: str) -> None:
        """An isolate has lost a run."""
        if self._first_time(key, reason):
            self._terminal.error(
                f"{key.workflow}/{key.id}: the connection to its run broke: {reason}",
                hint="It begins anew, by replay. Very large values may be the reason.",
                code="run_broke",
            )

    def isolate_lost(self, loaded: Loaded, status: int) -> None:
        """An isolate ended by itself."""
        if loaded.isolate.pid in self._killed:
            self._killed.discard(loaded.isolate.pid)  # the system gives numbers out again
            return
        how = f"was ended by signal {-status}" if status < 0 else f"ended with status {status}"
        title = f"{_isolate(loaded)} {how}; {_LOST[loaded.role]}. Another is being started."
        self._terminal.error(title, code="isolate_lost")

    def stuck(self, loaded: Loaded, reason: str, killed: bool = True) -> None:
        """An isolate blocks for longer than it may; unless it is to be inspected, it is about to be ``killed``."""
        title = f"{_isolate(loaded)} does not give its thread back: {reason}"
        if not killed:
            self._terminal.warning(title, "It is not killed, because of --inspect. Nothing else runs until it goes on.")
            return
        self._killed.add(loaded.isolate.pid)
        advice = (
            "Let long computations await something now and then."
            if loaded.role == "both"
            else "Use await in async code, or asyncio.to_thread for blocking calls."
        )
        self._terminal.error(title, hint=f"It is killed and replaced. {advice}", code="isolate_stuck")

    def problem(self, problem: Problem) -> None:
        """The project's code does not load."""
        title = f"The code does not load{f' ({problem.place})' if problem.place else ''}"
        self._terminal.error(title, problem.traceback, problem.advice(watched=self._watched), "load_failed")

    def request(self, method: str, path: str, status: int, seconds: float) -> None:
        """A request was answered."""
        if status == CLIENT_LEFT:
            phrase = " the client left"
        else:
            phrase = f" {HTTPStatus(status).phrase}" if status in _STATUSES else ""
        took = f"{seconds * 1000:.0f} ms"
        self._terminal.user_output("stdout", f"{method} {path} {status}{phrase} ({took})")

    def request_failed(self, failure: dict[str, Any]) -> None:
        """The Worker raised while it answered a request."""
        place = f" ({failure['file']}:{failure.get('line')})" if failure.get("file") else ""
        self._terminal.error(f"A request failed in the Worker{place}", failure["traceback"], code="request_failed")

    def error(self, error: Exception) -> None:
        """Something the person can put right, found while everything else goes on."""
        if isinstance(error, CelldError):
            self._terminal.error(error.message, error.detail, error.hint, error.code)
        else:
            self._terminal.error(f"{type(error).__name__}: {error}")


def _isolate(loaded: Loaded) -> str:
    return "workerd" if loaded.role == "both" else f"The {loaded.role} isolate"


def _firings(count: int) -> str:
    return "1 firing was" if count == 1 else f"{count} firings were"
