"""Where journals lie, and which of them are open."""

from __future__ import annotations

import asyncio
import os
import resource
import threading
from pathlib import Path

import pytest

from runtime.store import Journals, Key, MissingJournal, StoreUnusable, heap, sqlite
from runtime.store import files as store_files
from tests.store.lines import append, line

pytestmark = pytest.mark.asyncio


def descriptors_below(folder: Path) -> list[str]:
    """What this process has open in a folder."""
    names = []
    for entry in os.scandir("/proc/self/fd"):
        try:
            names.append(os.readlink(entry.path))
        except FileNotFoundError:  # the scan's own
            continue
    return [name for name in names if name.startswith(str(folder))]


async def create(journals: Journals, count: int) -> list[Key]:
    keys = [Key("orders", str(n)) for n in range(count)]
    await asyncio.gather(*(journals.create(key, [line(1)], created=5) for key in keys))
    return keys


async def test_an_idle_instance_has_one_file_and_no_descriptor(files: Journals, tmp_path: Path) -> None:
    (key,) = await create(files, 1)
    file = await files.open(key)
    await append(file, [line(2)])
    assert descriptors_below(tmp_path)
    files.release(file)
    await files.shut(key)
    assert descriptors_below(tmp_path) == []
    assert [str(path) for path in tmp_path.glob("*/*")] == [files.path(key)]


async def test_the_name_of_a_file_does_not_contain_the_id(files: Journals, tmp_path: Path) -> None:
    key = Key("orders", "../../../etc/passwd\n" + "x" * 300)
    await files.create(key, [line(1)], created=5)
    (path,) = tmp_path.glob("*/*")
    assert path.relative_to(tmp_path).as_posix() == store_files.file_name(key)
    assert len(path.name) == 33


async def test_the_longest_unused_file_is_closed_beyond_the_limit(tmp_path: Path) -> None:
    journals = Journals(tmp_path, limit=2)
    keys = await create(journals, 3)
    for key in keys:
        journals.release(await journals.open(key))
    assert journals.open_files == 2
    await journals.shut(keys[0])
    assert {Path(name).name for name in descriptors_below(tmp_path) if name.endswith(".db")} == {
        Path(journals.path(key)).name for key in keys[1:]
    }
    await journals.close()


async def test_files_in_use_stay_open_beyond_the_limit(tmp_path: Path) -> None:
    journals = Journals(tmp_path, limit=2)
    opened = [await journals.open(key) for key in await create(journals, 5)]
    for file in opened:
        await append(file, [line(2)])
    assert journals.open_files == 5
    for file in opened:
        journals.release(file)
    assert journals.open_files == 2
    await journals.close()


async def test_a_file_being_closed_can_be_opened_at_once(files: Journals) -> None:
    (key,) = await create(files, 1)
    for seq in range(2, 12):
        file = await files.open(key)
        pending = file.append([line(seq)])
        files.release(file)
        closing = asyncio.create_task(files.shut(key))
        await asyncio.sleep(0)
        again = await files.open(key)
        assert [found.seq for found in await again.read()] == list(range(1, seq + 1))
        files.release(again)
        await closing
        if pending is not None:
            await pending


async def test_files_opened_at_the_same_time_share_one_opening(files: Journals) -> None:
    (key,) = await create(files, 1)
    opened = await asyncio.gather(*(files.open(key) for _ in range(20)))
    assert all(file is opened[0] for file in opened)
    assert files.open_files == 1


async def test_a_cancelled_opening_pins_nothing(files: Journals) -> None:
    (key,) = await create(files, 1)
    task = asyncio.create_task(files.open(key))
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    await files.shut(key)
    assert files.open_files == 0


async def test_an_opening_that_a_removal_overtakes_finds_no_journal(files: Journals, tmp_path: Path) -> None:
    (key,) = await create(files, 1)
    opening = asyncio.create_task(files.open(key))
    await asyncio.sleep(0)
    assert files.open_files == 1
    await files.remove(key)
    with pytest.raises(MissingJournal):
        await opening
    assert files.open_files == 0
    assert descriptors_below(tmp_path) == []


