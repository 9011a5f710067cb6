"""What a server costs: all processes of its tree, their memory and their open descriptors (Linux's /proc)."""

from __future__ import annotations

import os
from pathlib import Path

PROC = Path("/proc")
SUPPORTED = (PROC / "self" / "smaps_rollup").exists()


def tree(root: int) -> list[int]:
    """A process and all its descendants."""
    children: dict[int, list[int]] = {}
    for entry in PROC.iterdir():
        if entry.name.isdigit() and (parent := _parent(entry)) is not None:
            children.setdefault(parent, []).append(int(entry.name))
    found = [root]
    for pid in found:
        found += children.get(pid, [])
    return found


def _parent(entry: Path) -> int | None:
    try:
        stat = (entry / "stat").read_text()
    except OSError:  # it has just ended
        return None
    return int(stat.rpartition(")")[2].split()[1])  # the name before it may hold spaces and brackets


def pss(pids: list[int]) -> float:
    """Proportional memory of all of them in MB: what is shared counts once."""
    return sum(_pss(pid) for pid in pids) / 1000


def _pss(pid: int) -> float:
    try:
        lines = (PROC / str(pid) / "smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:")) * 1.024


def descriptors(pids: list[int]) -> int:
    """How many descriptors they have open."""
    count = 0
    for pid in pids:
        try:
            count += len(os.listdir(PROC / str(pid) / "fd"))
        except OSError:
            continue
    return count


def alive(pids: list[int]) -> list[int]:
    """Those that still run; what is dead and not yet reaped does not."""
    return [pid for pid in pids if _runs(pid)]


def _runs(pid: int) -> bool:
    try:
        return (PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()[0] not in ("Z", "X")
    except OSError:
        return False
