"""`/cdn-cgi/handler/scheduled`: fires a Cron Trigger by hand, as wrangler's server does."""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import Any
from urllib.parse import parse_qs

from .error_page import refusal
from .exchange import Receive, Send
from .ingress import BadRequest, Unavailable

Scope = MutableMapping[str, Any]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]
Fire = Callable[[str, int | None], Awaitable[Mapping[str, Any]]]

PATHS = frozenset({"/cdn-cgi/handler/scheduled", "/cdn-cgi/local/scheduled"})
OURS = re.compile(r"(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{1,5})?", re.ASCII)


class Scheduled:
    """An ASGI application before another one, which takes these paths from it."""

    def __init__(self, application: Application, fire: Fire) -> None:
        self._application = application
        self._fire = fire

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] not in PATHS:
            await self._application(scope, receive, send)
            return
        try:
            await self._answer(scope, send)
        except BadRequest as error:
            await refusal(scope, send, 400, str(error))
        except Unavailable as error:
            await refusal(scope, send, 503, str(error))

    async def _answer(self, scope: Scope, send: Send) -> None:
        _check_origin(scope)
        asked = {name: values[0] for name, values in parse_qs(scope["query_string"].decode("latin-1")).items()}
        result = await self._fire(asked.get("cron", ""), _time(asked.get("time")))
        as_json = asked.get("format") == "json"
        body = json.dumps(dict(result)) if as_json else str(result["outcome"])
        kind = b"application/json" if as_json else b"text/plain;charset=UTF-8"
        headers = [(b"content-type", kind), (b"content-length", str(len(body)).encode())]
        status = 200 if result["outcome"] == "ok" else 500
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body.encode(), "more_body": False})


def _time(text: str | None) -> int | None:
    if text is None:
        return None
    if not re.fullmatch(r"\d{1,15}", text, re.ASCII):
        raise BadRequest("time has to be milliseconds since the epoch.")
    return int(text)


def _check_origin(scope: Scope) -> None:
    """A page of somebody else's must not fire anything, by a name that leads here or across sites."""
    headers = {name: value.decode("latin-1") for name, value in scope["headers"]}
    host, origin = headers.get(b"host", ""), headers.get(b"origin")
    foreign = origin is not None and origin.partition("://")[2] != host
    if not OURS.fullmatch(host) or foreign or headers.get(b"sec-fetch-site", "none") not in ("none", "same-origin"):
        raise BadRequest("This is for requests from this machine only.")
