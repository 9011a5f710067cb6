"""What every journal store does, on disk by either way and in memory."""

from __future__ import annotations

import asyncio

import pytest

from runtime.store import JournalClosed, JournalExists, JournalStore, Key, Line, MissingJournal
from tests.store.lines import append, line

pytestmark = pytest.mark.asyncio
ORDER = Key("orders", "a")


async def test_a_created_journal_holds_its_first_lines(journals: JournalStore) -> None:
    await journals.create(ORDER, [line(1), line(2)], created=5)
    file = await journals.open(ORDER)
    assert await file.read() == [line(1), line(2)]
    assert file.next_seq == 3


async def test_lines_come_back_in_the_order_of_the_appends(journals: JournalStore) -> None:
    await journals.create(ORDER, [line(1)], created=5)
    file = await journals.open(ORDER)
    pending = [file.append([line(n), line(n + 1)]) for n in range(2, 100, 2)]
    await asyncio.gather(*(one for one in pending if one is not None))
    assert [found.seq for found in await file.read()] == list(range(1, 100))


async def test_reading_waits_for_the_appends_before_it(journals: JournalStore) -> None:
    await journals.create(ORDER, [line(1)], created=5)
    file = await journals.open(ORDER)
    pending = file.append([line(2)])
    assert await file.read() == [line(1), line(2)]
    if pending is not None:
        await pending


async def test_reading_can_start_after_a_line(journals: JournalStore) -> None:
    await journals.create(ORDER, [line(n) for n in range(1, 6)], created=5)
    file = await journals.open(ORDER)
    assert [found.seq for found in await file.read(after=3)] == [4, 5]


@pytest.mark.parametrize("count", [1, 16, 17, 500])
async def test_one_append_takes_any_number_of_lines(journals: JournalStore, count: int) -> None:
    await journals.create(ORDER, [line(1)], created=5)
    file = await journals.open(ORDER)
    await append(file, [line(n) for n in range(2, count + 2)])
    assert len(await file.read()) == count + 1


@pytest.mark.parametrize("data", ["", "é 日本 🙂", "a\0b", "x" * (1 << 20)], ids=["empty", "unicode", "nul", "1 MiB"])
async def test_data_comes_back_as_it_was(journals: JournalStore, data: str) -> None:
    await journals.create(ORDER, [line(1, data)], created=5)
    file = await journals.open(ORDER)
    await append(file, [line(2, data)])
    assert [found.data for found in await file.read()] == [data, data]


async def test_a_line_out_of_turn_is_refused(journals: JournalStore) -> None:
    await journals.create(ORDER, [line(1)], created=5)
    file = await journals.open(ORDER)
    with pytest.raises(AssertionError):
        file.append([line(3)])
    with pytest.raises(AssertionError):
        file.append([])
    assert await file.read() == [line(1)]


async def test_a_journal_is_created_once(journals: JournalStore) -> None:
    await journals.create(ORDER, [line(1)], created=5)
    with pytest.raises(JournalExists):
        await journals.create(ORDER, [line(1), line(2)], created=6)
    assert await (await journals.open(ORDER)).read() == [line(1)]


async def test_a_journal_that_does_not_exist_is_not_made_by_opening_it(journals: JournalStore) -> None:
    with pytest.raises(MissingJournal):
        await journals.open(ORDER)
    assert not await journals.exists(ORDER)


async def test_a_removed_journal_is_gone_and_its_id_free(journals: JournalStore) -> None:
    await journals.create(ORDER, [line(1), line(2)], created=5)
    file = await journals.open(ORDER)
    await append(file, [line(3)])
    await journals.remove(ORDER)
    with pytest.raises(MissingJournal):
        file.append([line(4)])
    await journals.create(ORDER, [line(1)], created=6)
    again = await journals.open(ORDER)
    journals.release(file)  # late, and of the file that was removed: the new one stays open
    with pytest.raises(MissingJournal):
        await file.read()
    await append(again, [line(2)])
    assert await again.read() == [line(1), line(2)]


async def test_removing_what_does_not_exist_is_no_error(journals: JournalStore) -> None:
    await journals.remove(ORDER)
    assert not await journals.exists(ORDER)


async def test_removing_what_another_just_opens_and_reads(journals: JournalStore) -> None:
    """Whichever comes first: the reader has all lines or hears that there is no journal, and nothing else."""

    async def look(turns: int) -> list[Line] | None:
        for _ in range(turns):
            await asyncio.sleep(0)
        try:
            file = await journals.open(ORDER)
            try:
                return await file.read()
            finally:
                journals.release(file)
                await journals.shut(ORDER)
        except MissingJournal:
            return None

    for before in range(12):
        await journals.create(ORDER, [line(1), line(2)], created=5)
        readers = [asyncio.create_task(look(turns)) for turns in range(12)]
        for _ in range(before):
            await asyncio.sleep(0)
        await asyncio.wait_for(journals.remove(ORDER), 20)
        found = await asyncio.wait_for(asyncio.gather(*readers), 20)
        assert all(lines in (None, [line(1), line(2)]) for lines in found)
        assert found[-1] is None or before > 0
        assert not await journals.exists(ORDER)


async def test_a_journal_can_be_created_while_the_old_one_is_being_removed(journals: JournalStore) -> None:
    await journals.create(ORDER, [line(1, "old")], created=5)
    await journals.open(ORDER)
    removing = asyncio.create_task(journals.remove(ORDER))
    await asyncio.sleep(0)
    await journals.create(ORDER, [line(1, "new")], created=6)
    await removing
    assert await (await journals.open(ORDER)).read() == [line(1, "new")]


async def test_a_closed_journal_can_be_opened_again(journals: JournalStore) -> None:
    await journals.create(ORDER, [line(1)], created=5)
    file = await journals.open(ORDER)
    await append(file, [line(2)])
    journals.release(file)
    await journals.shut(ORDER)
    with pytest.raises(JournalClosed):
        file.append([line(3)])
    assert await (await journals.open(ORDER)).read() == [line(1), line(2)]


async def test_an_open_journal_is_not_shut(journals: JournalStore) -> None:
    await journals.create(ORDER, [line(1)], created=5)
    first, second = await journals.open(ORDER), await journals.open(ORDER)
    journals.release(first)
    await journals.shut(ORDER)
    await append(second, [line(2)])


async def test_ids_of_two_workflows_do_not_meet(journals: JournalStore) -> None:
    await journals.create(Key("ab", "c"), [line(1)], created=5)
    await journals.create(Key("a", "bc"), [line(1), line(2)], created=5)
    assert len(await (await journals.open(Key("ab", "c"))).read()) == 1


async def test_a_cancelled_append_is_committed_all_the_same(journals: JournalStore) -> None:
    await journals.create(ORDER, [line(1)], created=5)
    file = await journals.open(ORDER)
    task = asyncio.create_task(append(file, [line(2)]))
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    await append(file, [line(3)])
    assert len(await file.read()) == 3
