"""Which process a recorded process id belongs to: ids are used again, so each is kept with its start time."""

from __future__ import annotations

import os
import signal
import subprocess
from contextlib import suppress
from pathlib import Path

import msgspec


class Process(msgspec.Struct, frozen=True):
    """A process that can be told from a later one with the same id."""

    pid: int
    started: str  # in the system's own terms, only good for comparing

    @classmethod
    def of(cls, pid: int) -> Process | None:
        """The living process of an id, or None."""
        started = start_time(pid)
        return None if started is None else cls(pid, started)

    @property
    def alive(self) -> bool:
        """Whether this very process still runs."""
        return start_time(self.pid) == self.started

    def kill(self) -> None:
        """End the process with SIGKILL, if it still runs."""
        if self.alive:
            with suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)


def start_time(pid: int) -> str | None:
    """When a process started, or None when none runs under this id (one that is dead but not yet reaped does not)."""
    if not os.path.isdir("/proc/self"):
        return _start_time_by_ps(pid)
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return None
    # The name in parentheses may hold anything; after it come the state and, as the 22nd field of all, the start time
    # in ticks since the boot (proc(5)).
    fields = stat.rpartition(")")[2].split()
    return None if fields[0] in "ZX" else f"{_boot_id()}/{fields[19]}"


def _boot_id() -> str:
    # After a boot, ids and ticks start again and might meet those of a process of the time before.
    return Path("/proc/sys/kernel/random/boot_id").read_text().strip()


def _start_time_by_ps(pid: int) -> str | None:
    # macOS has no /proc. `ps` gives the start to the second, which is enough to tell a reused id. Each column has its
    # own -o, because a heading, here an empty one, reaches to the end of its argument (POSIX, ps). The time is written
    # in the caller's language and time zone, and two hosts that compare theirs may differ in both.
    found = subprocess.run(
        ["/bin/ps", "-o", "stat=", "-o", "lstart=", "-p", str(pid)],
        env={"LC_ALL": "C", "TZ": "UTC0"},
        capture_output=True,
        text=True,
        check=False,
    )
    state, _, started = found.stdout.strip().partition(" ")
    return None if found.returncode != 0 or state.startswith("Z") else started.strip() or None
