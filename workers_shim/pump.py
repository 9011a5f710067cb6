"""What moves a run on while it has results in store, or while the host wants to know when it parks.

Nothing here runs for a run whose results arrive one by one: then the answer is handed over as it comes.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from workers_shim import place
from workers_shim.rest import busy_in, own_awaits, own_wait
from workers_shim.scope import NEUTRAL, RunTask, Scope

if TYPE_CHECKING:
    from workers_shim.place import Place
    from workers_shim.run import Run

FIRST_LOOK = 0.05  # seconds until code that awaits something of its own is looked at again; doubles up to LAST_LOOK
LAST_LOOK = 1.0
SPIN_TURNS = 1000  # turns of the loop after which code that only ever yields is taken to be at rest
REFUSAL_GRACE = 1.0  # seconds that the host has to refuse a call which the journal lacks before that is a mismatch
AWAITING_EVERY = 60.0


class Pump:
    """Hands results over one at a time and answers `rest`."""

    def __init__(self, run: Run) -> None:
        self.asked = False  # the host sent `rest`
        self._run = run
        self._next: asyncio.Handle | None = None
        self._turns = 0
        self._look = FIRST_LOOK
        self._stuck_since: float | None = None
        self._awaiting_since: float | None = None
        self._told_at = 0.0
        self._longest = 0.0  # seconds that the longest single await of its own had taken at the last look
        self._awaited: dict[int, tuple[asyncio.Future[Any], float]] = {}  # such awaits by id, and when each was seen

    def rest(self) -> None:
        """The host wants to know when the run parks."""
        self.asked = True
        self._awaiting_since = None
        self.stir()

    def stir(self) -> None:
        """Something happened: look at the run when the code that is ready now has run."""
        self._look = FIRST_LOOK
        self._stuck_since = None
        if self._next is None or isinstance(self._next, asyncio.TimerHandle):
            self.stop()
            self._next = self._run.loop.call_soon(self._turn, context=NEUTRAL)

    def stop(self) -> None:
        """Look no more until something happens."""
        if self._next is not None:
            self._next.cancel()
            self._next = None

    @property
    def due(self) -> bool:
        """Whether it will look at the run again by itself."""
        return self._next is not None

    def busy(self) -> bool:
        """Whether the run's code outside steps has not come to rest."""
        return busy_in(self._run.loop, self._run.root)

    def _outside(self, scope: Scope) -> bool:
        return scope is self._run.root

    def _anywhere(self, scope: Scope) -> bool:
        return scope.run is self._run

    def _turn(self) -> None:
        self._next = None
        try:
            self._move()
        except Exception as error:  # it would be lost in the loop, and the run would stand still
            self._run.fail(error)

    def _move(self) -> None:
        if self.busy() and self._turns < SPIN_TURNS:
            self._turns += 1
            self._again()
            return
        self._turns = 0
        if not self._run.over and (record := self._run.replay.next()) is not None:
            self._run.hand_over(record)
            if self._run.replay.queue or self.asked:
                self._again()
        elif self._run.replay.queue and not self._run.over:
            self._blocked()
        elif self.asked:
            self._answer()

    def _again(self) -> None:
        self._next = self._run.loop.call_soon(self._turn, context=NEUTRAL)

    def _look_again(self) -> None:
        self._next = self._run.loop.call_later(self._look, self._turn, context=NEUTRAL)
        self._look = min(2 * self._look, LAST_LOOK)

    def _longest_await(self, now: float) -> tuple[float, RunTask | None]:
        """How long the longest single await of the run's code outside steps takes so far, and whose it is."""
        found = {id(future): (future, task) for future, task in own_awaits(self._run.tasks, self._outside)}
        self._awaited = {key: self._awaited.get(key, (future, now)) for key, (future, _) in found.items()}
        if not found:
            return 0.0, None
        oldest = min(self._awaited, key=lambda key: self._awaited[key][1])
        return now - self._awaited[oldest][1], found[oldest][1]

    def _blocked(self) -> None:
        """The next result's call has not been made: wait, or, when the code will not make it, go on without."""
        missing = self._run.replay.blocked()
        if missing is None:  # a result is on its way from the host
            if self.asked:
                self._answer()
            return
        awaits, _where = own_wait(self._run.loop, self._run.tasks, self._outside)
        if awaits or self._within_grace():
            if awaits and self.asked:
                self._answer()
            else:
                self._look_again()
            return
        self._run.report_missing(missing)
        if self._run.replay.skip():
            self._again()
        elif self.asked:
            self._answer()

    def _within_grace(self) -> bool:
        if not self._run.unanswered():
            return False
        now = self._run.loop.time()
        if self._stuck_since is None:
            self._stuck_since = now
        return bool(now - self._stuck_since < REFUSAL_GRACE)

    def _answer(self) -> None:
        run = self._run
        awaits, where = own_wait(run.loop, run.tasks, self._anywhere)
        if not awaits:
            self.asked = False
            run.send({"t": "parked", "run": run.number, "calls": run.sent, "rets": run.given})
            return
        now: float = run.loop.time()
        if self._awaiting_since is None:
            self._awaiting_since = self._told_at = now
        before = self._longest
        self._longest, task = self._longest_await(now)
        if now - self._told_at >= AWAITING_EVERY or before < AWAITING_EVERY <= self._longest:
            self._told_at = now
            where = where if task is None else place.of_coroutine(task.get_coro())
            self._tell(now - self._awaiting_since, where)
        if 0 < AWAITING_EVERY - self._longest < self._look:  # the next look is the one that tells
            self._look = AWAITING_EVERY - self._longest
        self._look_again()

    def _tell(self, seconds: float, where: Place | None) -> None:
        self._run.send(
            {
                "t": "awaiting",
                "run": self._run.number,
                "seconds": round(seconds, 3),
                "longest": round(self._longest, 3),
                "where": "" if where is None else str(where),
            }
        )
