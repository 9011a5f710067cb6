"""The clock of these tests: the one that users' tests have, too."""

from __future__ import annotations

from runtime.testing.clock import NOW, VirtualAlarm, VirtualClock, rest

__all__ = ["NOW", "VirtualAlarm", "VirtualClock", "rest"]
