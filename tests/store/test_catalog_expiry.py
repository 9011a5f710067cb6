"""Rows of finished instances: which have expired, who may delete them, and what an older file knew of it."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from runtime.store import Catalog, CatalogStore, Key, NewRow, Store, catalog_sql

pytestmark = pytest.mark.asyncio

A = Key("orders", "a")
DAY = 24 * 60 * 60 * 1000


async def ended(catalog: CatalogStore, **expiries: int | None) -> None:
    """Live, clean rows of these names that expire at these times."""
    for name, expires_at in expiries.items():
        key = Key("orders", name)
        await catalog.create([NewRow(key, "Order", "queued", 5)])
        await catalog.confirm([key])
        await catalog.settle(key, status="complete", wake_at=None, updated=9, started=6, ended=8, expires_at=expires_at)


async def names(catalog: CatalogStore, now: int, limit: int = 10) -> list[str]:
    return [row.id for row in await catalog.expired(now, limit)]


async def test_expired_rows_come_longest_expired_first(catalog: CatalogStore) -> None:
    await ended(catalog, a=300, b=100, c=200, d=400, e=None)

    assert await catalog.next_expiry() == 100
    assert await names(catalog, 300) == ["b", "c", "a"]
    assert await names(catalog, 300, limit=2) == ["b", "c"]
    assert await catalog.count_expired(300) == 3
    assert await names(catalog, 99) == []


async def test_where_nothing_has_ended_nothing_expires(catalog: CatalogStore) -> None:
    await ended(catalog, a=None)

    assert await catalog.next_expiry() is None
    assert await catalog.count_expired(2**53) == 0


async def test_a_row_tells_when_it_expires_until_it_is_settled_without_a_time(catalog: CatalogStore) -> None:
    await ended(catalog, a=100)
    before = await catalog.get(A)
    await catalog.settle(A, status="running", wake_at=None, updated=9, started=6, ended=None)
    after = await catalog.get(A)

    assert before is not None and before.expires_at == 100
    assert after is not None and after.expires_at is None


async def test_an_expired_row_is_given_to_whoever_deletes_it(catalog: CatalogStore) -> None:
    await ended(catalog, a=100)

    assert await catalog.begin_expiry(A, 100)
    assert await names(catalog, 100) == []
    assert [row.state for row in await catalog.half_done()] == ["deleting"]
    await catalog.end_delete([A])
    assert await catalog.get(A) is None


async def test_a_row_to_which_something_happens_does_not_expire(catalog: CatalogStore) -> None:
    await ended(catalog, a=100)
    await catalog.mark_dirty(A)

    assert await names(catalog, 100) == []
    assert await catalog.next_expiry() is None
    assert not await catalog.begin_expiry(A, 100)
    row = await catalog.get(A)
    assert row is not None and row.state == "live"


async def test_neither_a_row_before_its_time_nor_one_that_is_gone_is_given(catalog: CatalogStore) -> None:
    await ended(catalog, a=100, b=None)

    assert not await catalog.begin_expiry(A, 99)
    assert not await catalog.begin_expiry(Key("orders", "b"), 2**53)
    assert not await catalog.begin_expiry(Key("orders", "c"), 2**53)


async def test_a_deletion_that_did_not_end_may_be_gone_on_with(catalog: CatalogStore) -> None:
    await ended(catalog, a=100)
    await catalog.begin_delete([A])

    assert await catalog.begin_expiry(A, 0)


@pytest.mark.parametrize(
    "query", [catalog_sql.EXPIRED, catalog_sql.COUNT_EXPIRED, catalog_sql.NEXT_EXPIRY], ids=["rows", "count", "next"]
)
async def test_what_the_sweeper_asks_is_answered_from_an_index(tmp_path: Path, query: str) -> None:
    await (await Catalog.open(tmp_path / "catalog.db")).close()
    with closing(sqlite3.connect(tmp_path / "catalog.db")) as plain:
        ((*_, plan),) = plain.execute("EXPLAIN QUERY PLAN " + query, [0] * query.count("?")).fetchall()
    assert "INDEX expiring" in plan
    assert "TEMP B-TREE" not in plan


# ------------------------------------------------------------------------------------------------------- version 1

VERSION_1 = """
    CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
    CREATE TABLE instances (
        position INTEGER PRIMARY KEY,
        workflow TEXT NOT NULL, id TEXT NOT NULL, class_name TEXT NOT NULL,
        state TEXT NOT NULL, status TEXT NOT NULL,
        created INTEGER NOT NULL, updated INTEGER NOT NULL, started INTEGER, ended INTEGER, wake_at INTEGER,
        dirty INTEGER NOT NULL,
        UNIQUE (workflow, id)
    );
    CREATE INDEX paged ON instances (workflow, position) WHERE state = 'live';
    CREATE INDEX listed ON instances (workflow, status, position) WHERE state = 'live';
    CREATE INDEX waking ON instances (wake_at) WHERE state = 'live' AND dirty = 0 AND wake_at IS NOT NULL;
    CREATE INDEX unsettled ON instances (position) WHERE state = 'live' AND dirty = 1;
    CREATE INDEX unfinished ON instances (position) WHERE state <> 'live';
    INSERT INTO meta VALUES ('clock_offset_ms', '42');
    INSERT INTO instances VALUES
        (1, 'orders', 'done', 'Order', 'live', 'complete', 100, 900, 100, 800, NULL, 0),
        (2, 'orders', 'failed', 'Order', 'live', 'errored', 100, 900, 100, 700, NULL, 0),
        (3, 'orders', 'asleep', 'Order', 'live', 'waiting', 100, 900, 100, NULL, 5000, 0),
        (4, 'orders', 'active', 'Order', 'live', 'running', 100, 900, 100, NULL, NULL, 1),
        (5, 'orders', 'half', 'Order', 'creating', 'queued', 100, 100, NULL, NULL, NULL, 1);
    PRAGMA user_version = 1;
    PRAGMA journal_mode = WAL;
