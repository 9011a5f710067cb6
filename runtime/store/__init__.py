"""The state folder: one SQLite file per instance, a catalog of them, and the lock that gives the folder one owner."""

from __future__ import annotations

from runtime.store.catalog import Catalog
from runtime.store.errors import (
    DamagedCatalog,
    DamagedFile,
    DamagedJournal,
    FolderInUse,
    JournalClosed,
    JournalExists,
    MissingJournal,
    NewerStore,
    StoreBusy,
    StoreError,
    StoreFull,
    StoreUnusable,
)
from runtime.store.files import Journals
from runtime.store.folder import StateFolder
from runtime.store.memory import MemoryStore
from runtime.store.rebuild import Rebuilt
from runtime.store.store import Repair, Store
from runtime.store.types import (
    CatalogStore,
    Durability,
    JournalFile,
    JournalStore,
    Key,
    Line,
    NewRow,
    Row,
    RowState,
)

__all__ = [
    "Catalog",
    "CatalogStore",
    "DamagedCatalog",
    "DamagedFile",
    "DamagedJournal",
    "Durability",
    "FolderInUse",
    "JournalClosed",
    "JournalExists",
    "JournalFile",
    "JournalStore",
    "Journals",
    "Key",
    "Line",
    "MemoryStore",
    "MissingJournal",
    "NewRow",
    "NewerStore",
    "Rebuilt",
    "Repair",
    "Row",
    "RowState",
    "StateFolder",
    "Store",
    "StoreBusy",
    "StoreError",
    "StoreFull",
    "StoreUnusable",
]
