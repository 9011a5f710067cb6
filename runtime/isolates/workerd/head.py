"""The head of a client's request on its way to the bridge."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

OURS = "celld-"  # headers between the host and the bridge
CF = '{"httpProtocol":"HTTP/1.1"}'  # request.cf; nothing else is known here, such as where the client is
# The host is part of the URL. The connection to the client is the server's affair, and what the client expects it has
# been answered already.
_REPLACED = frozenset({"host", "connection", "keep-alive", "proxy-connection", "upgrade", "te", "trailer", "expect"})
_UPGRADE = frozenset({"connection", "upgrade"})


def head_of(message: Mapping[str, Any], token: str, worker: str, *, upgrade: bool = False) -> bytes:
    """What goes out for a `request`: path and headers as the client sent them, and ours, which no client can send.

    An ``upgrade`` is asked for in the client's own words.
    """
    _, _, rest = message["url"].partition("://")
    host, slash, target = rest.partition("/")
    left_out = _REPLACED - _UPGRADE if upgrade else _REPLACED
    given = [
        f"{name}: {value}"
        for name, value in message["headers"]
        if (lower := name.lower()) not in left_out and not lower.startswith(OURS)
    ]
    lines = [
        f"{message['method']} {slash}{target} HTTP/1.1",
        f"Host: {host}",
        f"celld-token: {token}",
        "celld-kind: request",
        f"celld-worker: {worker}",
        f"celld-cf: {CF}",
        *given,
    ]
    return "\r\n".join([*lines, "", ""]).encode("latin-1")
