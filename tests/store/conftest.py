"""The stores that one suite runs over."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from runtime.store import Catalog, CatalogStore, Journals, JournalStore, MemoryStore


@pytest_asyncio.fixture(params=["direct", "threaded", "memory", "memory-late"])
async def journals(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[JournalStore]:
    store: JournalStore
    match request.param:
        case "direct":
            store = Journals(tmp_path, "process")
        case "threaded":
            store = Journals(tmp_path, "power")
        case kind:
            store = MemoryStore(late=kind == "memory-late").journals
    yield store
    await store.close()


@pytest_asyncio.fixture(params=["process", "power"])
async def files(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Journals]:
    store = Journals(tmp_path, request.param)
    yield store
    await store.close()


@pytest_asyncio.fixture(params=["process", "power", "memory"])
async def catalog(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[CatalogStore]:
    store: CatalogStore
    if request.param == "memory":
        store = MemoryStore().catalog
    else:
        store = await Catalog.open(tmp_path / "catalog.db", request.param)
    yield store
    await store.close()
