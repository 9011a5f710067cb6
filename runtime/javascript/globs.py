"""Globs of wrangler's ``rules``, as regular expressions that esbuild (Go) and Python both read.

wrangler matches an import's text loosely, where ``*`` also covers slashes, and the files of a folder strictly.
"""

from __future__ import annotations

import re


def loose(glob: str) -> str:
    """For the text of an import: ``**/*.txt`` also matches ``./a.txt``."""
    return f"^{'.*'.join(re.escape(part) for part in re.split(r'[*]+', glob))}$"


def strict(glob: str) -> str:
    """For a path in a folder: ``*`` stays in one folder, ``**`` between slashes is any number of folders."""
    parts = re.split(r"((?:^|(?<=/))[*]{2,}(?:/|$)|[*]+)", glob)
    return f"^{''.join(_strict(part) for part in parts)}$"


def _strict(part: str) -> str:
    if not part.startswith("*"):
        return re.escape(part)
    if len(part.rstrip("/")) < 2:
        return r"[^/]*"
    return r"(?:[^/]*(?:/|$))*" if part.endswith("/") or set(part) == {"*"} else r"[^/]*"
