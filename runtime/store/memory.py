"""A store in memory for simulations, which can lose what was not committed.

`MemoryStore.crash` gives what a new process would find. With ``late=True`` an append is committed only in the loop's
next turn, so that a crash in between loses it, as it may with the threaded journals.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Sequence

from runtime.store.errors import JournalClosed, JournalExists, MissingJournal
from runtime.store.memory_catalog import Hook, MemoryCatalog, no_hook
from runtime.store.types import JournalFile, Key, Line, Stream


class MemoryStore:
    """A catalog and journals in memory."""

    def __init__(self, *, late: bool = False, hook: Hook = no_hook) -> None:
        self._late = late
        self._hook = hook
        self.journals = MemoryJournals(late=late, hook=hook)
        self.catalog = MemoryCatalog(hook)

    def crash(self, *, hook: Hook | None = None) -> MemoryStore:
        """What a new process finds after this one was killed: the committed lines and rows."""
        store = MemoryStore(late=self._late, hook=hook or self._hook)
        self.journals.alive = False
        store.journals.committed = {key: list(lines) for key, lines in self.journals.committed.items()}
        store.journals.blocks = {key: dict(blocks) for key, blocks in self.journals.blocks.items()}
        store.catalog.rows = dict(self.catalog.rows)
        store.catalog.meta = dict(self.catalog.meta)
        store.catalog.made = self.catalog.made
        return store

    async def close(self) -> None:
        """Close both."""
        await self.journals.close()
        await self.catalog.close()


class MemoryJournal:
    """The journal of one instance in memory."""

    def __init__(self, key: Key, journals: MemoryJournals) -> None:
        self.key = key
        self.next_seq = len(journals.committed[key]) + 1
        self._journals = journals
        self._waiting: list[tuple[list[Line], asyncio.Future[None]]] = []
        self._open = True
        self._removed = False

    async def read(self, after: int = 0) -> list[Line]:
        """Read all committed lines after a number."""
        self._commit_waiting()
        return self._lines()[after:]

    def append(self, lines: Sequence[Line]) -> Awaitable[None] | None:
        """Append lines in one transaction; see `JournalFile`."""
        self._lines()
        wanted = list(range(self.next_seq, self.next_seq + len(lines)))
        assert lines and [line.seq for line in lines] == wanted, f"{self.key}: lines {wanted} must follow"
        if not self._journals.late:
            try:
                self._journals.commit(self.key, lines)
            finally:
                self.next_seq = len(self._journals.committed[self.key]) + 1
            return None
        self.next_seq += len(lines)
        future = asyncio.get_running_loop().create_future()
        self._waiting.append((list(lines), future))
        asyncio.get_running_loop().call_soon(self._commit_next)
        return future

    def _commit_next(self) -> None:
        if not self._waiting or not self._journals.alive:
            return
        lines, future = self._waiting.pop(0)
        try:
            self._journals.commit(self.key, lines)
        except Exception as error:
            self.next_seq = len(self._journals.committed.get(self.key, ())) + 1
            failed, self._waiting = [future, *(waiting for _, waiting in self._waiting)], []
            for one in failed:
                if not one.done():
                    one.set_exception(error)
        else:
            if not future.done():
                future.set_result(None)

    def _commit_waiting(self) -> None:
        while self._waiting and self._journals.alive:
            self._commit_next()

    async def put_block(self, stream: Stream, number: int, data: bytes) -> None:
        """Commit one block of a stream, before whatever is appended from now on."""
        assert (stream, number) not in self._blocks(), f"{self.key}: block {number} of {stream} is written twice"
        self._journals.commit_block(self.key, stream, number, data)

    async def read_block(self, stream: Stream, number: int) -> bytes | None:
        """Read one committed block; None when the stream has none of this number."""
        return self._blocks().get((stream, number))

    async def streams(self) -> set[Stream]:
        """All streams of which there is a block."""
        return {stream for stream, _ in self._blocks()}

    async def drop_stream(self, stream: Stream) -> None:
        """Delete all blocks of a stream."""
        blocks = self._blocks()
        for block in [block for block in blocks if block[0] == stream]:
            del blocks[block]

    def _blocks(self) -> dict[tuple[Stream, int], bytes]:
        self._commit_waiting()
        self._lines()
        return self._journals.blocks.setdefault(self.key, {})

    async def close(self, *, removed: bool = False) -> None:
        """Close the file, after all appends made before; whoever uses it later hears that it was ``removed``."""
        self._commit_waiting()
        self._open = False
        self._removed |= removed

    def _lines(self) -> list[Line]:
        if self._removed:
            raise MissingJournal(f"memory:{self.key}")
        if not self._open or not self._journals.alive:
            raise JournalClosed(f"memory:{self.key}")
        return self._journals.committed[self.key]


class MemoryJournals:
    """All journals of a memory store."""

    def __init__(self, *, late: bool = False, hook: Hook = no_hook) -> None:
        self.late = late
        self.alive = True
        self.committed: dict[Key, list[Line]] = {}
        self.blocks: dict[Key, dict[tuple[Stream, int], bytes]] = {}
        self.limit = 256
        self._hook = hook
        self._open: dict[Key, tuple[MemoryJournal, int]] = {}

    @property
    def open_files(self) -> int:
        """How many journals are open, for tests of hibernation."""
        return len(self._open)

    def commit(self, key: Key, lines: Sequence[Line]) -> None:
        """Make lines part of what survives a crash."""
        self._hook("journal.before_commit", key)
        self.committed[key] += lines
        self._hook("journal.after_commit", key)

    def commit_block(self, key: Key, stream: Stream, number: int, data: bytes) -> None:
        """Make a block part of what survives a crash."""
        self._hook("block.before_commit", key)
        self.blocks[key][stream, number] = data
        self._hook("block.after_commit", key)

    async def create(self, key: Key, lines: Sequence[Line], *, created: int, class_name: str = "") -> None:
        """Create a journal that holds these lines."""
        if key in self.committed:
            raise JournalExists(f"memory:{key}")
        self._hook("create.before_file", key)
        self.committed[key] = list(lines)
        self._hook("create.after_file", key)

    async def exists(self, key: Key) -> bool:
        """Whether the instance has a journal."""
        return key in self.committed

    async def open(self, key: Key) -> JournalFile:
        """Open a journal and keep it open until `release`."""
        if key not in self.committed:
            raise MissingJournal(f"memory:{key}")
        file, pins = self._open.get(key) or (MemoryJournal(key, self), 0)
        self._open[key] = file, pins + 1
        return file

    def release(self, file: JournalFile) -> None:
        """Take one `open` back."""
        found, pins = self._open.get(file.key, (None, 0))
        if found is file:
            assert pins > 0, f"{file.key} was released more often than opened"
            self._open[file.key] = found, pins - 1

    async def shut(self, key: Key) -> None:
        """Close the file now unless somebody still has it open."""
        file, pins = self._open.get(key, (None, 0))
        if file is not None and pins == 0:
            del self._open[key]
            await file.close()

    async def remove(self, key: Key) -> None:
        """Delete a journal; one that does not exist is as good as deleted."""
        file, _ = self._open.pop(key, (None, 0))
        if file is not None:
            await file.close(removed=True)
        self._hook("delete.before_file", key)
        self.committed.pop(key, None)
        self.blocks.pop(key, None)
        self._hook("delete.after_file", key)

    async def close(self) -> None:
        """Close every file."""
        for file, _ in self._open.values():
            await file.close()
        self._open.clear()
