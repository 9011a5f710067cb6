"""When a run is asked to rest whose isolate can only tell that it does by ending it.

workerd ends code that waits for nothing of its own, and that is how one learns that it rests. So such a run is asked
when its instance may leave memory, and not before: until then whatever comes is answered in place.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING

from runtime.engine import commands as cmd
from runtime.store.types import Key

from .clock import Alarm, Clock
from .run import Run

if TYPE_CHECKING:
    from .instance import Instance

MAX_WAITING = 64  # runs that may stay in memory for their grace period
# ms without a sign from the code until its instance is called waiting: it may be between two calls. Within this time
# a shorter wait is over, and no event of it is in the journal.
SETTLED = 250


class Lingering:
    """The waiting runs that have not been asked yet, the longest waiting first."""

    def __init__(
        self, clock: Clock, grace_ms: int, owner: Callable[[int], Instance | None], limited: Callable[[Key], bool]
    ) -> None:
        self._clock = clock
        self._grace = grace_ms
        self._owner = owner
        self._limited = limited  # whether others may want the slot that an instance has
        self._alarms: OrderedDict[int, tuple[Run, Alarm]] = OrderedDict()

    def waits(self, run: Run) -> None:
        """Nothing that the run waits for is about to come: ask it after the grace period, sooner when many wait, at
        once when others may want its slot."""
        instance = self._owner(run.id)
        if run.id in self._alarms or instance is None:
            return
        if self._limited(instance.key):
            self._ask(run)
            return
        self._later(run, min(SETTLED, self._grace), lambda: self._settled(run))
        while len(self._alarms) > MAX_WAITING:
            oldest, _ = next(iter(self._alarms.values()))
            self._ask(oldest)

    def goes_on(self, run: Run) -> None:
        """The run has something to do, or is over."""
        _, alarm = self._alarms.pop(run.id, (None, None))
        if alarm is not None:
            alarm.cancel()

    def _later(self, run: Run, ms: int, action: Callable[[], None]) -> None:
        self._alarms[run.id] = (run, self._clock.call_at(self._clock.now() + ms, action))

    def _settled(self, run: Run) -> None:
        """It has been quiet for long enough to be called waiting."""
        self._later(run, max(self._grace - SETTLED, 0), lambda: self._ask(run))
        instance = self._owner(run.id)
        if instance is not None and not run.results:
            instance.tell(cmd.RunParked(), run)

    def _ask(self, run: Run) -> None:
        self.goes_on(run)
        instance = self._owner(run.id)
        if instance is None:
            return
        if run.results:  # it is not waiting: it owes us a call, or its history does not fit
            instance.ask_whether_it_rests(run)
        else:
            instance.tell(cmd.RunParked(), run, lambda _: instance.ask_whether_it_rests(run))
