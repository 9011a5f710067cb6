"""Requests to a Worker under test, through the same ASGI application that serves it in `dev`."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, MutableMapping, Sequence
from typing import Any
from urllib.parse import urlencode, urljoin, urlsplit

from runtime.http.ingress import Ingress

from .response import Headers, Response

BASE = "http://localhost/"

Form = Mapping[str, str | Sequence[str]]
"""A form's fields; one with several values has a list of them."""


def scope_of(method: str, url: str, headers: Mapping[str, str] | None, body: bytes, kind: str | None) -> dict[str, Any]:
    """The ASGI scope of a request; ``url`` may be a path."""
    parts = urlsplit(urljoin(BASE, url))
    lines = {"host": parts.netloc, "accept": "*/*", "user-agent": "celld-py-testing"}
    if body or method in ("POST", "PUT", "PATCH"):
        lines["content-length"] = str(len(body))
    if kind is not None:
        lines["content-type"] = kind
    lines |= {name.lower(): value for name, value in (headers or {}).items()}
    return {
        "type": "http",
        "http_version": "1.1",
        "method": method.upper(),
        "scheme": parts.scheme,
        "path": parts.path or "/",
        "raw_path": (parts.path or "/").encode(),
        "query_string": parts.query.encode(),
        "headers": [(name.encode("latin-1"), value.encode("latin-1")) for name, value in lines.items()],
        "client": ("127.0.0.1", 0),
        "server": (parts.hostname, parts.port),
    }


def body_of(content: bytes | str | None, data: Form | None, value: Any) -> tuple[bytes, str | None]:
    """The body of a request and its type: as given, as a form, or as JSON."""
    if sum(body is not None for body in (content, data, value)) > 1:
        raise TypeError("a request has one body: give content, data or json")
    if data is not None:
        return urlencode(data, doseq=True).encode(), "application/x-www-form-urlencoded"
    if value is not None:
        return json.dumps(value).encode(), "application/json"
    if isinstance(content, Mapping | list):
        raise TypeError(f"content is bytes or a text; give the {type(content).__name__} as json= or as data=")
    return (content.encode() if isinstance(content, str) else content or b""), None


async def send(ingress: Ingress, scope: dict[str, Any], body: bytes) -> Response:
    """Send the request and read all of the answer."""
    waiting = [{"type": "http.request", "body": body, "more_body": False}]
    head: dict[str, Any] = {}
    pieces: list[bytes] = []

    async def receive() -> MutableMapping[str, Any]:
        if waiting:
            return waiting.pop()
        await asyncio.Event().wait()  # the client stays until it has the answer
        raise AssertionError("nobody sets it")

    async def take(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            head.update(message)
        else:
            pieces.append(message.get("body", b""))

    await ingress(scope, receive, take)
    return Response(head["status"], Headers(head["headers"]), b"".join(pieces))
