"""The store in memory loses what was not committed, and nothing else."""

from __future__ import annotations

import pytest

from runtime.store import JournalClosed, Key, MemoryStore, NewRow
from tests.store.lines import append, line

pytestmark = pytest.mark.asyncio
KEY = Key("orders", "a")


async def created(store: MemoryStore) -> MemoryStore:
    await store.catalog.create([NewRow(KEY, "Order", "queued", 5)])
    await store.journals.create(KEY, [line(1)], created=5)
    return store


async def test_a_crash_keeps_what_is_committed() -> None:
    store = await created(MemoryStore())
    file = await store.journals.open(KEY)
    assert file.append([line(2)]) is None
    after = store.crash()
    assert await (await after.journals.open(KEY)).read() == [line(1), line(2)]
    assert [row.key for row in await after.catalog.half_done()] == [KEY]


async def test_a_crash_loses_what_still_waits() -> None:
    store = await created(MemoryStore(late=True))
    file = await store.journals.open(KEY)
    await append(file, [line(2)])
    file.append([line(3), line(4)])
    after = store.crash()
    assert await (await after.journals.open(KEY)).read() == [line(1), line(2)]


async def test_the_dead_process_can_no_longer_write() -> None:
    store = await created(MemoryStore())
    file = await store.journals.open(KEY)
    after = store.crash()
    with pytest.raises(JournalClosed):
        file.append([line(2)])
    assert await (await after.journals.open(KEY)).read() == [line(1)]


class Crash(Exception):
    pass


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize(("point", "kept"), [("journal.before_commit", 1), ("journal.after_commit", 2)])
async def test_a_hook_can_crash_before_and_after_a_commit(late: bool, point: str, kept: int) -> None:
    def hook(reached: str, key: Key | None) -> None:
        if reached == point:
            raise Crash

    store = await created(MemoryStore(late=late, hook=hook))
    file = await store.journals.open(KEY)
    with pytest.raises(Crash):
        await append(file, [line(2)])
    assert file.next_seq == kept + 1
    after = store.crash(hook=lambda point, key: None)
    assert len(await (await after.journals.open(KEY)).read()) == kept


async def test_appends_queued_behind_a_failed_one_fail_with_it() -> None:
    def hook(reached: str, key: Key | None) -> None:
        if reached == "journal.before_commit":
            raise Crash

    file = await (await created(MemoryStore(late=True, hook=hook))).journals.open(KEY)
    pending = [file.append([line(2)]), file.append([line(3)])]
    for one in pending:
        assert one is not None
        with pytest.raises(Crash):
            await one
    assert file.next_seq == 2
