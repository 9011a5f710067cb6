"""Comments that take a finding back: ``# celld: ignore[code]`` in Python, ``// celld-ignore code`` elsewhere.

They count for their own line, and on a line of their own for the next one that is no comment.
"""

from __future__ import annotations

import re
from pathlib import Path

_PYTHON = re.compile(r"#\s*celld:\s*ignore\[([\w\s,]+)\]")
_SCRIPT = re.compile(r"//\s*celld-ignore\s+([\w]+(?:\s*,\s*[\w]+)*)")
_COMMENT = re.compile(r"\s*(?:#|//|/\*|\*).*")


class Ignored:
    """What the comments of the files say; each file is read once."""

    def __init__(self) -> None:
        self._files: dict[Path, dict[int, set[str]]] = {}

    def has(self, file: Path, line: int, code: str) -> bool:
        """Whether a finding of this code in this line is taken back."""
        if file not in self._files:
            self._files[file] = _read(file)
        return code in self._files[file].get(line, ())


def _read(file: Path) -> dict[int, set[str]]:
    try:
        lines = file.read_bytes().decode("utf-8", "replace").splitlines()
    except OSError:  # a finding may be about a file that is not there
        return {}
    comment = _PYTHON if file.suffix == ".py" else _SCRIPT
    found: dict[int, set[str]] = {}
    carried: set[str] = set()
    for number, text in enumerate(lines, start=1):
        match = comment.search(text)
        codes = set(re.split(r"[\s,]+", match[1].strip())) if match is not None else set()
        if _COMMENT.fullmatch(text):
            carried |= codes
            continue
        found[number] = codes | carried
        carried = set()
    return found
