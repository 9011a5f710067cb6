"""The whole state folder: opened, closed, and repaired when its catalog is lost."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from runtime.store import (
    DamagedCatalog,
    DamagedJournal,
    Durability,
    FolderInUse,
    Key,
    MissingJournal,
    NewRow,
    Store,
    StoreUnusable,
)
from tests.store.lines import append, line

pytestmark = pytest.mark.asyncio


async def create(store: Store, *names: str) -> list[Key]:
    """What the host does: row, file, row."""
    keys = [Key("orders", name) for name in names]
    for created, key in enumerate(keys, 5):
        await store.catalog.create([NewRow(key, "Order", "queued", created)])
        await store.journals.create(key, [line(1)], created=created, class_name="Order")
        await store.catalog.confirm([key])
        await store.catalog.settle(key, status="waiting", wake_at=100, updated=6, started=6, ended=None)
    return keys


@pytest.mark.parametrize("durability", ["process", "power"])
async def test_a_folder_is_made_used_and_found_again(tmp_path: Path, durability: Durability) -> None:
    store = await Store.open(tmp_path / "deep" / "state", durability)
    (key,) = await create(store, "a")
    file = await store.journals.open(key)
    await append(file, [line(2)])
    await store.close()
    store = await Store.open(tmp_path / "deep" / "state", durability)
    assert await (await store.journals.open(key)).read() == [line(1), line(2)]
    assert await store.catalog.next_wake() == 100
    assert store.repair is None
    await store.close()


async def test_git_ignores_the_folder(tmp_path: Path) -> None:
    await (await Store.open(tmp_path / "state")).close()
    assert (tmp_path / "state" / ".gitignore").read_text() == "*\n"


async def test_a_lost_catalog_is_rebuilt_from_the_journals(tmp_path: Path) -> None:
    store = await Store.open(tmp_path)
    await create(store, "a", "b", "c")
    await store.close()
    (tmp_path / "catalog.db").unlink()
    store = await Store.open(tmp_path)
    assert store.repair is not None
    assert (store.repair.damage, store.repair.rebuilt.found, store.repair.rebuilt.unreadable) == (None, 3, [])
    rows = await store.catalog.dirty_rows()
    assert [(row.id, row.class_name, row.status, row.created) for row in rows] == [
        ("a", "Order", "unknown", 5),
        ("b", "Order", "unknown", 6),
        ("c", "Order", "unknown", 7),
    ]
    assert await store.catalog.create([NewRow(rows[0].key, "Order", "queued", 9)]) == {rows[0].key}
    await store.close()


async def test_a_damaged_catalog_is_rebuilt_and_the_damage_told(tmp_path: Path) -> None:
    store = await Store.open(tmp_path)
    await create(store, "a")
    await store.close()
    (tmp_path / "catalog.db").write_bytes(b"\xff" * 8192)
    store = await Store.open(tmp_path)
    assert store.repair is not None
    assert isinstance(store.repair.damage, DamagedCatalog)
    assert Path(store.repair.damage.moved_to).exists()
    assert [row.id for row in await store.catalog.list()] == ["a"]
    await store.close()
    store = await Store.open(tmp_path)
    assert store.repair is None
    await store.close()


async def test_a_damaged_journal_does_not_hinder_the_rebuild(tmp_path: Path) -> None:
    store = await Store.open(tmp_path)
    a, _ = await create(store, "a", "b")
    damaged = Path(store.journals.path(a))
    await store.close()
    damaged.write_bytes(b"\xff" * 8192)
    (tmp_path / "catalog.db").unlink()
    store = await Store.open(tmp_path)
    assert store.repair is not None
    (error,) = store.repair.rebuilt.unreadable
    assert isinstance(error, DamagedJournal)
    assert error.path == str(damaged)
    assert [row.id for row in await store.catalog.list()] == ["b"]
    await store.close()


async def test_a_damaged_journal_harms_no_other_and_stays_reported(tmp_path: Path) -> None:
    store = await Store.open(tmp_path)
    a, b = await create(store, "a", "b")
    Path(store.journals.path(a)).write_bytes(b"\xff" * 8192)
    with pytest.raises(DamagedJournal) as first:
        await store.journals.open(a)
    with pytest.raises(DamagedJournal) as second:
        await store.journals.open(a)
    assert first.value.moved_to == second.value.moved_to
    assert await (await store.journals.open(b)).read() == [line(1)]
    with pytest.raises(MissingJournal):
        await store.journals.open(Key("orders", "c"))
    await store.close()


async def test_a_new_folder_needs_no_rebuild(tmp_path: Path) -> None:
    store = await Store.open(tmp_path)
    assert store.repair is None
    await store.close()


async def test_a_store_that_cannot_be_opened_gives_the_lock_back(tmp_path: Path) -> None:
    (tmp_path / "catalog.db").mkdir()
    for _ in range(2):
        with pytest.raises(StoreUnusable):
            await Store.open(tmp_path)


async def test_a_folder_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("a file")
    with pytest.raises(StoreUnusable, match="cannot be used"):
        await Store.open(tmp_path / "state")


async def test_only_the_user_may_read_the_lock(tmp_path: Path) -> None:
    store = await Store.open(tmp_path)
    assert stat.S_IMODE((tmp_path / "lock").stat().st_mode) == 0o600
    with pytest.raises(FolderInUse):
        await Store.open(tmp_path)
    await store.close()
