"""What a test may change in the course of instances. A host that serves people changes nothing: the class as it is."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from runtime.engine import State
from runtime.engine import commands as cmd
from runtime.engine.state import Record
from runtime.store.types import Key


class Modifications:
    """Asked at the few places where an instance can be led another way; whatever it answers is journalled."""

    def created(self, keys: Collection[Key]) -> None:
        """These instances come into being; none of them has run yet."""

    def events(self, key: Key) -> Sequence[cmd.SendEvent]:
        """The events that are there when the instance starts, and again after each full restart."""
        return ()

    def command(self, key: Key, state: State, command: cmd.Command) -> cmd.Command:
        """The command that is to be decided in the place of this one."""
        return command

    def outcome(self, key: Key, record: Record) -> cmd.AttemptFinished | None:
        """How the step's running attempt ends without its callback being run; None lets it run."""
        return None
