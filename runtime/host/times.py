"""Times as people read them."""

from __future__ import annotations

from datetime import UTC, datetime


def utc(ms: int) -> str:
    """A time of a schedule: with its weekday, because cron's numbers for these are easily mistaken."""
    return datetime.fromtimestamp(ms / 1000, UTC).strftime("%a %Y-%m-%d %H:%M UTC")