async def test_an_opening_waits_until_a_removal_is_over(
    files: Journals, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (key,) = await create(files, 1)
    half, go = threading.Event(), threading.Event()

    def wait_half_way(*paths: str) -> None:
        sqlite_unlink(*paths[:2])  # the side files
        half.set()
        go.wait()
        sqlite_unlink(*paths[2:])

    sqlite_unlink = sqlite.unlink
    monkeypatch.setattr(sqlite, "unlink", wait_half_way)
    removing = asyncio.create_task(files.remove(key))
    await asyncio.to_thread(half.wait)
    opening = asyncio.create_task(files.open(key))
    looking = await asyncio.gather(files.exists(key), files.exists(key))  # time enough for an opening
    go.set()
    await removing
    assert all(looking)
    with pytest.raises(MissingJournal):
        await opening
    assert files.open_files == 0
    assert list(tmp_path.glob("*/*")) == []


async def test_a_cancelled_removal_happens_all_the_same(files: Journals, tmp_path: Path) -> None:
    (key,) = await create(files, 1)
    await files.open(key)
    removing = asyncio.create_task(files.remove(key))
    await asyncio.sleep(0)
    removing.cancel()
    await asyncio.gather(removing, return_exceptions=True)
    with pytest.raises(MissingJournal):
        await files.open(key)
    assert list(tmp_path.glob("*/*")) == []


async def test_a_removal_that_fails_is_told_to_its_caller_only(
    files: Journals, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: str) -> None:
        raise PermissionError(13, "Permission denied")

    (key,) = await create(files, 1)
    monkeypatch.setattr(sqlite, "unlink", refuse)
    removing = asyncio.create_task(files.remove(key))
    await asyncio.sleep(0)
    file = await files.open(key)
    with pytest.raises(StoreUnusable, match="Permission denied"):
        await removing
    assert await file.read() == [line(1)]


async def test_unused_files_are_closed_after_a_while(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_files, "IDLE_SECONDS", 0.0)
    journals = Journals(tmp_path)
    for key in await create(journals, 3):
        file = await journals.open(key)
        await append(file, [line(2)])
        journals.release(file)
    while journals.open_files or descriptors_below(tmp_path):
        await asyncio.sleep(0)
    assert list(tmp_path.glob("*/*-wal")) == []
    await journals.close()


async def test_memory_is_given_back_after_many_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given_back = asyncio.Event()
    loop = asyncio.get_running_loop()
    monkeypatch.setattr(store_files, "IDLE_SECONDS", 0.0)
    monkeypatch.setattr(store_files, "WORTH_TRIMMING", 3)
    monkeypatch.setattr(heap, "trim", lambda: loop.call_soon_threadsafe(given_back.set))
    journals = Journals(tmp_path)
    for key in await create(journals, 4):
        journals.release(await journals.open(key))
        await journals.shut(key)
    await given_back.wait()
    await journals.close()


async def test_giving_memory_back_works_or_does_nothing() -> None:
    heap.trim()


async def test_a_file_that_is_open_but_quiet_gets_its_log_moved_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_files, "IDLE_SECONDS", 0.0)
    journals = Journals(tmp_path)
    (key,) = await create(journals, 1)
    file = await journals.open(key)
    before = Path(journals.path(key)).read_bytes()
    await append(file, [line(2)])
    while Path(journals.path(key)).read_bytes() == before:
        await asyncio.sleep(0)
    await append(file, [line(3)])
    assert len(await file.read()) == 3
    await journals.close()


@pytest.mark.parametrize(("durability", "synced"), [("process", False), ("power", True)])
async def test_creating_and_deleting_reach_the_disk_only_in_power_mode(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, durability: str, synced: bool
) -> None:
    calls: list[str] = []
    monkeypatch.setattr("os.fsync", lambda fd: calls.append(os.readlink(f"/proc/self/fd/{fd}")))
    journals = Journals(tmp_path, "power" if durability == "power" else "process")
    (key,) = await create(journals, 1)
    path = journals.path(key)
    shard = os.path.dirname(path)
    assert calls == ([str(tmp_path), path + ".new", shard] if synced else [])
    calls.clear()
    await journals.remove(key)
    assert calls == ([shard] if synced else [])
    await journals.close()


async def test_a_log_left_behind_is_not_replayed_into_a_new_file(files: Journals) -> None:
    (key,) = await create(files, 1)
    file = await files.open(key)
    await append(file, [line(2, "old")])
    log = Path(files.path(key) + "-wal")
    old = log.read_bytes()
    await files.remove(key)
    log.write_bytes(old)
    await files.create(key, [line(1, "new")], created=6)
    assert await (await files.open(key)).read() == [line(1, "new")]


async def test_the_descriptor_limit_is_raised(tmp_path: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(512, hard), hard))
    try:
        store_files.raise_descriptor_limit()
        assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] == min(hard, store_files.MAX_DESCRIPTORS)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


async def test_a_thousand_activations_leave_nothing_behind(files: Journals, tmp_path: Path) -> None:
    keys = await create(files, 20)
    for turn in range(50):
        for key in keys:
            file = await files.open(key)
            if turn % 10 == 0:
                await append(file, [line(file.next_seq)])
            files.release(file)
            if turn % 5 == 0:
                await files.shut(key)
    for key in keys:
        await files.shut(key)
    assert descriptors_below(tmp_path) == []
    assert len(asyncio.all_tasks()) == 1
