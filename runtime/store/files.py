"""All journals of a state folder: where they lie, and which of them are open."""

from __future__ import annotations

import asyncio
import hashlib
import os
import resource
from collections import OrderedDict
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from runtime.faults import fault
from runtime.store import heap, journal, sqlite
from runtime.store.errors import DamagedJournal, JournalExists, MissingJournal
from runtime.store.journal import Description, JournalDb
from runtime.store.sqlite import SIDE_FILES
from runtime.store.types import Durability, JournalFile, Key, Line
from runtime.store.writers import DirectJournal, Disk, ThreadedJournal

DIRECT_LIMIT = 256  # open files; each takes three descriptors
THREADED_LIMIT = 64
DIRECT_THREADS = 4  # for opening, closing, checkpoints and the commits that must wait
THREADED_THREADS = 16  # most of their time is the disk's; files synced together share its work
IDLE_SECONDS = 5.0  # a file that nobody uses or writes for this long is closed or tidied
WORTH_TRIMMING = 64  # files closed since memory was last given back
MAX_DESCRIPTORS = 65_536

T = TypeVar("T")


def file_name(key: Key) -> str:
    """Where a journal lies below the folder: by a hash, as an id may be too long or unfit for a file's name."""
    text = f"{len(key.workflow)}:{key.workflow}{key.id}"
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]
    return f"{digest[:2]}/{digest[2:]}.db"


