"""Replaces a file of the user: all of it or nothing, and only if it still is what was read."""

from __future__ import annotations

import errno
import os
import stat
import tempfile
from pathlib import Path


class FileChanged(Exception):
    """Somebody has written the file since it was read."""


def replace_text(path: Path, before: str, after: str) -> None:
    """Write ``after`` in place of ``before``; raise `FileChanged` or `OSError`, and then nothing has happened."""
    replace_bytes(path, before.encode("utf-8"), after.encode("utf-8"))


def replace_bytes(path: Path, before: bytes, after: bytes) -> None:
    """Do what `replace_text` does, for a file in any encoding.

    A symbolic link is written through. The file keeps its mode, and its owner where that may be set.
    """
    target = path.resolve(strict=True)
    if not os.access(target, os.W_OK):  # a new file in its place would get around this
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
    descriptor, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with open(descriptor, "wb") as file:
            file.write(after)
            _adopt(file.fileno(), target)
            file.flush()
            os.fsync(file.fileno())
        if target.read_bytes() != before:
            raise FileChanged(f"{path} was changed in the meantime. Run the command again.")
        os.replace(name, target)
    except BaseException:
        os.unlink(name)
        raise
    _sync_folder(target.parent)


def _adopt(descriptor: int, original: Path) -> None:
    """Take over the original's mode and owner."""
    known, fresh = original.stat(), os.fstat(descriptor)
    if (known.st_uid, known.st_gid) != (fresh.st_uid, fresh.st_gid) and os.geteuid() == 0:
        os.fchown(descriptor, known.st_uid, known.st_gid)
    os.fchmod(descriptor, stat.S_IMODE(known.st_mode))


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
