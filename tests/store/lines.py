"""Short words for journal lines."""

from __future__ import annotations

from collections.abc import Sequence

from runtime.store import JournalFile, Line


def line(seq: int, data: str = "{}") -> Line:
    return Line(seq, 1_700_000_000_000 + seq, "step_started", data)


async def append(file: JournalFile, lines: Sequence[Line]) -> None:
    """Append and wait for the commit, whichever way it takes."""
    pending = file.append(lines)
    if pending is not None:
        await pending
