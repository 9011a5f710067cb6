"""Takes what has the right shape out of a configuration; what has not, its checks have named."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any


def table(data: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """The object under the key, empty when there is none."""
    value = data.get(key)
    return value if isinstance(value, dict) else {}


def entries(data: Mapping[str, Any], key: str) -> Iterator[Mapping[str, Any]]:
    """The objects of the list under the key."""
    value = data.get(key)
    return (each for each in value if isinstance(each, dict)) if isinstance(value, list) else iter(())


def texts(data: Mapping[str, Any], key: str) -> tuple[str, ...]:
    """The texts of the list under the key."""
    value = data.get(key)
    return tuple(each for each in value if isinstance(each, str)) if isinstance(value, list) else ()


def text(data: Mapping[str, Any], key: str) -> str | None:
    """The text under the key, unless it is empty."""
    value = data.get(key)
    return value if isinstance(value, str) and value else None
