"""Replays that do not fit the history (I12): the developer is told, and with `--strict-replay` the instance ends."""

from __future__ import annotations

import datetime
from collections import OrderedDict
from typing import Any, NamedTuple

from runtime.cli.terminal import Terminal
from runtime.engine import Failure, State
from runtime.engine import commands as cmd
from runtime.store.types import Key
from workers_shim.wire.describe import describes

from .runs import Runs

REMEMBERED = 10_000  # mismatches told, so as not to tell them again at the next replay

_RULE = "Steps must be called in the same order with the same names each time."
_GOES_ON = "The run goes on as on Cloudflare: a call that the history has gives what is recorded, any other one is new."
_ENDS = "The instance ends here (--strict-replay)."
_IS_UNDONE = "The rollback goes on; a step that the code does not come to cannot be rolled back."


class Mismatch(NamedTuple):
    """What the history has, what the code called in its place, and where."""

    recorded: str
    called: str
    place: str | None  # "file:line", as an editor takes it

    @classmethod
    def of(cls, message: dict[str, Any]) -> Mismatch:
        """The mismatch that an isolate tells of."""
        place = f"{message['file']}:{message['line']}" if "file" in message else None
        return cls(message["recorded"], message["called"], place)

    @property
    def failure(self) -> Failure:
        """The error that the instance ends with. The text is ours: Cloudflare does not look for mismatches."""
        where = "" if self.place is None else f" at {self.place}"
        text = f"The replay does not fit the history, which has {self.recorded}; the code called {self.called}{where}"
        return Failure("Error", f"WorkflowFatalError: {text}")


class Change(NamedTuple):
    """Whether the code is another one than when the call was recorded, if that is known, and since when (ms)."""

    known: bool = False
    since: int | None = None

    @classmethod
    def after(cls, recorded: str, state: State) -> Change:
        """What has become of the code since a call, given in words, was recorded."""
        record = next((record for record in state.records.values() if describes(recorded, record.identity)), None)
        then = "" if record is None else state.code_of(record)
        if not then or not state.code:
            return cls()
        return cls(True, None if then == state.code else state.codes[-1].since)

    def __str__(self) -> str:
        if not self.known:
            return "It is not known whether the code has changed since then."
        if self.since is None:
            return "The code is the same as then: look for time, randomness or a global outside steps."
        return f"The code has changed since then; the instance runs on the new one since {_time(self.since)}."


class Mismatches:
    """Hears of every mismatch; tells each pair of an instance once, and once more when its code has changed."""

    def __init__(self, runs: Runs, terminal: Terminal) -> None:
        self.strict = False  # a mismatch ends its instance
        self._runs = runs
        self._terminal = terminal
        self._told: OrderedDict[tuple[Key, int, str, Mismatch], None] = OrderedDict()

    def happened(self, message: dict[str, Any]) -> None:
        """An isolate says that a run does not fit."""
        mismatch = Mismatch.of(message)
        instance = self._runs.speaker(message["run"])
        if instance is None:  # it has left memory since
            self._tell(self._runs.name(message["run"]), State(), mismatch)
            return
        self._tell(instance.key, instance.state, mismatch)
        # Code that calls something new each time would be replayed for ever.
        instance.repeats = 0
        if self.strict:
            # Nothing is undone: the undo functions are part of the code that does not fit.
            instance.tell(cmd.RunDone(error=mismatch.failure, fatal=True), instance.run)

    def _tell(self, key: Key | None, state: State, mismatch: Mismatch) -> None:
        if key is None or not self._first_time((key, state.epoch, state.code, mismatch)):
            return
        change = Change.after(mismatch.recorded, state)
        lines = [f"the history has {mismatch.recorded}", f"the code called {mismatch.called}"]
        lines += [] if mismatch.place is None else [f"at {mismatch.place}"]
        goes_on = _ENDS if self.strict else _GOES_ON
        lines += [str(change), _RULE, goes_on if state.rollback is None else _IS_UNDONE]
        self._terminal.warning(f"{key.workflow}/{key.id}: the replay does not fit the history", "\n".join(lines))
        self._terminal.event(
            "mismatch",
            workflow=key.workflow,
            instance=key.id,
            recorded=mismatch.recorded,
            called=mismatch.called,
            place=mismatch.place,
            code_changed=change.since is not None if change.known else None,
            changed_at=change.since,
        )

    def _first_time(self, told: tuple[Key, int, str, Mismatch]) -> bool:
        if told in self._told:
            return False
        self._told[told] = None
        if len(self._told) > REMEMBERED:
            self._told.popitem(last=False)
        return True


def _time(ms: int) -> str:
    return datetime.datetime.fromtimestamp(ms / 1000).astimezone().strftime("%Y-%m-%d %H:%M:%S")
