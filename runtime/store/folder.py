"""The state folder and its lock: one host owns a folder at a time.

The lock is an flock on a file whose descriptor the isolates inherit. It lives as long as any of them, so a new host
cannot start beside an isolate that outlived its host. Who holds it is told by a record beside it: a host that lives is
the owner; the children of one that is dead are orphans, and are killed.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from pathlib import Path

import msgspec

from runtime.store.errors import FolderInUse, StoreUnusable
from runtime.store.processes import Process
from runtime.store.types import Durability

LOCK_WAIT_SECONDS = 5.0  # until killed orphans are gone
_LOOK_SECONDS = 0.02


class Record(msgspec.Struct):
    """Who uses the folder."""

    host: Process | None = None
    children: list[Process] = []


class StateFolder:
    """An owned state folder."""

    def __init__(self, path: Path, durability: Durability, lock: int, record: Record, *, unclean: bool) -> None:
        self.path = path
        self.unclean = unclean  # the last host did not give the folder up: it was killed, perhaps in the midst of work
        self.durability: Durability = durability
        self.lock = lock  # the descriptor that child processes must inherit
        self._record = record

    @classmethod
    def open(cls, path: Path, durability: Durability = "process") -> StateFolder:
        """Make the folder if need be and become its owner, or raise `FolderInUse`; blocks up to 5 s for orphans."""
        try:
            path.mkdir(parents=True, exist_ok=True)
            if not (path / ".gitignore").exists():
                (path / ".gitignore").write_text("*\n")
            lock = os.open(path / "lock", os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise StoreUnusable(str(path), error.strerror or str(error)) from error
        try:
            _take(lock, path)
            os.set_inheritable(lock, True)
            before = _read_record(path)
            folder = cls(path, durability, lock, Record(Process.of(os.getpid())), unclean=before.host is not None)
            folder._write_record()
        except BaseException:
            os.close(lock)
            raise
        return folder

    @property
    def journals(self) -> Path:
        """Where the instances' files lie."""
        return self.path / "instances"

    @property
    def catalog(self) -> Path:
        """The catalog's file."""
        return self.path / "catalog.db"

    def add_child(self, pid: int) -> None:
        """Record a child process that inherits the lock, so that a later host can kill it."""
        process = Process.of(pid)
        if process is not None:
            self._record.children.append(process)
            self._write_record()

    def forget_child(self, pid: int) -> None:
        """Take a child process that has ended out of the record."""
        self._record.children = [child for child in self._record.children if child.pid != pid]
        self._write_record()

    def close(self) -> None:
        """Give the folder up; children that still run keep it locked."""
        with contextlib.suppress(OSError):  # a full disk; the next host then only takes more care than it needs
            self._record.host = None
            self._write_record()
        os.close(self.lock)

    def _write_record(self) -> None:
        record = _record_file(self.path)
        draft = record.with_suffix(".new")
        draft.write_bytes(msgspec.json.encode(self._record))
        os.replace(draft, record)


def kill_orphans(path: Path) -> None:
    """Kill what a dead host of the folder left behind, or raise `FolderInUse` when the host lives."""
    record = _read_record(path)
    if record.host is not None and record.host.alive:
        raise FolderInUse(path, record.host.pid)
    for child in record.children:
        child.kill()


def _take(lock: int, path: Path) -> None:
    end = time.monotonic() + LOCK_WAIT_SECONDS
    while not _locked(lock):
        # Each time anew: another host may just have become the owner, and then it is the one to name.
        kill_orphans(path)
        if time.monotonic() > end:
            raise FolderInUse(path, None)
        time.sleep(_LOOK_SECONDS)


def _locked(lock: int) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _record_file(path: Path) -> Path:
    return path / "host.json"


def _read_record(path: Path) -> Record:
    try:
        return msgspec.json.decode(_record_file(path).read_bytes(), type=Record)
    except (FileNotFoundError, msgspec.DecodeError):  # a host that has only just taken the lock, or a damaged record
        return Record()
