"""What can go wrong with the state folder.

StoreError
├── FolderInUse         another running host owns the folder
├── NewerStore          the file was written by a newer celld-py
├── DamagedFile
│   ├── DamagedJournal  one instance's file
│   └── DamagedCatalog  the catalog, which can be rebuilt from the journals
├── MissingJournal      the instance has no file, or has it no more
├── JournalExists       a file is to be created where one is
├── JournalClosed       the file was closed or set aside while somebody still used it
├── StoreFull           the disk is full; nothing was written, the same call may be repeated later
├── StoreBusy           another program holds the file's lock for longer than we wait
└── StoreUnusable       any other failure of the disk, with the system's own words
"""

from __future__ import annotations

import os


class StoreError(Exception):
    """The root of the tree above; every message says what happened, where, and what to do."""


class FolderInUse(StoreError):
    """Another host runs on the state folder."""

    def __init__(self, path: str | os.PathLike[str], pid: int | None) -> None:
        self.path = os.fspath(path)
        self.pid = pid
        owner = f"process {pid}" if pid is not None else "a process that an earlier host left behind"
        super().__init__(
            f"The state folder {self.path} is in use by {owner}. "
            "Stop it first, or choose another folder with --persist-to."
        )


class NewerStore(StoreError):
    """A file has a schema that this version of celld-py does not know yet."""

    def __init__(self, path: str, found: int, known: int) -> None:
        self.path = path
        self.found = found
        self.known = known
        super().__init__(
            f"{path} has schema version {found}, but this celld-py knows versions up to {known}. "
            "Update celld-py, or choose another folder with --persist-to."
        )


class DamagedFile(StoreError):
    """A database is damaged and was set aside; nothing was created in its place."""

    what = "file"

    def __init__(self, path: str, moved_to: str, reason: str) -> None:
        self.path = path
        self.moved_to = moved_to
        self.reason = reason
        super().__init__(
            f"The {self.what} {path} is damaged ({reason}) and was set aside as {moved_to}. "
            "Keep that file if its contents matter; `sqlite3 FILE .recover` may read part of it."
        )


class DamagedJournal(DamagedFile):
    """The file of one instance is damaged and was set aside."""

    what = "journal"


class DamagedCatalog(DamagedFile):
    """The catalog is damaged and was set aside; the journals hold what is needed to rebuild it."""

    what = "catalog"


class MissingJournal(StoreError):
    """There is no file for an instance, or it was removed while somebody used it."""

    def __init__(self, path: str) -> None:
        self.path = path
        super().__init__(
            f"The file of an instance, {path}, is missing. "
            "Put it back if it was moved; otherwise delete the instance, whose history is lost."
        )


class JournalExists(StoreError):
    """A journal is to be created where there is one already."""

    def __init__(self, path: str) -> None:
        self.path = path
        super().__init__(
            f"An instance cannot be created because its file {path} exists already, from one that the catalog does "
            "not list. Move that file out of the state folder, or choose another id."
        )


class JournalClosed(StoreError):
    """A journal was used after it was closed or set aside."""

    def __init__(self, path: str) -> None:
        self.path = path
        super().__init__(
            f"The journal {path} was closed while its instance was still in use. "
            "Restart celld-py: the instance goes on from what the journal holds."
        )


class StoreFull(StoreError):
    """The disk is full; the file is as it was before the call, which may be repeated later."""

    def __init__(self, path: str) -> None:
        self.path = path
        super().__init__(f"No space is left on the disk to write {path}. Free some; work goes on by itself.")


class StoreBusy(StoreError):
    """Another program keeps a lock on the file."""

    def __init__(self, path: str) -> None:
        self.path = path
        super().__init__(f"Another program keeps {path} locked. End it (a backup, an SQLite shell).")


class StoreUnusable(StoreError):
    """The disk or the system refuses a file for a reason that none of the other classes names."""

    def __init__(self, path: str, reason: str) -> None:
        self.path = path
        self.reason = reason
        super().__init__(f"{path} cannot be used: {reason}.")
