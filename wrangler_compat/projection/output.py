"""Writes the output folder: all of it or nothing, and never over anything but an earlier output."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

CONFIG = "wrangler.json"
MARK = ".celld-deploy"  # its presence says that the next deploy may replace the folder
_MARK_TEXT = "celld-py deploy made this folder, and replaces it at the next deploy.\n"
_OURS = ".celld"  # state, of this project and of an output that was run; it outlives the output


class UnusableFolder(Exception):
    """The output must not be written there."""


def default_folder(root: Path, target: str) -> Path:
    """Where the output goes unless the command line says otherwise."""
    return root / _OURS / "deploy" / target


def check_folder(folder: Path, root: Path) -> None:
    """Raise `UnusableFolder` for a place where the output would cover sources, state or a stranger's files."""
    real, source = folder.resolve(), root.resolve()
    if source.is_relative_to(real):
        raise UnusableFolder(f"{folder} holds the project itself.")
    if real.is_relative_to(source):
        inside = real.relative_to(source).parts
        if inside[0] != _OURS or inside[1:2] in ((), ("state",), ("venv",)):
            raise UnusableFolder(f"{folder} is inside the project; only folders below {_OURS} may be written there.")
    if real.exists() and not real.is_dir():
        raise UnusableFolder(f"{folder} is a file.")
    if real.is_dir() and any(real.iterdir()) and not (real / MARK).is_file():
        raise UnusableFolder(f"{folder} is not empty, and not made by celld-py deploy.")


def write_folder(folder: Path, files: Mapping[str, Path], texts: Mapping[str, str]) -> None:
    """Make the folder anew from copied files and texts, by their paths in it; an `OSError` leaves the old one in place.

    A text replaces a file of its path. What a run has kept in the old folder's ``.celld`` moves over.
    """
    folder = folder.resolve()
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(
        dir=folder.parent, prefix=f".{folder.name}.", ignore_cleanup_errors=True
    ) as scratch:
        fresh, old = Path(scratch, "new"), Path(scratch, "old")
        fresh.mkdir()
        for name, source in files.items():
            target = _place(fresh, name)
            shutil.copyfile(source, target)
            shutil.copymode(source, target)
        for name, text in {**texts, MARK: _MARK_TEXT}.items():
            _place(fresh, name).write_bytes(text.encode("utf-8"))
        _swap(folder, fresh, old)


def _place(folder: Path, name: str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def _swap(folder: Path, fresh: Path, old: Path) -> None:
    """Put the new folder in the old one's place."""
    if not folder.exists():
        os.rename(fresh, folder)
        return
    os.rename(folder, old)
    try:
        if (old / _OURS).exists():
            os.rename(old / _OURS, fresh / _OURS)
        os.rename(fresh, folder)
    except BaseException:
        if (fresh / _OURS).exists():
            os.rename(fresh / _OURS, old / _OURS)
        os.rename(old, folder)
        raise
