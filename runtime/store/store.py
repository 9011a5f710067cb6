"""A state folder in use: its lock, its catalog and its journals."""

from __future__ import annotations

import asyncio
import os
from dataclasses import dataclass
from pathlib import Path

from runtime.store.catalog import Catalog
from runtime.store.errors import DamagedCatalog
from runtime.store.files import Journals
from runtime.store.folder import StateFolder
from runtime.store.rebuild import Rebuilt, has_journals, rebuild
from runtime.store.types import Durability


@dataclass(frozen=True)
class Repair:
    """A catalog that was lost and made again from the journals; to be told to the user."""

    damage: DamagedCatalog | None  # None: the file was missing
    rebuilt: Rebuilt


@dataclass(frozen=True)
class Store:
    """Everything that is kept for one project."""

    folder: StateFolder
    catalog: Catalog
    journals: Journals
    repair: Repair | None = None

    @classmethod
    async def open(cls, path: Path, durability: Durability = "process") -> Store:
        """Become the owner of a state folder and open it; the folder is made if it does not exist."""
        return await cls.over(await asyncio.to_thread(StateFolder.open, path, durability))

    @classmethod
    async def over(cls, folder: StateFolder) -> Store:
        """Open what is in a folder that we own; it is given up when that fails."""
        try:
            catalog, repair = await open_catalog(folder)
            return cls(folder, catalog, Journals(folder.journals, folder.durability), repair)
        except BaseException:
            folder.close()
            raise

    async def close(self) -> None:
        """Close all files and give the folder up."""
        await self.journals.close()
        await self.catalog.close()
        self.folder.close()


async def open_catalog(folder: StateFolder) -> tuple[Catalog, Repair | None]:
    """Open the catalog; one that is damaged or missing is made again from the journals."""
    damage = None
    missing = not os.path.exists(folder.catalog)  # noqa: ASYNC240 - once, at start-up
    try:
        catalog = await Catalog.open(folder.catalog, folder.durability)
    except DamagedCatalog as error:
        damage = error
        catalog = await Catalog.open(folder.catalog, folder.durability)
    if damage is None and not (missing and has_journals(folder.journals)):
        return catalog, None
    return catalog, Repair(damage, await rebuild(catalog, folder.journals, folder.durability))
