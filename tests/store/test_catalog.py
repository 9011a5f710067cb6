"""One row per instance: duplicates, paging, wake-ups, and what start-up has to repair."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from pathlib import Path

import pytest

from runtime.store import (
    Catalog,
    CatalogStore,
    DamagedCatalog,
    Key,
    NewerStore,
    NewRow,
    StoreFull,
    StoreUnusable,
    catalog_sql,
    groups,
)

pytestmark = pytest.mark.asyncio


def new(name: str, workflow: str = "orders", created: int = 5) -> NewRow:
    return NewRow(Key(workflow, name), "Order", "queued", created)


async def live(catalog: CatalogStore, *names: str, workflow: str = "orders") -> list[Key]:
    rows = [new(name, workflow) for name in names]
    assert await catalog.create(rows) == set()
    await catalog.confirm([row.key for row in rows])
    return [row.key for row in rows]


async def settle(catalog: CatalogStore, key: Key, status: str = "waiting", wake_at: int | None = None) -> None:
    await catalog.settle(key, status=status, wake_at=wake_at, updated=9, started=6, ended=None)


async def test_a_new_row_is_creating_until_it_is_confirmed(catalog: CatalogStore) -> None:
    await catalog.create([new("a")])
    assert await catalog.list() == []
    (row,) = await catalog.half_done()
    assert (row.key, row.state, row.status, row.class_name, row.created, row.dirty) == (
        Key("orders", "a"),
        "creating",
        "queued",
        "Order",
        5,
        True,
    )
    await catalog.confirm([row.key])
    assert await catalog.half_done() == []
    assert [found.id for found in await catalog.list("orders")] == ["a"]
    assert [found.id for found in await catalog.dirty_rows()] == ["a"]


async def test_an_existing_id_is_reported_and_left_alone(catalog: CatalogStore) -> None:
    (key,) = await live(catalog, "a")
    await settle(catalog, key, "complete")
    assert await catalog.create([new("a"), new("b"), new("a", "mails")]) == {key}
    row = await catalog.get(key)
    assert row is not None
    assert (row.state, row.status) == ("live", "complete")
    assert [found.id for found in await catalog.half_done()] == ["b", "a"]


async def test_of_64_creates_of_one_id_at_once_one_wins(catalog: CatalogStore) -> None:
    results = await asyncio.gather(*(catalog.create([new("a")]) for _ in range(64)))
    assert results.count(set()) == 1
    assert results.count({Key("orders", "a")}) == 63


async def test_one_call_creates_an_id_once(catalog: CatalogStore) -> None:
    with pytest.raises(AssertionError):
        await catalog.create([new("a"), new("a")])


async def test_a_deleted_id_is_free_again(catalog: CatalogStore) -> None:
    (key,) = await live(catalog, "a")
    await catalog.begin_delete([key])
    assert await catalog.list() == []
    assert await catalog.create([new("a")]) == {key}
    assert [row.state for row in await catalog.half_done()] == ["deleting"]
    await catalog.end_delete([key])
    assert await catalog.get(key) is None
    assert await catalog.create([new("a")]) == set()


async def test_a_creation_that_failed_is_taken_back(catalog: CatalogStore) -> None:
    await catalog.create([new("a")])
    await catalog.end_delete([Key("orders", "a")])
    assert await catalog.get(Key("orders", "a")) is None


async def test_a_live_row_cannot_be_forgotten_by_mistake(catalog: CatalogStore) -> None:
    (key,) = await live(catalog, "a")
    await catalog.end_delete([key])
    assert await catalog.get(key) is not None


async def test_a_settled_row_is_clean_until_the_next_activation(catalog: CatalogStore) -> None:
    (key,) = await live(catalog, "a")
    await settle(catalog, key, wake_at=100)
    assert await catalog.dirty_rows() == []
    await catalog.mark_dirty(key)
    (row,) = await catalog.dirty_rows()
    assert (row.status, row.wake_at, row.updated, row.started, row.ended) == ("waiting", 100, 9, 6, None)


async def test_due_rows_come_longest_overdue_first(catalog: CatalogStore) -> None:
    times = {"a": 300, "b": 100, "c": 200, "d": 400, "e": None}
    for key in await live(catalog, *times):
        await settle(catalog, key, wake_at=times[key.id])
    assert await catalog.next_wake() == 100
    assert [row.id for row in await catalog.due(300, 10)] == ["b", "c", "a"]
    assert [row.id for row in await catalog.due(300, 2)] == ["b", "c"]
    assert await catalog.due(99, 10) == []


async def test_an_active_instance_keeps_its_own_timers(catalog: CatalogStore) -> None:
    (key,) = await live(catalog, "a")
    await settle(catalog, key, wake_at=100)
    await catalog.mark_dirty(key)
    assert await catalog.next_wake() is None
    assert await catalog.due(1000, 10) == []


async def test_pages_go_from_the_newest_to_the_oldest(catalog: CatalogStore) -> None:
    await live(catalog, *(str(n) for n in range(7)))
    await live(catalog, "other", workflow="mails")
    first = await catalog.list("orders", limit=3)
    second = await catalog.list("orders", limit=3, after=first[-1].position)
    third = await catalog.list("orders", limit=3, after=second[-1].position)
    assert [row.id for row in [*first, *second, *third]] == ["6", "5", "4", "3", "2", "1", "0"]
    assert len(await catalog.list()) == 8


async def test_a_page_is_not_disturbed_by_what_is_created_meanwhile(catalog: CatalogStore) -> None:
    await live(catalog, "a", "b", "c")
    first = await catalog.list("orders", limit=2)
    await live(catalog, "d")
    assert [row.id for row in await catalog.list("orders", after=first[-1].position)] == ["a"]


async def test_rows_are_listed_and_counted_by_status(catalog: CatalogStore) -> None:
    a, _, c = await live(catalog, "a", "b", "c")
    await live(catalog, "m", workflow="mails")
    await settle(catalog, a, "complete")
    await settle(catalog, c, "complete")
    assert [row.id for row in await catalog.list("orders", status="complete")] == ["c", "a"]
    assert [row.id for row in await catalog.list(status="queued")] == ["m", "b"]
    assert await catalog.counts() == {"orders": {"complete": 2, "queued": 1}, "mails": {"queued": 1}}


async def test_values_are_kept_with_the_catalog(catalog: CatalogStore) -> None:
    assert await catalog.get_meta("clock") is None
    await catalog.set_meta("clock", "1000")
    await catalog.set_meta("clock", "2000")
    assert await catalog.get_meta("clock") == "2000"


async def test_everything_is_there_after_closing_and_opening(tmp_path: Path) -> None:
    catalog = await Catalog.open(tmp_path / "catalog.db")
    (key,) = await live(catalog, "a")
    await settle(catalog, key, wake_at=100)
    await catalog.set_meta("clock", "1000")
    await catalog.close()
    assert [path.name for path in tmp_path.iterdir()] == ["catalog.db"]
    catalog = await Catalog.open(tmp_path / "catalog.db")
    assert await catalog.next_wake() == 100
    assert await catalog.get_meta("clock") == "1000"
    await catalog.close()


async def test_closing_commits_what_waits(tmp_path: Path) -> None:
    catalog = await Catalog.open(tmp_path / "catalog.db")
    tasks = [asyncio.create_task(catalog.create([new(str(n))])) for n in range(10)]
    await asyncio.sleep(0)
    await catalog.close()
    assert await asyncio.gather(*tasks) == [set()] * 10


async def test_writes_asked_for_at_once_are_committed_in_groups(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    catalog = await Catalog.open(tmp_path / "catalog.db")
    commits: list[str] = []
    monkeypatch.setattr(groups, "fault", commits.append)
    await asyncio.gather(*(catalog.create([new(str(n))]) for n in range(500)))
    await asyncio.gather(*(catalog.mark_dirty(Key("orders", str(n))) for n in range(500)))
    assert commits.count("catalog.after_commit") <= 4
    assert len(await catalog.half_done()) == 500
    await catalog.close()


async def test_a_group_is_committed_before_its_writers_go_on(tmp_path: Path) -> None:
    catalog = await Catalog.open(tmp_path / "catalog.db")
    other = sqlite3.connect(tmp_path / "catalog.db")

    async def create_and_look(name: str) -> bool:
        await catalog.create([new(name)])
        return bool(other.execute("SELECT 1 FROM instances WHERE id = ?", (name,)).fetchall())

    assert all(await asyncio.gather(*(create_and_look(str(n)) for n in range(100))))
    other.close()
    await catalog.close()


async def test_one_bad_value_fails_only_its_own_write(tmp_path: Path) -> None:
    catalog = await Catalog.open(tmp_path / "catalog.db")
    keys = await live(catalog, "a", "b", "c")
    results = await asyncio.gather(
        catalog.mark_dirty(keys[0]),
        settle(catalog, keys[1], "\ud800"),
        settle(catalog, keys[2], "running"),
        return_exceptions=True,
    )
    assert [type(result) for result in results] == [type(None), UnicodeEncodeError, type(None)]
    assert await catalog.counts() == {"orders": {"queued": 2, "running": 1}}
    await catalog.close()


async def test_a_full_disk_fails_the_group_and_later_writes_go_on(tmp_path: Path) -> None:
    catalog = await Catalog.open(tmp_path / "catalog.db")
    await live(catalog, "a")
    (pages,) = (await catalog._db.execute_fetchall("PRAGMA page_count"))[0]  # type: ignore[index]
    await catalog._db.execute(f"PRAGMA max_page_count = {pages}")
    big = "x" * 10_000
    results = await asyncio.gather(*(catalog.create([new(big + str(n))]) for n in range(5)), return_exceptions=True)
    assert all(isinstance(result, StoreFull) for result in results)
    assert [row.id for row in await catalog.list()] == ["a"]
    await catalog._db.execute("PRAGMA max_page_count = 1000000")
    assert await catalog.create([new(big)]) == set()
    await catalog.close()


async def test_a_group_that_cannot_even_be_rolled_back_fails_and_later_writes_try_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    catalog = await Catalog.open(tmp_path / "catalog.db")
    execute, broken = catalog._db.execute, True

    async def refuse(statement: str) -> object:
        if broken and statement in ("COMMIT", "ROLLBACK"):
            raise sqlite3.OperationalError(f"no {statement}")
        return await execute(statement)

    monkeypatch.setattr(catalog._db, "execute", refuse)
    group = asyncio.gather(*(catalog.create([new(str(n))]) for n in range(3)), return_exceptions=True)
    await asyncio.sleep(0)  # the first three are a group, the others wait for its end
    await asyncio.sleep(0)
    waiting = asyncio.gather(*(catalog.create([new(str(n))]) for n in range(3, 5)), return_exceptions=True)
    failures = [*await group, *await waiting]
    broken = False

    assert [str(error) for error in failures] == [f"{tmp_path}/catalog.db cannot be used: no ROLLBACK."] * 5
    assert await catalog.half_done() == []
    assert await catalog.create([new("0")]) == set()
    assert [row.id for row in await catalog.half_done()] == ["0"]
    await catalog.close()
    other = sqlite3.connect(tmp_path / "catalog.db")
    assert other.execute("SELECT id FROM instances").fetchall() == [("0",)]
    other.close()


async def test_a_write_after_closing_fails_and_waits_for_nothing(tmp_path: Path) -> None:
    catalog = await Catalog.open(tmp_path / "catalog.db")
    await catalog.close()
    for _ in range(2):
        with pytest.raises(ValueError, match="no active connection"):
            await catalog.create([new("a")])


async def test_another_programs_write_lock_only_delays(tmp_path: Path) -> None:
    catalog = await Catalog.open(tmp_path / "catalog.db")
    other = sqlite3.connect(tmp_path / "catalog.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    asyncio.get_running_loop().call_later(1.0, other.execute, "ROLLBACK")
    assert await catalog.create([new("a")]) == set()
    other.close()
    await catalog.close()


async def test_a_newer_catalog_is_refused(tmp_path: Path) -> None:
    await (await Catalog.open(tmp_path / "catalog.db")).close()
    plain = sqlite3.connect(tmp_path / "catalog.db")
    plain.execute("PRAGMA user_version = 9")
    plain.close()
    with pytest.raises(NewerStore, match="version 9"):
        await Catalog.open(tmp_path / "catalog.db")
    assert [path.name for path in tmp_path.iterdir()] == ["catalog.db"]


async def test_a_damaged_catalog_is_set_aside_at_opening(tmp_path: Path) -> None:
    path = tmp_path / "catalog.db"
    path.write_bytes(b"\xff" * 8192)
    with pytest.raises(DamagedCatalog) as caught:
        await Catalog.open(path)
    assert Path(caught.value.moved_to).read_bytes() == b"\xff" * 8192
    assert not path.exists()


async def test_damage_met_while_running_is_reported_from_then_on(tmp_path: Path) -> None:
    path = tmp_path / "catalog.db"
    catalog = await Catalog.open(path)
    await live(catalog, *(f"{n:0200}" for n in range(500)))
    await catalog.close()
    contents = bytearray(path.read_bytes())
    for page in range(len(contents) // 8192 * 4096, len(contents), 4096):
        contents[page : page + 100] = b"\xff" * 100
    path.write_bytes(contents)
    catalog = await Catalog.open(path)
    with pytest.raises(DamagedCatalog) as first:
        await catalog.list()
    with pytest.raises(DamagedCatalog) as second:
        await catalog.list()
    await catalog.close()
    assert first.value is second.value
    assert Path(first.value.moved_to).exists()
    assert not path.exists()


async def test_a_damaged_catalog_that_cannot_be_set_aside_is_told_by_every_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    catalog = await Catalog.open(tmp_path / "catalog.db")
    monkeypatch.setattr("os.rename", refuse)

    async def damaged(*_: object) -> None:
        error = sqlite3.DatabaseError("malformed")
        error.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
        raise error

    monkeypatch.setattr(catalog._db, "execute_fetchall", damaged)
    for _ in range(2):
        with pytest.raises(StoreUnusable, match=r"it is damaged and cannot be renamed \(Permission denied\)"):
            await catalog.create([new("a")])
    with pytest.raises(StoreUnusable, match="cannot be renamed"):
        await catalog.list()
    await catalog.close()


async def test_a_damaged_catalog_that_cannot_be_set_aside_is_not_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    (tmp_path / "catalog.db").write_bytes(b"\xff" * 8192)
    monkeypatch.setattr("os.rename", refuse)
    with pytest.raises(StoreUnusable, match="it is damaged and cannot be renamed"):
        await Catalog.open(tmp_path / "catalog.db")


PAGE = catalog_sql.SELECT + "WHERE state = 'live' AND {} ORDER BY position DESC LIMIT ?"


@pytest.mark.parametrize(
    ("query", "index"),
    [
        (catalog_sql.DIRTY_ROWS, "unsettled"),
        (catalog_sql.HALF_DONE, "unfinished"),
        (catalog_sql.NEXT_WAKE, "waking"),
        (catalog_sql.DUE, "waking"),
        (catalog_sql.COUNTS, "listed"),
        (PAGE.format("workflow = ?"), "paged"),
        (PAGE.format("workflow = ? AND position < ?"), "paged"),
        (PAGE.format("workflow = ? AND status = ? AND position < ?"), "listed"),
    ],
)
async def test_what_start_up_and_listing_ask_is_answered_from_an_index(tmp_path: Path, query: str, index: str) -> None:
    """So that 100,000 sleeping rows cost nothing: no question scans or sorts them all."""
    await (await Catalog.open(tmp_path / "catalog.db")).close()
    plain = sqlite3.connect(tmp_path / "catalog.db")
    values = [0] * query.count("?")
    ((*_, plan),) = plain.execute("EXPLAIN QUERY PLAN " + query, values).fetchall()
    plain.close()
    assert f"INDEX {index}" in plan
    assert "TEMP B-TREE" not in plan


async def test_ids_may_hold_what_json_escapes(catalog: CatalogStore) -> None:
    name = json.dumps({"a": ["\u2028", "'", '"', "\\", "é"]})
    await live(catalog, name)
    assert await catalog.create([new(name)]) == {Key("orders", name)}


async def test_what_an_active_instance_does_is_noted_for_lists_and_it_stays_dirty(catalog: CatalogStore) -> None:
    (key,) = await live(catalog, "a")

    await catalog.note(key, status="running", updated=7, started=5)

    (row,) = await catalog.list(status="running")
    assert (row.updated, row.started, row.dirty) == (7, 5, True)


async def test_a_note_that_comes_too_late_changes_nothing(catalog: CatalogStore) -> None:
    (key,) = await live(catalog, "a")
    await settle(catalog, key)

    await catalog.note(key, status="running", updated=10, started=5)
    await catalog.note(Key("orders", "never was"), status="running", updated=10, started=5)

    (row,) = await catalog.list()
    assert (row.status, row.updated, row.dirty) == ("waiting", 9, False)
