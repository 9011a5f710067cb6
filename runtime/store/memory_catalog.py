"""The catalog of a store in memory."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

import msgspec

from runtime.store.types import Key, NewRow, Row, Rows

Hook = Callable[[str, Key | None], None]
"""Called as ``hook("journal.before_commit", key)`` and so on; what it raises, the commit raises."""


def no_hook(point: str, key: Key | None) -> None:
    """Let every commit happen."""


class MemoryCatalog:
    """The catalog of a memory store; every call is a commit of its own."""

    def __init__(self, hook: Hook = no_hook) -> None:
        self.rows: dict[Key, Row] = {}
        self.meta: dict[str, str] = {}
        self.made = 0
        self._hook = hook

    async def create(self, rows: Sequence[NewRow]) -> set[Key]:
        """Add rows in state ``creating``, dirty; gives the keys that existed already and were left alone."""
        keys = {row.key for row in rows}
        assert len(keys) == len(rows), "one call creates each id once"
        existing = keys & self.rows.keys()
        self._hook("catalog.before_commit", None)
        for key, class_name, status, created in rows:
            if key not in existing:
                self.made += 1
                self.rows[key] = Row(
                    position=self.made,
                    workflow=key.workflow,
                    id=key.id,
                    class_name=class_name,
                    state="creating",
                    status=status,
                    created=created,
                    updated=created,
                    dirty=True,
                )
        self._hook("catalog.after_creating", None)
        return existing

    async def confirm(self, keys: Collection[Key]) -> None:
        """Make created rows ``live``."""
        self._change([key for key in keys if self._state(key) == "creating"], state="live")

    async def mark_dirty(self, key: Key) -> None:
        """Say, before the first write of an activation, that the row may soon be behind its journal."""
        self._change([key], dirty=True)

    async def note(self, key: Key, *, status: str, updated: int, started: int | None) -> None:
        """Say what an active instance does, for lists; the row stays dirty."""
        if key in self.rows and self.rows[key].dirty:
            self._change([key], status=status, updated=updated, started=started)

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
        times = {"wake_at": wake_at, "updated": updated, "started": started, "ended": ended, "expires_at": expires_at}
        self._change([key], status=status, dirty=False, **times)

    async def begin_delete(self, keys: Collection[Key]) -> None:
        """Say that the journals of these rows are about to be removed."""
        self._change(keys, state="deleting", dirty=True)

    async def begin_expiry(self, key: Key, now: int) -> bool:
        """Begin to delete an instance, if it has expired and nothing has happened to it since; or go on deleting it."""
        row = self.rows.get(key)
        if row is None or not (row.state == "deleting" or row.has_expired(now)):
            return False
        await self.begin_delete([key])
        return True

    async def end_delete(self, keys: Collection[Key]) -> None:
        """Forget rows whose journals are gone, or were never made."""
        self._hook("catalog.before_commit", None)
        for key in keys:
            if self._state(key) in ("creating", "deleting"):
                del self.rows[key]
        self._hook("catalog.after_commit", None)

    async def get(self, key: Key) -> Row | None:
        """The row of one instance, in whatever state."""
        return self.rows.get(key)

    async def list(
        self,
        workflow: str | None = None,
        *,
        status: str | None = None,
        limit: int = 100,
        after: int | None = None,
    ) -> Rows:
        """Live rows, newest first."""
        found = self._where(
            lambda row: (
                row.state == "live"
                and workflow in (None, row.workflow)
                and status in (None, row.status)
                and (after is None or row.position < after)
            )
        )
        return found[::-1][:limit]

    async def counts(self) -> dict[str, dict[str, int]]:
        """How many live instances each workflow has in each status."""
        found: dict[str, dict[str, int]] = {}
        for row in self._where(lambda row: row.state == "live"):
            statuses = found.setdefault(row.workflow, {})
            statuses[row.status] = statuses.get(row.status, 0) + 1
        return found

    async def dirty_rows(self) -> Rows:
        """Live rows that may be behind their journals, oldest first."""
        return self._where(lambda row: row.state == "live" and row.dirty)

    async def half_done(self) -> Rows:
        """Rows whose creation or deletion did not end, oldest first."""
        return self._where(lambda row: row.state != "live")

    async def due(self, now: int, limit: int) -> Rows:
        """Clean rows whose wake-up time has come, the longest overdue first."""
        waiting = self._where(lambda row: _clean(row) and row.wake_at is not None and row.wake_at <= now)
        return sorted(waiting, key=lambda row: row.wake_at or 0)[:limit]

    async def next_wake(self) -> int | None:
        """The earliest wake-up time of all clean rows."""
        return min((row.wake_at for row in self.rows.values() if _clean(row) and row.wake_at is not None), default=None)

    async def expired(self, now: int, limit: int) -> Rows:
        """Clean rows whose retention is over, the longest expired first."""
        return sorted(self._where(lambda row: row.has_expired(now)), key=lambda row: row.expires_at or 0)[:limit]

    async def count_expired(self, now: int) -> int:
        """How many rows `expired` would give without a limit."""
        return len(self._where(lambda row: row.has_expired(now)))

    async def next_expiry(self) -> int | None:
        """The earliest time at which a clean row expires."""
        times = (row.expires_at for row in self.rows.values() if _clean(row) and row.expires_at is not None)
        return min(times, default=None)

    async def get_meta(self, name: str) -> str | None:
        """A value kept with the catalog."""
        return self.meta.get(name)

    async def set_meta(self, name: str, value: str) -> None:
        """Keep a value with the catalog."""
        self.meta[name] = value

    async def close(self) -> None:
        """Nothing waits."""

    def _state(self, key: Key) -> str | None:
        row = self.rows.get(key)
        return row.state if row is not None else None

    def _change(self, keys: Collection[Key], **values: object) -> None:
        self._hook("catalog.before_commit", None)
        for key in keys:
            if key in self.rows:
                self.rows[key] = msgspec.structs.replace(self.rows[key], **values)
        self._hook("catalog.after_commit", None)

    def _where(self, wanted: Callable[[Row], bool]) -> Rows:
        return sorted(filter(wanted, self.rows.values()), key=lambda row: row.position)


def _clean(row: Row) -> bool:
    return row.state == "live" and not row.dirty
