"""Service bindings: other Workers, or this one, on ``env``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from wrangler_compat.reading import entries, table, text


@dataclass(frozen=True, slots=True)
class ServiceBinding:
    """A name on ``env`` for an entrypoint of a Worker. ``props`` reach that entrypoint as ``ctx.props``."""

    binding: str
    service: str
    entrypoint: str | None
    props: Mapping[str, Any]


def read_services(data: Mapping[str, Any]) -> tuple[ServiceBinding, ...]:
    """All service bindings of a configuration."""
    return tuple(_services(data))


def _services(data: Mapping[str, Any]) -> Iterator[ServiceBinding]:
    for entry in entries(data, "services"):
        binding, service = text(entry, "binding"), text(entry, "service")
        if binding and service:
            entrypoint = text(entry, "entrypoint")
            named = entrypoint if entrypoint != "default" else None
            yield ServiceBinding(binding, service, named, table(entry, "props"))
