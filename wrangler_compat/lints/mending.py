"""Writes mechanical mends into the files."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from tempfile import NamedTemporaryFile

from wrangler_compat.lints.lint import Insertion

_BOM = b"\xef\xbb\xbf"


def apply(insertions: Iterable[Insertion]) -> dict[Path, int]:
    """Insert the texts; gives the number of mends in each file. A file is replaced in one go, its mode kept."""
    by_file: dict[Path, list[Insertion]] = {}
    for each in insertions:
        by_file.setdefault(each.file, []).append(each)
    for file, mends in by_file.items():
        _rewrite(file, mends)
    return {file: len(mends) for file, mends in by_file.items()}


def _rewrite(file: Path, mends: list[Insertion]) -> None:
    target = file.resolve()  # a symbolic link stays one
    text = target.read_bytes()
    # Python's offsets count from after a byte order mark, which is no part of the text that was parsed.
    shift = len(_BOM) if text.startswith(_BOM) and file.suffix == ".py" else 0
    for each in sorted(mends, key=lambda mend: mend.offset, reverse=True):
        at = each.offset + shift
        text = text[:at] + each.text.encode("utf-8") + text[at:]
    with NamedTemporaryFile(dir=target.parent, prefix=f".{target.name}.", delete=False) as new:
        new.write(text)
        new.flush()
        os.fsync(new.fileno())
    os.chmod(new.name, target.stat().st_mode)
    os.replace(new.name, target)
