"""Named points at which a test can make this process crash, wait or fail.

The environment variable ``CELLD_PY_FAULT`` arms one point: ``point[:nth][:action]``. The action is ``crash`` (SIGKILL
to this process, the default), ``delay=MS`` or ``raise``; it happens the ``nth`` time (default 1) that the point is
passed.

    CELLD_PY_FAULT=journal.after_commit:3            kill -9 after the third commit
    CELLD_PY_FAULT=catalog.before_commit:delay=200   make the first group of catalog writes late
"""

from __future__ import annotations

import os
import signal
import threading
import time


class FaultInjected(Exception):
    """Raised by a point that was armed with the action ``raise``."""


class Fault:
    """One armed point, counting how often it is passed."""

    def __init__(self, point: str, nth: int = 1, action: str = "crash") -> None:
        name, _, milliseconds = action.partition("=")
        if name not in ("crash", "delay", "raise") or (name == "delay") != milliseconds.isdigit():
            raise ValueError(f"CELLD_PY_FAULT: unknown action {action!r}; use crash, delay=MS or raise")
        self.point = point
        self._left = nth
        self._action = name
        self._seconds = int(milliseconds or 0) / 1000
        self._lock = threading.Lock()  # commits happen in several threads

    @classmethod
    def parse(cls, text: str) -> Fault | None:
        """Read ``point[:nth][:action]``; an empty text arms nothing."""
        point, *rest = text.split(":")
        if not point:
            return None
        nth = int(rest.pop(0)) if rest and rest[0].isdigit() else 1
        if len(rest) > 1:
            raise ValueError(f"CELLD_PY_FAULT: cannot read {text!r}; use point[:nth][:action]")
        return cls(point, nth, *rest)

    def passed(self, point: str) -> None:
        """Count the point, and act when it is this fault's turn."""
        if point != self.point:
            return
        with self._lock:
            self._left -= 1
            if self._left != 0:
                return
        self._act()

    def _act(self) -> None:
        if self._action == "crash":
            os.kill(os.getpid(), signal.SIGKILL)
        elif self._action == "delay":
            time.sleep(self._seconds)
        else:
            raise FaultInjected(self.point)


_armed: Fault | None = Fault.parse(os.environ.get("CELLD_PY_FAULT", ""))


def arm(text: str) -> None:
    """Arm a point in this process, as the environment variable does; an empty text disarms."""
    global _armed
    _armed = Fault.parse(text)


def fault(point: str) -> None:
    """Mark a point where a fault can be injected; it does nothing unless one is armed."""
    if _armed is not None:
        _armed.passed(point)
