"""Blocks of streams beside the lines of a journal, in every store."""

from __future__ import annotations

import asyncio
import sqlite3
from pathlib import Path

import pytest

from runtime.store import (
    DamagedJournal,
    JournalClosed,
    JournalFile,
    Journals,
    JournalStore,
    Key,
    MemoryStore,
    MissingJournal,
    StoreFull,
    Stream,
    journal,
)
from runtime.store.writers import ThreadedJournal
from tests.store.lines import append, line
from tests.store.test_writers import fill_up, make_room, outsider

pytestmark = pytest.mark.asyncio
KEY = Key("orders", "a")
STREAM = Stream(step=3, attempt=1)
BLOCK = bytes(range(256)) * 1024


async def opened(journals: JournalStore) -> JournalFile:
    await journals.create(KEY, [line(1)], created=5)
    return await journals.open(KEY)


async def reopened(journals: JournalStore, file: JournalFile) -> JournalFile:
    journals.release(file)
    await journals.shut(KEY)
    return await journals.open(KEY)


def tables(file: JournalFile) -> set[str]:
    assert isinstance(file, ThreadedJournal)
    plain = outsider(file)
    names = {name for (name,) in plain.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
    plain.close()
    return names


async def test_blocks_come_back_as_they_went_in(journals: JournalStore) -> None:
    file = await opened(journals)
    for number, data in enumerate([BLOCK, BLOCK[::-1], b"rest"]):
        await file.put_block(STREAM, number, data)
    await append(file, [line(2)])
    file = await reopened(journals, file)
    assert [await file.read_block(STREAM, number) for number in range(4)] == [BLOCK, BLOCK[::-1], b"rest", None]
    assert await file.read() == [line(1), line(2)]


async def test_a_file_without_streams_has_no_place_for_them(files: Journals) -> None:
    file = await opened(files)
    assert await file.streams() == set()
    assert await file.read_block(STREAM, 0) is None
    await file.drop_stream(STREAM)
    assert tables(file) == {"meta", "journal"}
    await file.put_block(STREAM, 0, b"x")
    assert tables(file) == {"meta", "journal", "blocks"}


async def test_the_streams_are_known_after_a_reopening(journals: JournalStore) -> None:
    file = await opened(journals)
    await file.put_block(STREAM, 0, b"a")
    await file.put_block(STREAM, 1, b"b")
    await file.put_block(Stream(7, 2), 0, b"c")
    file = await reopened(journals, file)
    assert await file.streams() == {STREAM, Stream(7, 2)}


async def test_a_dropped_stream_is_gone_and_no_other(journals: JournalStore) -> None:
    file = await opened(journals)
    await file.put_block(STREAM, 0, b"a")
    await file.put_block(Stream(3, 2), 0, b"b")
    await file.drop_stream(STREAM)
    assert await file.streams() == {Stream(3, 2)}
    assert await file.read_block(STREAM, 0) is None
    assert await file.read_block(Stream(3, 2), 0) == b"b"


async def test_a_removed_journal_has_no_blocks(journals: JournalStore) -> None:
    file = await opened(journals)
    await file.put_block(STREAM, 0, b"a")
    await journals.remove(KEY)
    with pytest.raises(MissingJournal):
        await file.read_block(STREAM, 0)
    again = await opened(journals)
    assert await again.streams() == set()


async def test_a_closed_journal_takes_none(journals: JournalStore) -> None:
    file = await opened(journals)
    journals.release(file)
    await journals.shut(KEY)
    with pytest.raises(JournalClosed):
        await file.put_block(STREAM, 0, b"a")


async def test_a_block_is_committed_before_the_line_that_is_appended_after_it(files: Journals) -> None:
    file = await opened(files)
    assert isinstance(file, ThreadedJournal)
    put = asyncio.ensure_future(file.put_block(STREAM, 0, BLOCK))
    await asyncio.sleep(0)
    await append(file, [line(2)])
    plain = outsider(file)
    assert plain.execute("SELECT count(*) FROM blocks").fetchone() == (1,)
    plain.close()
    await put


async def test_the_log_does_not_grow_without_end_while_streams_arrive_side_by_side(files: Journals) -> None:
    file = await opened(files)
    assert isinstance(file, ThreadedJournal)

    async def arrive(stream: Stream) -> None:
        for number in range(60):
            await file.put_block(stream, number, BLOCK)

    await asyncio.gather(*(arrive(Stream(step, 1)) for step in range(3)))  # 45 MiB
    assert Path(file.path + "-wal").stat().st_size < 3 * journal.CHECKPOINT_BYTES


async def test_dropping_a_long_stream_writes_little(files: Journals) -> None:
    file = await opened(files)
    assert isinstance(file, ThreadedJournal)
    for number in range(80):
        await file.put_block(STREAM, number, BLOCK)  # 20 MiB
    await file.drop_stream(STREAM)
    assert Path(file.path + "-wal").stat().st_size < 2 * journal.CHECKPOINT_BYTES
    size = Path(file.path).stat().st_size
    for number in range(80):
        await file.put_block(Stream(3, 2), number, BLOCK)
    file = await reopened(files, file)
    assert Path(files.path(KEY)).stat().st_size < size + journal.CHECKPOINT_BYTES  # its place was used again


async def test_a_small_commit_after_blocks_is_on_the_loop_again(tmp_path: Path) -> None:
    journals = Journals(tmp_path, "process")
    file = await opened(journals)
    await file.put_block(STREAM, 0, BLOCK)
    await append(file, [line(2)])
    assert file.append([line(3)]) is None
    await journals.close()


async def test_a_changed_block_is_found_by_its_checksum(files: Journals) -> None:
    file = await opened(files)
    await file.put_block(STREAM, 0, b"secret value")
    file = await reopened(files, file)
    plain = sqlite3.connect(files.path(KEY))
    plain.execute("UPDATE blocks SET data = ?", (b"secret valu%",))
    plain.commit()
    plain.close()
    with pytest.raises(DamagedJournal, match="block 0 of step 3 does not match its checksum"):
        await file.read_block(STREAM, 0)


async def test_a_full_disk_fails_the_block_and_it_can_be_repeated_later(files: Journals) -> None:
    file = await opened(files)
    assert isinstance(file, ThreadedJournal)
    await append(file, [line(2)])
    fill_up(file)
    with pytest.raises(StoreFull, match="No space is left"):
        await file.put_block(STREAM, 0, BLOCK)
    assert await file.read() == [line(1), line(2)]
    make_room(file)
    await file.put_block(STREAM, 0, BLOCK)
    assert await file.read_block(STREAM, 0) == BLOCK


async def test_another_programs_write_lock_delays_a_block(files: Journals) -> None:
    file = await opened(files)
    assert isinstance(file, ThreadedJournal)
    await append(file, [line(2)])
    other = outsider(file)
    other.execute("BEGIN IMMEDIATE")
    asyncio.get_running_loop().call_later(0.5, other.execute, "ROLLBACK")
    await file.put_block(STREAM, 0, BLOCK)
    other.close()
    assert await file.read_block(STREAM, 0) == BLOCK


async def test_a_crash_keeps_the_blocks_that_are_committed() -> None:
    store = MemoryStore()
    file = await opened(store.journals)
    await file.put_block(STREAM, 0, b"a")
    after = await store.crash().journals.open(KEY)
    with pytest.raises(JournalClosed):
        await file.put_block(STREAM, 1, b"b")
    assert (await after.read_block(STREAM, 0), await after.streams()) == (b"a", {STREAM})
