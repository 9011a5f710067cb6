"""Makes a lost catalog again from what the journals say of themselves."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import NamedTuple

from runtime.store.catalog import Catalog
from runtime.store.errors import StoreError
from runtime.store.journal import Description, JournalDb
from runtime.store.sqlite import LOCK_WAIT_MS
from runtime.store.types import Durability, Row

UNKNOWN = "unknown"  # the status of a rebuilt row, until the host has read its journal


class Rebuilt(NamedTuple):
    """What a rebuild found."""

    found: int  # journals, each now a row
    unreadable: list[StoreError]  # files that were left out, each with its path


async def rebuild(catalog: Catalog, folder: Path, durability: Durability = "process") -> Rebuilt:
    """Fill an empty catalog: every journal becomes a dirty row, which the host brings up to date as after a crash."""
    found, unreadable = await asyncio.to_thread(_describe_all, folder, durability)
    found.sort(key=lambda description: description.created)
    await catalog.restore([_row(position, description) for position, description in enumerate(found, 1)])
    return Rebuilt(len(found), unreadable)


def has_journals(folder: Path) -> bool:
    """Whether a folder holds the journal of any instance."""
    return next(folder.glob("??/*.db"), None) is not None


def _describe_all(folder: Path, durability: Durability) -> tuple[list[Description], list[StoreError]]:
    found: list[Description] = []
    unreadable: list[StoreError] = []
    for path in sorted(folder.glob("??/*.db")):
        try:
            db = JournalDb(str(path), durability, lock_wait_ms=LOCK_WAIT_MS)
            try:
                found.append(db.describe())
            finally:
                db.close()
        except StoreError as error:
            unreadable.append(error)
    return found, unreadable


def _row(position: int, description: Description) -> Row:
    return Row(
        position=position,
        workflow=description.key.workflow,
        id=description.key.id,
        class_name=description.class_name,
        state="live",
        status=UNKNOWN,
        created=description.created,
        updated=description.created,
        dirty=True,
    )