"""


@pytest.fixture
def version_1(tmp_path: Path) -> Path:
    """A catalog as the first version of celld-py left it."""
    with closing(sqlite3.connect(tmp_path / "catalog.db")) as plain:
        plain.executescript(VERSION_1)
    return tmp_path / "catalog.db"


async def test_a_catalog_of_version_1_keeps_its_rows(version_1: Path) -> None:
    catalog = await Catalog.open(version_1)

    rows = {row.id: row for row in await catalog.list()}
    assert list(rows) == ["active", "asleep", "failed", "done"]
    done, asleep = rows["done"], rows["asleep"]
    assert (done.position, done.class_name, done.status, done.created, done.updated) == (
        1,
        "Order",
        "complete",
        100,
        900,
    )
    assert (done.started, done.ended, done.wake_at, done.dirty) == (100, 800, None, False)
    assert (asleep.wake_at, asleep.expires_at) == (5000, None)
    assert [row.id for row in await catalog.half_done()] == ["half"]
    assert [row.id for row in await catalog.dirty_rows()] == ["active"]
    assert await catalog.get_meta("clock_offset_ms") == "42"
    await catalog.close()


async def test_what_had_ended_in_version_1_is_kept_for_30_days_from_its_end(version_1: Path) -> None:
    catalog = await Catalog.open(version_1)

    assert await names(catalog, 800 + 30 * DAY) == ["failed", "done"]
    assert await names(catalog, 800 + 30 * DAY - 1) == ["failed"]
    assert await names(catalog, 700 + 30 * DAY - 1) == []
    assert await catalog.next_expiry() == 700 + 30 * DAY
    await catalog.close()


async def test_a_migrated_catalog_is_like_a_new_one(version_1: Path, tmp_path: Path) -> None:
    await (await Catalog.open(version_1)).close()
    await (await Catalog.open(tmp_path / "new.db")).close()

    def shape(path: Path) -> tuple[object, ...]:
        with closing(sqlite3.connect(path)) as plain:
            columns = {name for _, name, *_ in plain.execute("PRAGMA table_info(instances)")}
            indexes = set(plain.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL"))
            return columns, {(n, " ".join(s.split())) for n, s in indexes}, *plain.execute("PRAGMA user_version")

    assert shape(version_1) == shape(tmp_path / "new.db")


async def test_a_state_folder_of_version_1_is_opened_as_it_is(tmp_path: Path) -> None:
    store = await Store.open(tmp_path)
    await store.close()
    (tmp_path / "catalog.db").unlink()
    with closing(sqlite3.connect(tmp_path / "catalog.db")) as plain:
        plain.executescript(VERSION_1)

    store = await Store.open(tmp_path)

    assert store.repair is None
    assert len(await store.catalog.list()) == 4
    await store.close()
