"""The two ways into a journal: commits on the loop's own thread, or in a pool of threads.

A commit that need not reach the disk takes some 20 us, and a hop to a thread and back five times that. So in `process`
mode small commits happen right where they are asked for. Whatever may wait long (for another program's lock, for a
large value, for a checkpoint) goes through the file's `Lane` in both modes; in `power` mode, what waits for the disk
too, unless that is known to be quick (`Disk`).
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any, TypeVar

from runtime.store.errors import JournalClosed, MissingJournal, StoreBusy, StoreError
from runtime.store.journal import JournalDb
from runtime.store.types import Key, Line, Stream

ALONE = 0.05  # seconds for which a journal that appends is taken to be the only one
SLOW = 0.002  # seconds of a commit after which the next ones do not stop the loop
SLOW_FOR = 1.0  # seconds
MAX_DIRECT_BYTES = 64 << 10  # characters of text; 1 MiB takes 3 ms, which is too long to stop the loop

T = TypeVar("T")
log = logging.getLogger(__name__)


@dataclass(slots=True)
class _Job:
    work: Callable[[], Any]
    lines: Sequence[Line]  # of an append; empty for all other jobs
    future: asyncio.Future[Any]


class Lane:
    """Does one file's jobs in a pool's threads, one at a time and in order."""

    def __init__(self, db: JournalDb, pool: Executor) -> None:
        self._db = db
        self._pool = pool
        self._loop = asyncio.get_running_loop()
        self._waiting: deque[_Job] = deque()
        self._at_work = False
        self._after_waiting = db.next_seq

    @property
    def idle(self) -> bool:
        """Whether the file may be used from the loop's thread now."""
        return not self._at_work

    @property
    def next_seq(self) -> int:
        """The number after the last line, those that wait included."""
        return self._after_waiting if self._at_work else self._db.next_seq

    def submit(self, work: Callable[[], T]) -> asyncio.Future[T]:
        """Do something with the file after all that was submitted before."""
        return self._put(work, ())

    def append(self, lines: Sequence[Line]) -> asyncio.Future[None]:
        """Commit lines; appends that wait for each other share a transaction."""
        self._after_waiting = self.next_seq + len(lines)
        return self._put(lambda: None, lines)

    def checkpoint(self) -> None:
        """Move the log into the file; what fails then is only reported, as nothing is lost by it."""
        self._put(self._db.checkpoint, ()).add_done_callback(self._checkpointed)

    def _checkpointed(self, future: asyncio.Future[None]) -> None:
        if (error := future.exception()) is not None:
            log.error("checkpoint of %s: %s", self._db.path, error)

    def _put(self, work: Callable[[], T], lines: Sequence[Line]) -> asyncio.Future[T]:
        job = _Job(work, lines, self._loop.create_future())
        self._waiting.append(job)
        if not self._at_work:
            self._after_waiting = self._db.next_seq + len(lines)
            self._next()
        return job.future

    def _next(self) -> None:
        jobs = [self._waiting.popleft()]
        if jobs[0].lines:
            while self._waiting and self._waiting[0].lines:
                jobs.append(self._waiting.popleft())
        self._at_work = True
        self._pool.submit(self._do, jobs)

    def _do(self, jobs: list[_Job]) -> None:
        """Runs in the pool."""
        result, error = None, None
        try:
            if jobs[0].lines:
                self._db.append_patiently([line for job in jobs for line in job.lines])
            else:
                result = jobs[0].work()
        except Exception as raised:
            error = raised
        self._loop.call_soon_threadsafe(self._done, jobs, result, error)

    def _done(self, jobs: list[_Job], result: Any, error: Exception | None) -> None:
        self._at_work = False
        if error is not None and jobs[0].lines:
            jobs += self._take_back_appends()
        for job in jobs:
            if job.future.done():  # its caller was cancelled; what it asked for has happened all the same
                continue
            if error is None:
                job.future.set_result(result)
            else:
                job.future.set_exception(error)
        if self._waiting:
            self._next()
        elif error is None and self._db.checkpoint_due:
            self.checkpoint()

    def _take_back_appends(self) -> list[_Job]:
        """Give up the appends that wait behind a failed one: their numbers would leave a gap."""
        appends = [job for job in self._waiting if job.lines]
        self._waiting = deque(job for job in self._waiting if not job.lines)
        self._after_waiting = self._db.next_seq
        return appends


