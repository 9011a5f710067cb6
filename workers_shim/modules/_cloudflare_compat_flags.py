"""Compatibility flags as attributes: whether each is on. An unknown flag is off."""

from __future__ import annotations

from workers_shim import current


def __getattr__(name: str) -> bool:
    if name.startswith("__"):
        raise AttributeError(name)
    return current.host.flag(name)
