"""All instances: created, brought into memory when something happens to them, put back when they rest, deleted."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping, Sequence

from runtime.engine import Decision, Event, Rules, State, decode, encode, expires_at, fold, kind_of
from runtime.engine import commands as cmd
from runtime.engine.events import Restarted
from runtime.faults import fault
from runtime.store import JournalClosed, JournalExists, MissingJournal, StoreBusy, StoreError, StoreFull, StoreUnusable
from runtime.store.types import CatalogStore, JournalStore, Key, Line, NewRow, Row

from .clock import Clock
from .instance import Instance
from .leftovers import drop_forgotten, drop_unnamed
from .modifications import Modifications
from .new_instance import NewInstance as NewInstance
from .run import Run
from .runs import Runs
from .turns import Turns
from .workflows import Workflow

CREATED_AT_ONCE = 64  # files of one batch that are made side by side
RETRY_FULL = 5.0  # seconds between looks whether a full disk has room again


PASSING = (StoreFull, StoreBusy, StoreUnusable)


class NotFound(LookupError):
    """There is no such instance."""


class Held(Exception):
    """The project does not have what the instance runs on; it is kept until it does."""


Publish = Callable[[Key, int, Sequence[Event]], None]
"""Told of every commit: the instance, the number of the first new line, and the events."""


class Instances:
    """The instances of a state folder. Journals are the truth; the catalog tells which of them need attention."""

    def __init__(
        self,
        clock: Clock,
        catalog: CatalogStore,
        journals: JournalStore,
        *,
        grace_ms: int,
        publish: Publish,
        report: Callable[[Key, Exception], None],
    ) -> None:
        self.clock = clock
        self.catalog = catalog
        self.runs = Runs(clock, journals.limit, grace_ms, self._activate_soon)
        self.runs.on_admission = self._admission
        self.turns = Turns()
        self._journals = journals
        self._publish = publish
        self.report = report
        self._workflows: dict[str, Workflow] = {}
        self._live: dict[Key, Instance] = {}
        self._opening: dict[Key, asyncio.Task[Instance]] = {}
        self._leaving: dict[Key, asyncio.Task[None]] = {}
        self._fresh: dict[Key, Sequence[Event]] = {}  # the whole journals of instances that were only just created
        self._deleting: dict[Key, asyncio.Task[None]] = {}
        self._creating: dict[Key, asyncio.Future[None]] = {}  # ids whose creation is not acknowledged yet
        self._tasks: set[asyncio.Task[None]] = set()
        self._closing = False
        self.modifications = Modifications()

    def alarms(self) -> Iterator[int]:
        """When (ms) something is due for an instance in memory; of those on disk the catalog knows it."""
        for instance in self._live.values():
            yield from instance.alarms()

    def declare(self, workflows: Iterable[Workflow]) -> None:
        """Tell which Workflows the project has."""
        self._workflows = {workflow.name: workflow for workflow in workflows}
        self.runs.declare(self._workflows.values())

    def rules(self, workflow: str) -> Rules:
        """The rules of a Workflow; an instance whose Workflow is gone keeps the defaults."""
        known = self._workflows.get(workflow)
        return Rules() if known is None else known.rules

    # ----------------------------------------------------------------------------------------------------- create

    async def create(self, workflow: str, wanted: Sequence[NewInstance]) -> set[str]:
        """Create instances; gives the ids that existed already and were left alone.

        When it returns, each of them will run, whatever happens to this process (I8).
        """
        keys = [Key(workflow, new.id) for new in wanted]
        for key in keys:
            await self._deletion(key)
        rows = dict(zip(keys, wanted, strict=True))
        existed = await self._create(rows)
        if over := [key for key in existed if await self._has_expired(key)]:
            existed -= set(over) - await self._create({key: rows[key] for key in over})
        while half_made := existed & self._creating.keys():
            # Somebody else's creation of the same id is under way: only when it is done does the id exist.
            await asyncio.wait([self._creating[key] for key in half_made])
            again = {key: rows[key] for key in half_made if await self.catalog.get(key) is None}
            existed -= again.keys() - await self._create(again)
        return {key.id for key in existed}

    async def _create(self, rows: Mapping[Key, NewInstance]) -> set[Key]:
        """Create what does not exist; gives the keys that do, be it half-made."""
        if not rows:
            return set()
        now = self.clock.now()
        class_names = {key: self._workflows[key.workflow].class_name for key in rows}
        existed = await self.catalog.create([NewRow(key, class_names[key], "queued", now) for key in rows])
        fault("create.after_row")
        fresh = {key: new for key, new in rows.items() if key not in existed}
        self.modifications.created(fresh)
        done = asyncio.get_running_loop().create_future()
        self._creating |= dict.fromkeys(fresh, done)
        try:
            await self._complete(fresh, class_names, now)
        finally:
            for key in fresh:
                del self._creating[key]
            done.set_result(None)
        return existed

    async def _complete(self, fresh: Mapping[Key, NewInstance], class_names: Mapping[Key, str], now: int) -> None:
        """Give new rows their files, and let them run; or take all of it back."""
        outcomes = await self._make(fresh, class_names, now)
        try:
            for outcome in outcomes.values():
                if isinstance(outcome, BaseException):
                    raise outcome
            await self.catalog.confirm(fresh)
        except Exception:
            # A file that was there before its row is not ours to remove.
            ours = [key for key, outcome in outcomes.items() if not isinstance(outcome, JournalExists)]
            await self._take_back(list(fresh), ours)
            raise
        fault("create.after_confirm")
        self.runs.queue(fresh)
        for key, events in outcomes.items():
            assert not isinstance(events, BaseException)
            # Those that are opened next need not be read back, unless somebody knew the id and was faster.
            if self.runs.coming(key) and key not in self._live and key not in self._opening:
                self._fresh[key] = events

    async def _make(
        self, fresh: Mapping[Key, NewInstance], class_names: Mapping[Key, str], now: int
    ) -> dict[Key, Sequence[Event] | BaseException]:
        """Make the files of new instances; gives the first events of each, or why it cannot be made."""
        limit = asyncio.Semaphore(CREATED_AT_ONCE)

        async def make(key: Key, new: NewInstance) -> Sequence[Event]:
            events = new.first_events(key.workflow, now)
            lines = [Line(i, event.at, kind_of(event), encode(event)) for i, event in enumerate(events, 1)]
            async with limit:
                await self._journals.create(key, lines, created=now, class_name=class_names[key])
            fault("create.after_file")
            self._publish(key, 1, events)
            return events

        making = (make(key, new) for key, new in fresh.items())
        return dict(zip(fresh, await asyncio.gather(*making, return_exceptions=True), strict=True))

    async def _take_back(self, rows: Sequence[Key], files: Sequence[Key]) -> None:
        """Undo a creation that failed half-way, now or as soon as the disk lets us: the ids are free again."""
        try:
            for key in files:
                await self._journals.remove(key)
            await self.catalog.end_delete(rows)
        except StoreError as error:
            self.report(rows[0], error)
            self._once_more(lambda: self._spawn(self._take_back(rows, files)))

    # --------------------------------------------------------------------------------------------------- activate

    async def ask(self, key: Key, command: cmd.Command) -> Decision:
        """Let something happen to an instance and wait until it is committed; `NotFound` when there is none."""
        while True:
            instance = await self.activate(key)
            if not instance.gone:
                return await instance.ask(command)

    async def activate(self, key: Key) -> Instance:
        """The instance in memory."""
        instance = self._live.get(key)
        if instance is not None:
            return instance
        opening = self._opening.get(key)
        if opening is None:
            opening = self._opening[key] = asyncio.create_task(self._open(key))
            opening.add_done_callback(lambda _: self._opening.pop(key, None))
        return await asyncio.shield(opening)

    async def _open(self, key: Key) -> Instance:
        leaving = self._leaving.get(key)
        if leaving is not None:
            await leaving
        fresh = self._fresh.pop(key, None)
        if fresh is None:  # else its row is live, and has been dirty from its first moment
            if not self._is_there(await self.catalog.get(key)):
                raise NotFound
            await self.catalog.mark_dirty(key)
            fault("activate.after_dirty")
        try:
            journal = await self._journals.open(key)
            try:
                state = fold(fresh or [decode(line.data) for line in await journal.read()])
                await drop_unnamed(journal, state, state.last_step)
            except BaseException:
                self._journals.release(journal)
                raise
        except StoreError as error:
            # Whoever asked is told; but the row is dirty now, and a dirty row wakes nobody.
            self._look_again_after(key, error)
            raise
        instance = self._live[key] = Instance(self, key, state, journal)
        return instance

    def _activate_soon(self, key: Key) -> None:
        """Bring an instance into memory to see what it owes."""

        async def look() -> None:
            try:
                instance = await self.activate(key)
            except NotFound:
                self.runs.forget(key)
            except Exception as error:
                self._stopped(key, error)
            else:
                self.runs.arrived(instance)
                instance.nudge()

        if not self._closing:
            self._spawn(look())

    def _stopped(self, key: Key, error: Exception) -> None:
        """The instance cannot go on; when that may pass, it is looked at again."""
        self.runs.forget(key)
        self.report(key, error)
        self._look_again_after(key, error)

    def _look_again_after(self, key: Key, error: Exception) -> None:
        """A full disk, a lock that another program holds, too many open files: all of them pass."""
        if isinstance(error, PASSING):
            self._look_again(key)

    def _look_again(self, key: Key) -> None:
        self._once_more(lambda: self.runs.queue([key], begun=[key]))

    def _once_more(self, action: Callable[[], None]) -> None:
        """Try again what the disk refused."""

        def again() -> None:
            if not self._closing:
                action()

        asyncio.get_running_loop().call_later(RETRY_FULL, again)

    def _spawn(self, work: Coroutine[object, object, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    # ------------------------------------------------------------------------------- what a live instance tells us

    def wants_run(self, instance: Instance) -> None:
        """It has work to do."""
        if not self._closing and not self.runs.want(instance):
            if instance.key in self.runs.held:
                self.report(instance.key, Held(self.runs.held[instance.key]))
            self._drop(instance, settle=False)
            self.runs.pump()

    def _admission(self, instance: Instance, status: str) -> None:
        """An instance of a Workflow with a limit runs, or stands in line for a slot: its row says so, for lists, and
        that it has begun, for the order in line after a restart."""

        async def note() -> None:
            begun = instance.state.created if status == "running" else instance.state.started_at
            try:
                await self.catalog.note(instance.key, status=status, updated=self.clock.now(), started=begun)
            except StoreError as error:
                self.report(instance.key, error)

        self._spawn(note())

    def rests(self, instance: Instance) -> None:
        """It has nothing to do before its next wake-up, if it has one."""
        self.runs.forget(instance.key)
        self._drop(instance, settle=True)

    def run_ended(self, run: Run) -> None:
        self.runs.ended(run)

    def given_up(self, run: Run, step: int) -> None:
        """An attempt timed out; whoever watches the isolates wants to know whether it still blocks."""
        self.on_given_up(run)

    on_given_up: Callable[[Run], None] = staticmethod(lambda run: None)

    on_events: Callable[[State, Sequence[Event]], None] = staticmethod(lambda state, events: None)

    def published(self, instance: Instance, events: Sequence[Event]) -> None:
        """Events were committed."""
        self.on_events(instance.state, events)
        self._publish(instance.key, instance.journal.next_seq - len(events), events)
        if any(isinstance(event, Restarted) for event in events):
            self._spawn(drop_forgotten(instance.journal, instance.state, instance.state.last_step))

    def broken(self, instance: Instance, error: Exception) -> None:
        """Its journal cannot be written: it leaves memory as the journal has it, and is tried again later."""
        if not instance.gone:
            instance.gone = True
            self._live.pop(instance.key, None)
            self._journals.release(instance.journal)
        self._stopped(instance.key, error)

    def _drop(self, instance: Instance, *, settle: bool) -> None:
        instance.leave()
        self._live.pop(instance.key, None)
        task = asyncio.create_task(self._put_away(instance, settle))
        self._leaving[instance.key] = task
        task.add_done_callback(lambda _: self._leaving.pop(instance.key, None))

    async def _put_away(self, instance: Instance, settle: bool) -> None:
        """Bring the catalog up to the journal and close the file."""
        key, state = instance.key, instance.state
        self._journals.release(instance.journal)
        try:
            if not state.final:
                await self._journals.shut(key)
            if settle:
                expiry = expires_at(state, self.rules(key.workflow))
                fault("settle.before_row")
                await self.catalog.settle(
                    key,
                    status=state.status,
                    wake_at=state.next_due(),
                    updated=self.clock.now(),
                    started=state.started_at,
                    ended=state.ended,
                    expires_at=expiry,
                )
                fault("settle.after_row")
                self.on_settled(state.next_due())
                self.on_ended(expiry)
        except Exception as error:
            # The row stays dirty, and a dirty row wakes nobody.
            self.report(key, error)
            self._look_again(key)

    on_settled: Callable[[int | None], None] = staticmethod(lambda wake_at: None)

    on_ended: Callable[[int | None], None] = staticmethod(lambda expires_at: None)

    # ------------------------------------------------------------------------------------------------- read, delete

    async def state(self, key: Key) -> State:
        """What the instance is now, without waking it; `NotFound` when there is none."""
        instance = self._live.get(key)
        if instance is not None:
            state = await instance.committed()
            if not instance.gone:  # else the commit may have failed, and the journal tells
                return state
        await self.exists(key)
        state = fold(decode(line.data) for line in await self._read(key))
        if not state.final:
            await self._shut(key)
        return state

    async def lines(self, key: Key) -> list[Line]:
        """The instance's journal."""
        try:
            return await self._read(key)
        finally:
            await self._shut(key)

    async def _read(self, key: Key) -> list[Line]:
        await self._deletion(key)
        try:
            journal = await self._journals.open(key)
        except MissingJournal:
            await self.exists(key)  # it was deleted meanwhile; else the file is missing, and that is an error
            raise
        try:
            return await journal.read()
        except (MissingJournal, JournalClosed):
            await self.exists(key)
            raise
        finally:
            self._journals.release(journal)

    async def _shut(self, key: Key) -> None:
        """Close the file of an instance that rests; one that has ended is left to be closed when it is idle, because
        whoever started it mostly looks at it now, and closing costs two syncs."""
        if key not in self._live and key not in self._opening:
            await self._journals.shut(key)

    async def exists(self, key: Key) -> None:
        """`NotFound` unless the instance exists."""
        if key not in self._live and not self._is_there(await self.catalog.get(key)):
            raise NotFound

    def _is_there(self, row: Row | None) -> bool:
        """Whether the row is an instance's. One that has expired is gone, whether or not it is deleted yet."""
        return row is not None and row.state == "live" and not row.has_expired(self.clock.now())

    async def delete(self, key: Key) -> None:
        """Remove an instance and everything it stored; `NotFound` when there is none."""
        await self._deletion(key)
        await self._remove(key, self._claim(key))

    async def expire(self, key: Key) -> None:
        """Remove an instance whose retention is over; `NotFound` when it is gone, or has begun anew in time."""
        await self._deletion(key)
        await self._remove(key, self._claim_expired(key))

    async def _has_expired(self, key: Key) -> bool:
        """Whether the id is free because its instance has expired; that is deleted first, if it still has to be."""
        row = await self.catalog.get(key)
        if row is not None and row.has_expired(self.clock.now()):
            with contextlib.suppress(NotFound):
                await self.expire(key)
                return True
            row = await self.catalog.get(key)  # somebody was faster: the sweeper, or who wants this id as well
        return row is None

    async def _remove(self, key: Key, claim: Coroutine[object, object, None]) -> None:
        deletion = self._deleting[key] = asyncio.create_task(self._delete(key, claim))
        await asyncio.shield(deletion)
        self.on_deleted(key)

    async def _deletion(self, key: Key) -> None:
        """Wait for the end of a deletion: what follows must not meet its second half."""
        while (deletion := self._deleting.get(key)) is not None:
            await asyncio.wait([deletion])

    async def _claim(self, key: Key) -> None:
        row = await self.catalog.get(key)
        if row is None or row.state == "creating":
            raise NotFound
        await self.catalog.begin_delete([key])

    async def _claim_expired(self, key: Key) -> None:
        if not await self.catalog.begin_expiry(key, self.clock.now()):
            raise NotFound

    async def _delete(self, key: Key, claim: Coroutine[object, object, None]) -> None:
        try:
            await claim
            fault("delete.after_row")
            await self._let_go(key)
            await self._journals.remove(key)
            fault("delete.after_file")
            await self.catalog.end_delete([key])
        finally:
            del self._deleting[key]

    async def _let_go(self, key: Key) -> None:
        """Take an instance out of memory; its row keeps it from coming back."""
        self._fresh.pop(key, None)
        opening = self._opening.get(key)
        if opening is not None:
            await asyncio.wait([opening])
        instance = self._live.get(key)
        if instance is not None and await instance.discard(NotFound()):
            self._live.pop(key, None)
            self._journals.release(instance.journal)
        leaving = self._leaving.get(key)
        if leaving is not None:
            await asyncio.wait([leaving])
        self.runs.forget(key)

    on_deleted: Callable[[Key], None] = staticmethod(lambda key: None)

    # ------------------------------------------------------------------------------------------------------- close

    async def close(self) -> None:
        """Let every instance go, as its journal has it; what was running is found by the next start."""
        self._closing = True
        for instance in list(self._live.values()):
            await instance.committed()
            if instance.gone:
                continue
            instance.end_run()
            idle = not instance.state.live and instance.quiet and instance.state.status in ("waiting", "paused")
            if instance.quiet:
                self._drop(instance, settle=idle or instance.state.final)
        for task in [*self._leaving.values(), *self._deleting.values(), *self._tasks]:
            await asyncio.wait([task])