class ThreadedJournal:
    """A journal whose commits all happen in the pool, as they must when each is to reach the disk."""

    def __init__(self, key: Key, db: JournalDb, pool: Executor) -> None:
        self.key = key
        self._db = db
        self._lane = Lane(db, pool)
        self._closing: asyncio.Future[None] | None = None
        self._removed = False

    @property
    def path(self) -> str:
        """The name of the file."""
        return self._db.path

    @property
    def next_seq(self) -> int:
        """The number that the next appended line must have."""
        return self._lane.next_seq

    @property
    def usable(self) -> bool:
        """False once the file is closed or was set aside as damaged."""
        return self._db.usable and self._closing is None

    def append(self, lines: Sequence[Line]) -> Awaitable[None] | None:
        """Append lines in one transaction; see `JournalFile`."""
        self._expect(lines)
        return self._lane.append(lines)

    def _expect(self, lines: Sequence[Line]) -> None:
        if not self.usable:
            raise self._lost()
        assert lines, f"{self.path}: an append of no lines"
        for wanted, line in enumerate(lines, self.next_seq):
            assert line.seq == wanted, f"{self.path}: line {line.seq} where {wanted} must follow"

    async def read(self, after: int = 0) -> list[Line]:
        """Read all committed lines after a number, with one query."""
        return await self._in_lane(lambda: self._db.read(after))

    async def put_block(self, stream: Stream, number: int, data: bytes) -> None:
        """Commit one block of a stream, before whatever is appended from now on."""
        await self._in_lane(lambda: self._db.put_block(stream, number, data))

    async def read_block(self, stream: Stream, number: int) -> bytes | None:
        """Read one committed block; None when the stream has none of this number."""
        return await self._in_lane(lambda: self._db.read_block(stream, number))

    async def streams(self) -> set[Stream]:
        """All streams of which there is a block."""
        if self.usable and not self._db.has_blocks and self._lane.idle:
            return set()  # as of nearly every file: no reason to go through a thread
        return await self._in_lane(self._db.streams)

    async def drop_stream(self, stream: Stream) -> None:
        """Delete all blocks of a stream."""
        await self._in_lane(lambda: self._db.drop_stream(stream))

    def _in_lane(self, work: Callable[[], T]) -> asyncio.Future[T]:
        if not self.usable:
            raise self._lost()
        return self._lane.submit(work)

    def tidy(self) -> None:
        """Move the log into the file, when nothing happens that it could delay."""
        if self.usable and self._lane.idle and self._db.has_log:
            self._lane.checkpoint()

    async def close(self, *, removed: bool = False) -> None:
        """Close the file, after all appends made before; whoever uses it later hears that it was ``removed``."""
        self._removed |= removed
        if self._closing is None:
            self._closing = self._lane.submit(self._db.close)
        await asyncio.shield(self._closing)

    def _lost(self) -> StoreError:
        return MissingJournal(self.path) if self._removed else JournalClosed(self.path)


class Disk:
    """Whether the loop may wait for the disk, where each commit has to reach it.

    An SSD takes 0.15 to 0.4 ms for that, and the way to a thread and back costs more in processor time alone: a single
    workflow's steps take half as long without it. Those of many are better off in threads, where syncs that happen at
    once share the disk's work; and so is the loop where the disk is slow.
    """

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._last: ThreadedJournal | None = None  # to append
        self._at = 0.0
        self._slow_until = 0.0

    def is_quick_for(self, journal: ThreadedJournal) -> bool:
        """Whether an append to this journal may stop the loop; asked before each."""
        now = self._now()
        alone = journal is self._last or now - self._at > ALONE
        self._last, self._at = journal, now
        return alone and now >= self._slow_until

    def committed(self) -> None:
        """The append that was asked about is on the disk."""
        now = self._now()
        if now - self._at > SLOW:
            self._slow_until = now + SLOW_FOR


class DirectJournal(ThreadedJournal):
    """A journal that commits on the loop's thread whatever is small and need not wait long."""

    def __init__(self, key: Key, db: JournalDb, pool: Executor, disk: Disk | None = None) -> None:
        super().__init__(key, db, pool)
        self._disk = disk  # that each commit has to reach
        # The first commit of a new log syncs the log's header, which takes 1 ms and more: it goes through the lane.
        self._new_log = True

    def append(self, lines: Sequence[Line]) -> Awaitable[None] | None:
        """Append lines in one transaction; see `JournalFile`."""
        self._expect(lines)
        quick = self._disk is None or self._disk.is_quick_for(self)
        if quick and self._lane.idle and not self._new_log and _small(lines):
            try:
                self._db.append(lines)
            except StoreBusy:
                return self._lane.append(lines)
            if self._disk is not None:
                self._disk.committed()
            if self._db.checkpoint_due:
                self._new_log = True
                self._lane.checkpoint()
            return None
        self._new_log = False
        return self._lane.append(lines)

    async def put_block(self, stream: Stream, number: int, data: bytes) -> None:
        """Commit one block of a stream, before whatever is appended from now on."""
        self._new_log = True  # a block may have the log moved into the file
        await super().put_block(stream, number, data)

    def tidy(self) -> None:
        """Move the log into the file, when nothing happens that it could delay."""
        self._new_log = True
        super().tidy()


def _small(lines: Sequence[Line]) -> bool:
    return sum(len(line.data) for line in lines) <= MAX_DIRECT_BYTES
