"""The nouns of the store, and the seams that the host is written against."""

from __future__ import annotations

from collections.abc import Awaitable, Collection, Sequence
from typing import Literal, NamedTuple, Protocol

import msgspec

Durability = Literal["process", "power"]
"""What an acknowledged write survives: the death of the process, or the loss of power too."""

RowState = Literal["creating", "live", "deleting"]


class Key(NamedTuple):
    """Which instance: the workflow's name and the instance's id."""

    workflow: str
    id: str


class Line(NamedTuple):
    """One journal line. ``data`` is opaque to the store; ``seq`` counts from 1 without gaps."""

    seq: int
    at: int  # ms since the epoch
    kind: str
    data: str


class Stream(NamedTuple):
    """Which stream of an instance: the step whose attempt returned it. No pair is ever used twice."""

    step: int
    attempt: int


class NewRow(NamedTuple):
    """What the catalog is told of an instance that is about to be created."""

    key: Key
    class_name: str
    status: str
    created: int  # ms since the epoch


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One instance as the catalog knows it. Times are ms since the epoch."""

    position: int  # grows in the order of creation; the cursor of `list`
    workflow: str
    id: str
    class_name: str
    state: RowState
    status: str
    created: int
    updated: int
    started: int | None = None
    ended: int | None = None
    wake_at: int | None = None
    dirty: bool = False
    expires_at: int | None = None  # when the instance may be deleted; None until it has ended

    @property
    def key(self) -> Key:
        """The key of the row's instance."""
        return Key(self.workflow, self.id)

    def has_expired(self, now: int) -> bool:
        """Whether the instance's retention is over, and nothing is happening to it."""
        return self.state == "live" and not self.dirty and self.expires_at is not None and self.expires_at <= now


Rows = list[Row]  # a name of its own, as the catalog has a method `list`


class JournalFile(Protocol):
    """The open journal of one instance."""

    @property
    def key(self) -> Key:
        """Whose journal it is."""

    @property
    def next_seq(self) -> int:
        """The number that the next appended line must have."""

    async def read(self, after: int = 0) -> list[Line]:
        """Read all committed lines after a number, with one query; `MissingJournal` when it was removed."""

    def append(self, lines: Sequence[Line]) -> Awaitable[None] | None:
        """Append lines in one transaction: None means committed, otherwise await the commit.

        Appends commit in the order of the calls. When one fails, those queued behind it fail with the same error,
        nothing of them is written, and ``next_seq`` is again the number after the last committed line.
        """

    async def put_block(self, stream: Stream, number: int, data: bytes) -> None:
        """Commit one block of a stream, before whatever is appended from now on; blocks are numbered from 0."""

    async def read_block(self, stream: Stream, number: int) -> bytes | None:
        """Read one committed block; None when the stream has none of this number."""

    async def streams(self) -> set[Stream]:
        """All streams of which there is a block."""

    async def drop_stream(self, stream: Stream) -> None:
        """Delete all blocks of a stream."""

    async def close(self) -> None:
        """Close the file, after all appends made before."""


class JournalStore(Protocol):
    """All journals of a state folder."""

    @property
    def limit(self) -> int:
        """How many files stay open at once; the host admits no more active runs than this."""

    async def create(self, key: Key, lines: Sequence[Line], *, created: int, class_name: str = "") -> None:
        """Create a journal that holds these lines; it exists completely or not at all."""

    async def exists(self, key: Key) -> bool:
        """Whether the instance has a journal."""

    async def open(self, key: Key) -> JournalFile:
        """Open a journal and keep it open until `release`; `MissingJournal` when there is none, or soon is none."""

    def release(self, file: JournalFile) -> None:
        """Take one `open` back; the file stays open a while for the next one."""

    async def shut(self, key: Key) -> None:
        """Close the file now unless somebody still has it open, as for an instance that hibernates."""

    async def remove(self, key: Key) -> None:
        """Delete a journal; one that does not exist is as good as deleted."""

    async def close(self) -> None:
        """Close every file."""


class CatalogStore(Protocol):
    """One row per instance, for listing, for wake-ups and for what start-up has to repair."""

    async def create(self, rows: Sequence[NewRow]) -> set[Key]:
        """Add rows in state ``creating``, dirty; gives the keys that existed already and were left alone."""

    async def confirm(self, keys: Collection[Key]) -> None:
        """Make created rows ``live``: their journals exist."""

    async def mark_dirty(self, key: Key) -> None:
        """Say, before the first write of an activation, that the row may soon be behind its journal."""

    async def note(self, key: Key, *, status: str, updated: int, started: int | None) -> None:
        """Say what an active instance does, for lists; the row stays dirty."""

    async def settle(
        self,
        key: Key,
        *,
        status: str,
        wake_at: int | None,
        updated: int,
        started: int | None,
        ended: int | None,
        expires_at: int | None = None,
    ) -> None:
        """Bring the row up to its journal: it is clean, and wakes or expires at the given time."""

    async def begin_delete(self, keys: Collection[Key]) -> None:
        """Say that the journals of these rows are about to be removed."""

    async def begin_expiry(self, key: Key, now: int) -> bool:
        """Begin to delete an instance, if it has expired and nothing has happened to it since; or go on deleting it."""

    async def end_delete(self, keys: Collection[Key]) -> None:
        """Forget rows whose journals are gone; their ids are free again."""

    async def get(self, key: Key) -> Row | None:
        """The row of one instance, in whatever state."""

    async def list(
        self,
        workflow: str | None = None,
        *,
        status: str | None = None,
        limit: int = 100,
        after: int | None = None,
    ) -> Rows:
        """Live rows, newest first; ``after`` is the ``position`` of the last row of the page before."""

    async def counts(self) -> dict[str, dict[str, int]]:
        """How many live instances each workflow has in each status."""

    async def dirty_rows(self) -> Rows:
        """Live rows that may be behind their journals, oldest first."""

    async def half_done(self) -> Rows:
        """Rows whose creation or deletion did not end, oldest first."""

    async def due(self, now: int, limit: int) -> Rows:
        """Clean rows whose wake-up time has come, the longest overdue first."""

    async def next_wake(self) -> int | None:
        """The earliest wake-up time of all clean rows."""

    async def expired(self, now: int, limit: int) -> Rows:
        """Clean rows whose retention is over, the longest expired first."""

    async def count_expired(self, now: int) -> int:
        """How many rows `expired` would give without a limit."""

    async def next_expiry(self) -> int | None:
        """The earliest time at which a clean row expires."""

    async def get_meta(self, name: str) -> str | None:
        """A value kept with the catalog, such as the clock's offset."""

    async def set_meta(self, name: str, value: str) -> None:
        """Keep a value with the catalog."""

    async def close(self) -> None:
        """Commit what waits, and close."""