def raise_descriptor_limit() -> None:
    """Let this process open as many files as the system allows it, up to `MAX_DESCRIPTORS`."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MAX_DESCRIPTORS if hard == resource.RLIM_INFINITY else min(hard, MAX_DESCRIPTORS)
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return
    with suppress(ValueError, OSError):  # macOS has a second, lower limit of its own; then the soft one stays
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


class _Slot:
    """One file that is open or being opened."""

    def __init__(self, opening: asyncio.Task[ThreadedJournal]) -> None:
        self.opening = opening
        self.removed = False
        self.pins = 0
        self.used = 0.0  # the loop's time when it was last released
        self.seen = 0  # `next_seq` at the last look, to notice that nothing is written

    @property
    def file(self) -> ThreadedJournal | None:
        """The file, once it is open."""
        if not self.opening.done() or self.opening.cancelled() or self.opening.exception() is not None:
            return None
        return self.opening.result()


class Journals:
    """The journals of one state folder; belongs to the event loop that made it."""

    def __init__(self, folder: Path, durability: Durability = "process", *, limit: int | None = None) -> None:
        direct = durability == "process"
        self._folder = folder
        self._durability = durability
        self._limit = limit or (DIRECT_LIMIT if direct else THREADED_LIMIT)
        self._disk = None if direct else Disk()
        self._pool = ThreadPoolExecutor(DIRECT_THREADS if direct else THREADED_THREADS, "journal")
        self._template = sqlite.Template(journal.SCHEMA)
        self._loop = asyncio.get_running_loop()
        self._slots: OrderedDict[Key, _Slot] = OrderedDict()  # the longest unused first
        self._closing: dict[Key, asyncio.Task[None]] = {}  # the newest closing or removal of each file
        self._closed_files = 0  # since memory was last given back
        self._timer: asyncio.TimerHandle | None = None
        raise_descriptor_limit()

    @property
    def limit(self) -> int:
        """How many files stay open at once; the host admits no more active runs than this."""
        return self._limit

    @property
    def open_files(self) -> int:
        """How many files are open or being opened now."""
        return len(self._slots)

    def path(self, key: Key) -> str:
        """The name of an instance's file."""
        return os.path.join(self._folder, file_name(key))

    async def create(self, key: Key, lines: Sequence[Line], *, created: int, class_name: str = "") -> None:
        """Create a journal that holds these lines; it exists completely or not at all."""
        description = Description(key, created, class_name, len(lines))
        await self._settled(self._closing.get(key))
        fault("create.before_file")
        await self._in_thread(lambda: self._create(self.path(key), description, lines))
        fault("create.after_file")

    def _create(self, path: str, description: Description, lines: Sequence[Line]) -> None:
        image = journal.image(self._template, description, lines)
        if os.path.exists(path):
            raise JournalExists(path)
        try:
            try:
                sqlite.place(path, image, self._durability)
            except FileNotFoundError:
                self._make_shard(os.path.dirname(path))
                sqlite.place(path, image, self._durability)
        except OSError as error:
            raise sqlite.translated(error, path) from error

    def _make_shard(self, shard: str) -> None:
        os.makedirs(shard, exist_ok=True)
        if self._durability == "power":
            sqlite.sync_folder(os.path.dirname(shard))

    async def exists(self, key: Key) -> bool:
        """Whether the instance has a journal."""
        return await self._in_thread(lambda: os.path.exists(self.path(key)))

    async def open(self, key: Key) -> JournalFile:
        """Open a journal and keep it open until `release`.

        Never waits for another file to be released: two runs that each need the other's file would wait for ever. So
        more than `limit` are open for a while when all are in use.
        """
        slot = self._slots.get(key)
        if slot is not None and slot.file is not None and not slot.file.usable:
            del self._slots[key]  # set aside as damaged; opening it again says so
            slot = None
        if slot is None:
            slot = self._slots[key] = _Slot(self._loop.create_task(self._open(key, self._closing.get(key))))
            slot.opening.add_done_callback(lambda task: self._opened(key, task))
        slot.pins += 1
        self._slots.move_to_end(key)
        self._evict()
        try:
            file = await asyncio.shield(slot.opening)
        except BaseException:
            slot.pins -= 1
            raise
        if slot.removed:
            raise MissingJournal(self.path(key))
        return file

    async def _open(self, key: Key, before: asyncio.Task[None] | None) -> ThreadedJournal:
        # Only what began before it: a removal that begins later waits for this opening.
        await self._settled(before)
        db = await self._in_thread(lambda: self._open_db(self.path(key)))
        return DirectJournal(key, db, self._pool, self._disk)

    def _open_db(self, path: str) -> JournalDb:
        try:
            return JournalDb(path, self._durability, lock_wait_ms=0)
        except MissingJournal:
            if (moved := sqlite.set_aside_before(path)) is not None:
                raise DamagedJournal(path, moved, "found earlier") from None
            raise

    def _opened(self, key: Key, task: asyncio.Task[ThreadedJournal]) -> None:
        slot = self._slots.get(key)
        if slot is None or slot.opening is not task:
            return
        if slot.file is None:
            del self._slots[key]
        else:
            self._watch()

    def release(self, file: JournalFile) -> None:
        """Take one `open` back; the file stays open a while for the next one."""
        slot = self._slots.get(file.key)
        if slot is None or slot.file is not file:  # removed, or set aside as damaged
            return
        assert slot.pins > 0, f"{file.key} was released more often than opened"
        slot.pins -= 1
        slot.used = self._loop.time()
        self._evict()

    async def shut(self, key: Key) -> None:
        """Close the file now unless somebody still has it open, as for an instance that hibernates."""
        slot = self._slots.get(key)
        if slot is not None and slot.pins == 0:
            self._shut(key, slot)
        await self._settled(self._closing.get(key))

    async def remove(self, key: Key) -> None:
        """Delete a journal; one that does not exist is as good as deleted. Whoever has it open loses it."""
        if (slot := self._slots.get(key)) is not None:
            slot.removed = True
            self._shut(key, slot)
        # Whatever is asked of this file from now on waits for the end: half removed, it would be opened as a ghost.
        await asyncio.shield(self._close_by(key, self._remove_after(key, self._closing.get(key))))

    async def _remove_after(self, key: Key, before: asyncio.Task[None] | None) -> None:
        await self._settled(before)
        fault("delete.before_file")
        await self._in_thread(lambda: self._remove(self.path(key)))
        fault("delete.after_file")

    def _remove(self, path: str) -> None:
        try:
            # The log first: left alone, it would be replayed into a new file of the same name.
            sqlite.unlink(*(path + end for end in SIDE_FILES), path, path + ".new")
            if self._durability == "power" and os.path.isdir(os.path.dirname(path)):
                sqlite.sync_folder(os.path.dirname(path))
        except OSError as error:
            raise sqlite.translated(error, path) from error

    async def close(self) -> None:
        """Close every file."""
        if self._timer is not None:
            self._timer.cancel()
        for key, slot in list(self._slots.items()):
            self._shut(key, slot)
        for task in list(self._closing.values()):
            await self._settled(task)
        self._pool.shutdown()
        self._template.close()

    def _evict(self) -> None:
        surplus = len(self._slots) - self._limit
        if surplus <= 0:
            return
        unused = [(key, slot) for key, slot in self._slots.items() if slot.pins == 0]
        for key, slot in unused[:surplus]:
            self._shut(key, slot)

    def _shut(self, key: Key, slot: _Slot) -> None:
        del self._slots[key]
        self._close_by(key, self._close_file(slot, self._closing.get(key)))

    def _close_by(self, key: Key, work: Coroutine[object, object, None]) -> asyncio.Task[None]:
        task = self._closing[key] = self._loop.create_task(work)
        task.add_done_callback(lambda done: self._closed(key, done))
        return task

    async def _close_file(self, slot: _Slot, before: asyncio.Task[None] | None) -> None:
        await self._settled(before)
        await asyncio.wait([slot.opening])
        if slot.file is not None:  # otherwise whoever tried to open it has been told why
            await slot.file.close(removed=slot.removed)
            self._closed_files += 1

    def _closed(self, key: Key, task: asyncio.Task[None]) -> None:
        if self._closing.get(key) is task:
            del self._closing[key]

    def _watch(self) -> None:
        if self._timer is None:
            self._timer = self._loop.call_later(IDLE_SECONDS, self._look_for_idle)

    def _look_for_idle(self) -> None:
        self._timer = None
        now = self._loop.time()
        for key, slot in list(self._slots.items()):
            if slot.file is None:
                continue
            if slot.pins == 0 and now - slot.used >= IDLE_SECONDS:
                self._shut(key, slot)
            elif slot.seen == slot.file.next_seq:
                slot.file.tidy()
            slot.seen = slot.file.next_seq
        if self._slots:
            self._watch()
        elif self._closed_files >= WORTH_TRIMMING:
            self._closed_files = 0
            self._pool.submit(heap.trim)

    @staticmethod
    async def _settled(task: asyncio.Task[None] | None) -> None:
        """Wait until a closing or removal is over; how it went is told to whoever asked for it."""
        if task is not None:
            await asyncio.wait([task])

    async def _in_thread(self, work: Callable[[], T]) -> T:
        return await self._loop.run_in_executor(self._pool, work)
