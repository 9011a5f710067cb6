"""The state folder: one SQLite file per instance, a catalog of them, and the lock that gives the folder one owner."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

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
from runtime.store.folder import StateFolder
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
    Stream,
)

if TYPE_CHECKING:
    from runtime.store.catalog import Catalog
    from runtime.store.files import Journals
    from runtime.store.memory import MemoryStore
    from runtime.store.rebuild import Rebuilt
    from runtime.store.store import Repair, Store

# The folder is taken before the isolates start, and these would hold that up by a tenth of a second.
_LATER = {
    "Catalog": "runtime.store.catalog",
    "Journals": "runtime.store.files",
    "MemoryStore": "runtime.store.memory",
    "Rebuilt": "runtime.store.rebuild",
    "Repair": "runtime.store.store",
    "Store": "runtime.store.store",
}


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_LATER[name]), name)


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
    "Stream",
]
