"""Writes mechanical mends into the files."""

from __future__ import annotations

import io
import tokenize
from collections.abc import Iterable
from pathlib import Path

from wrangler_compat.code import Module
from wrangler_compat.lints.lint import Insertion
from wrangler_compat.reconcile.write import FileChanged, replace_bytes


def apply(insertions: Iterable[Insertion]) -> dict[Path, int]:
    """Insert the texts; gives the number of mends in each file. A file is replaced in one go, its mode kept.

    Raises `OSError` or `FileChanged` at a file that cannot be written; it and those after it are as they were.
    """
    by_module: dict[Module, list[Insertion]] = {}
    for each in insertions:
        by_module.setdefault(each.module, []).append(each)
    for module, mends in by_module.items():
        _rewrite(module, mends)
    return {module.path: len(mends) for module, mends in by_module.items()}


def _rewrite(module: Module, mends: list[Insertion]) -> None:
    before = after = module.path.read_bytes()
    encoding = _encoding(before) if module.language == "python" else None
    if module.text != (before.decode(encoding).encode("utf-8") if encoding else before):
        raise FileChanged(f"{module.path} was changed in the meantime. Run the command again.")
    for each in sorted(mends, key=lambda mend: mend.offset, reverse=True):
        # Python is parsed as UTF-8 without a byte order mark, whatever the file is.
        at = len(module.text[: each.offset].decode("utf-8").encode(encoding)) if encoding else each.offset
        after = after[:at] + each.text.encode("ascii") + after[at:]
    replace_bytes(module.path, before, after)


def _encoding(raw: bytes) -> str:
    return tokenize.detect_encoding(io.BytesIO(raw).readline)[0]
