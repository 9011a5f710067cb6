"""Which instances run: places, the queue for them, and what happens when a run ends, rests or is lost."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable
from typing import TYPE_CHECKING

from runtime.engine import Decision
from runtime.engine import commands as cmd
from runtime.engine.durations import MINUTE
from runtime.engine.failures import outside_await
from runtime.faults import fault
from runtime.isolates.transport import Isolate
from runtime.store.types import Key

from .clock import Alarm, Clock
from .instance import Instance
from .lingering import Lingering
from .run import Run
from .slots import Slots

if TYPE_CHECKING:
    from .workflows import Workflow

MAX_PARKED = 64  # parked runs that may stay in memory for their grace period
DRAIN_LOOK = 0.05  # seconds
OUTSIDE_AWAIT = 5 * MINUTE  # ms that a waiting run stays in memory for an await of its own
# How often an instance is replayed on purpose: each time costs what its whole journal does, and code whose awaits
# outside steps begin anew each time might never come to its end.
REPEATS = 1000
BROKEN_PAUSE = 1000  # ms until a run that broke at once begins anew: it would break again
# Instances that begin at a time, of the many that may run: what each has in memory at its beginning the allocators keep
# for good. One that has come to wait for something no longer counts, nor does one after CALM seconds, whatever it does.
MAX_BEGINNING = 48
CALM = 0.1
REMEMBERED_NAMES = 1024  # ended runs whose late output still gets its prefix


class Runs:
    """At most ``places`` instances run at once, and of a Workflow no more than its limit; the others stand in a queue,
    on disk. An instance first gets a slot of its Workflow, then a place."""

    def __init__(self, clock: Clock, places: int, grace_ms: int, activate: Callable[[Key], None]) -> None:
        self.on_outside_await: Callable[[Key, float, str], None] = lambda key, seconds, where: None
        self.on_broken: Callable[[Key, str], None] = lambda key, reason: None
        self.on_admission: Callable[[Instance, str], None] = lambda instance, status: None  # of a limited Workflow
        self._clock = clock
        self._places = places
        self._grace = grace_ms
        self._activate = activate
        self._isolate: Isolate | None = None
        self._code = ""  # digest of the sources that it has imported
        self._workflows: dict[str, Workflow] = {}
        self._classes: frozenset[str] = frozenset()
        self._count = 0
        self._owners: dict[int, Instance] = {}  # by run
        self._pending: dict[Key, Instance] = {}  # in memory, with a place, waiting for an isolate
        self._coming: set[Key] = set()  # being opened, with a place
        self._queue: OrderedDict[Key, None] = OrderedDict()  # on disk, with a slot, waiting for a place
        self._slots = Slots()
        self._leaving: dict[int, Isolate] = {}  # ended runs whose isolate has not said that nothing of them is left
        self._parked: OrderedDict[int, Alarm] = OrderedDict()  # runs in their grace period
        self._beginning: dict[int, asyncio.TimerHandle] = {}  # runs, until they are called calm
        self.lingering = Lingering(clock, grace_ms, self.owner, self._slots.limited)
        self._names: OrderedDict[int, Key] = OrderedDict()
        self.held: dict[Key, str] = {}  # instances that cannot run, and why
        self.repeats = 0  # how often an instance is replayed on purpose while it is in memory

    # ----------------------------------------------------------------------------------------------------- places

    @property
    def free(self) -> int:
        """How many more instances could run now."""
        return self._places - len(self._owners) - len(self._pending) - len(self._coming)

    @property
    def _few_begin(self) -> bool:
        return len(self._beginning) + len(self._pending) + len(self._coming) < MAX_BEGINNING

    def want(self, instance: Instance) -> bool:
        """Give the instance a run, now or when an isolate is there; False when it has to queue, on disk."""
        key = instance.key
        self._coming.discard(key)
        self._pending.pop(key, None)
        problem = self._problem(key)
        if problem is not None:
            self._leave_slot(key)
            self.held[key] = problem
            return False
        if not self._slots.take(key, begun=instance.state.started):
            self.on_admission(instance, "queued")
            return False
        if self.free <= 0:
            self._queue[key] = None
            return False
        self._queue.pop(key, None)
        self._pending[key] = instance
        self._begin_pending()
        return True

    def _problem(self, key: Key) -> str | None:
        workflow = self._workflows.get(key.workflow)
        if workflow is None:
            return f'the project has no Workflow "{key.workflow}"'
        if self._isolate is not None and workflow.class_name not in self._classes:
            return f"the code has no WorkflowEntrypoint {workflow.class_name}"
        return None

    def queue(self, keys: Iterable[Key], begun: Collection[Key] = ()) -> None:
        """Let instances run as slots and places become free, in this order; for a slot, those who have ``begun`` go
        before the others."""
        for key in self._slots.stand(keys, begun):
            self._queue.setdefault(key)
        self.pump()

    def queued(self, key: Key) -> bool:
        """Whether the instance stands in the queue, or is coming from it."""
        return key in self._queue or key in self._coming

    def coming(self, key: Key) -> bool:
        """Whether the instance is being opened, to run."""
        return key in self._coming

    def held_back(self, key: Key) -> bool:
        """Whether the instance waits for a slot of its Workflow."""
        return self._slots.waits(key)

    def pump(self) -> None:
        """Fill free places from the queue, a few at a time."""
        while self._queue and self.free > 0 and self._few_begin:
            key, _ = self._queue.popitem(last=False)
            self._coming.add(key)
            self._activate(key)

    def arrived(self, instance: Instance) -> None:
        """The instance is in memory; one that has a run already needs no second place."""
        if instance.run is not None:
            self._coming.discard(instance.key)
            self.pump()

    def forget(self, key: Key) -> None:
        """The instance needs no run: it rests, is deleted or cannot be opened. Place and slot kept for it are free."""
        self._leave_slot(key)
        self._queue.pop(key, None)
        self._pending.pop(key, None)
        self.held.pop(key, None)
        self._coming.discard(key)
        self.pump()

    def _leave_slot(self, key: Key) -> None:
        self._queue |= dict.fromkeys(self._slots.leave(key))

    def _declare(self, workflows: Iterable[Workflow]) -> None:
        self._workflows = {workflow.name: workflow for workflow in workflows}
        admitted = self._slots.declare((workflow.name, workflow.concurrency) for workflow in self._workflows.values())
        self._queue |= dict.fromkeys(admitted)

    # ---------------------------------------------------------------------------------------------------- isolate

    def serve(self, isolate: Isolate, workflows: Iterable[Workflow], classes: Iterable[str], code: str = "") -> None:
        """From now on runs begin on this isolate, which has these classes and sources with this digest."""
        self._isolate, self._code = isolate, code
        self._declare(workflows)
        self._classes = frozenset(classes)
        held, self.held = self.held, {}
        self._begin_pending()
        self.queue(held)

    def declare(self, workflows: Iterable[Workflow]) -> None:
        """Tell which Workflows there are, before an isolate is."""
        self._declare(workflows)

    def stop_serving(self) -> None:
        """Begin no more runs until there is an isolate again."""
        self._isolate = None

    def on(self, isolate: Isolate) -> list[Run]:
        """The runs that an isolate holds."""
        return [
            instance.run
            for instance in self._owners.values()
            if instance.run is not None and instance.run.isolate is isolate
        ]

    def released(self, run: int) -> None:
        """The isolate holds nothing of an ended run any more."""
        self._leaving.pop(run, None)
        self._begin_pending()

    def busy(self, isolate: Isolate) -> bool:
        """Whether an isolate holds runs, or something of one that has ended."""
        return bool(self.on(isolate)) or any(other is isolate for other in self._leaving.values())

    def lost(self, isolate: Isolate) -> None:
        """An isolate is gone, and all its runs with it."""
        self._leaving = {run: other for run, other in self._leaving.items() if other is not isolate}
        if self._isolate is isolate:
            self.stop_serving()
        for run in self.on(isolate):
            self.lose(run)
        self._begin_pending()

    def lose(self, run: Run) -> None:
        """A run ends without its code having ended; what was in flight is journalled as lost."""
        instance = self._owners.get(run.id)
        if instance is not None and instance.run is run:
            instance.end_run()
            instance.tell(cmd.RunLost())

    def broke(self, run: Run, reason: str) -> None:
        """The isolate has lost a run, and lives on: the run begins anew."""
        self.on_broken(self._owners[run.id].key, reason)
        pause = 0 if run.made else BROKEN_PAUSE
        self._clock.call_at(self._clock.now() + pause, lambda: self.lose(run))

    def hold(self, isolate: Isolate | None = None) -> None:
        """Take no new calls from the runs of an isolate (or of all): their running attempts may finish."""
        for instance in self._owners.values():
            if instance.run is not None and isolate in (None, instance.run.isolate):
                instance.run.moving = True

    async def drain(self, seconds: float) -> None:
        """Begin nothing more, and let running attempts finish for a while."""
        self.stop_serving()
        self.hold()
        loop = asyncio.get_running_loop()
        end = loop.time() + seconds
        # Attempts end in many ways; asking now and then, once in a life, beats an event in each of them.
        while loop.time() < end and any(owner.state.busy for owner in self._owners.values()):  # noqa: ASYNC110
            await asyncio.sleep(DRAIN_LOOK)

    def move_idle(self, isolate: Isolate) -> None:
        """Take every run off an isolate that has no attempt or undo function running there; it replays elsewhere."""
        for run in self.on(isolate):
            if not self._owners[run.id].state.busy:
                self.lose(run)

    def cut_off(self, isolate: Isolate) -> None:
        """Take every run off an isolate, whatever it is doing there; it goes on elsewhere once nothing of it is left
        here."""
        for run in self.on(isolate):
            self._owners[run.id].left = run.id
            self.lose(run)

    def _begin_pending(self) -> None:
        isolate = self._isolate
        if isolate is None:
            return
        for key, instance in list(self._pending.items()):
            if instance.left in self._leaving or not instance.quiet:
                continue  # what happens to it may end or pause it; when that is committed, it asks again
            del self._pending[key]
            if instance.gone or instance.run is not None:
                continue
            if self._problem(key) is not None:
                instance.nudge()  # new code lacks its class: it asks again, and is held
                continue
            workflow = self._workflows[key.workflow]
            self._count += 1
            run = Run(self._count, isolate, self._code, workflow.rules.max_outside_await)
            self._owners[run.id] = instance
            self._names[run.id] = key
            while len(self._names) > REMEMBERED_NAMES + self._places:
                self._names.popitem(last=False)
            # Not by the host's clock, which a test may stop: this is no time that anybody is promised.
            self._beginning[run.id] = asyncio.get_running_loop().call_later(CALM, self.calm, run)
            instance.begin_run(run, workflow.class_name, workflow.rules.step_limit)
            if workflow.concurrency is not None:
                self.on_admission(instance, "running")

    # ------------------------------------------------------------------------------------------------------- runs

    def calm(self, run: Run) -> None:
        """A run is no longer at its beginning: others may begin."""
        beginning = self._beginning.pop(run.id, None)
        if beginning is not None:
            beginning.cancel()
            self.pump()

    def owner(self, run: int) -> Instance | None:
        """The instance that a living run belongs to."""
        return self._owners.get(run)

    def speaker(self, run: int) -> Instance | None:
        """The instance that a run belongs to, also between that run and its repetition."""
        key = self._names.get(run)
        return self._owners.get(run) or (None if key is None else self._pending.get(key))

    def name(self, run: int) -> Key | None:
        """Whose output a run's output is, also shortly after the run has ended."""
        owner = self._owners.get(run)
        return self._names.get(run) if owner is None else owner.key

    def ended(self, run: Run) -> None:
        """A run is over: its isolate forgets it, its place is free."""
        self._owners.pop(run.id, None)
        self.calm(run)
        self._unpark(run)
        self.lingering.goes_on(run)
        if not run.isolate.lost:
            self._leaving[run.id] = run.isolate
        run.isolate.send({"t": "release", "run": run.id}, run.id)
        self.pump()

    def repeat(self, instance: Instance) -> None:
        """Let an instance's run go, and begin it anew when its isolate holds nothing of it any more.

        Not before, because what it still says may be that it does not fit the journal.
        """
        assert instance.run is not None
        instance.repeats -= 1
        instance.left = instance.run.id
        self._pending[instance.key] = instance  # it keeps its place
        instance.end_run()

    # ---------------------------------------------------------------------------------------------------- resting

    def rested(self, run: Run) -> None:
        """The run's instance only waits: it leaves memory after a grace period, sooner when many do, at once when
        others may want its slot."""

        def asleep(decision: Decision) -> None:
            if run.parked and run.id in self._owners:
                if self._slots.limited(self._owners[run.id].key):
                    self.hibernate(run)
                    return
                self._unpark(run)
                self._parked[run.id] = self._clock.call_at(self._clock.now() + self._grace, lambda: self.hibernate(run))
                while len(self._parked) > MAX_PARKED:
                    oldest = self._owners[next(iter(self._parked))].run
                    assert oldest is not None
                    self.hibernate(oldest)

        run.parked = True
        self.calm(run)
        self._owners[run.id].tell(cmd.RunParked(), run, asleep)

    def ended_by_resting(self, run: Run, *, crossed: bool) -> None:
        """The isolate has ended the run because it came to rest: its instance leaves memory, unless something has
        ``crossed`` its answer, or happens just now; then it begins anew."""
        instance = self._owners[run.id]

        def over(decision: Decision) -> None:
            self.hibernate(run)
            if instance.run is run:
                self.lose(run)

        if crossed:
            instance.tell(cmd.RunLost(), run, lambda _: instance.end_run())
        else:
            instance.tell(cmd.RunParked(), run, over)

    def hibernate(self, run: Run) -> None:
        """Take a run out of memory, if it still only waits."""
        self._unpark(run)
        instance = self._owners.get(run.id)
        if instance is None or instance.run is not run:
            return
        if not instance.quiet:
            run.parked = False  # something happens to it just now; after that it is asked again whether it rests
            return
        if instance.state.status == "waiting" and instance.state.only_waits():
            fault("hibernate.before_end")
            instance.end_run()
            instance.nudge()

    def awaits(self, run: Run, seconds: float, where: str, longest: float = 0.0) -> None:
        """The run waits, but not on the engine alone. After five minutes it is named, and leaves memory like others.
        Where the target limits a single await, the ``longest`` may fail the run."""
        instance = self._owners[run.id]
        limit = run.outside_await
        if limit is not None and longest * 1000 >= limit:
            instance.tell(cmd.RunDone(error=outside_await(limit, where)), run)
            return
        if seconds * 1000 < OUTSIDE_AWAIT or not instance.state.only_waits():
            return
        run.resting = False
        self.on_outside_await(instance.key, seconds, where)
        run.parked = True

        def asleep(decision: Decision) -> None:
            self.hibernate(run)

        instance.tell(cmd.RunParked(), run, asleep)

    def _unpark(self, run: Run) -> None:
        alarm = self._parked.pop(run.id, None)
        if alarm is not None:
            alarm.cancel()
