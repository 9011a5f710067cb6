"""`fetch` of the web platform, to the outside."""

from __future__ import annotations

from typing import Any

from workers_shim.web.errors import type_error
from workers_shim.web.headers import Headers
from workers_shim.web.proxy import Object
from workers_shim.web.request import Request
from workers_shim.web.response import Response, received
from workers_shim.web.streams import stream_of


async def send(request: Request) -> Response:
    """Send the request; what fails on the network is an OSError."""
    from workers_shim import http_line, outbound  # most Workers never fetch, and an HTTP client takes a while to import

    answer = await outbound.send(
        http_line.Outbound(request.method, request.url, request.headers.lines(), request.detach(), request.redirect)
    )
    body = None if answer.body is None else stream_of(answer.body)
    response = received(answer.status, Headers.of(answer.headers), body, answer.url, answer.redirected)
    response._status_text = answer.reason
    return response


async def fetch(resource: Any, options: Any = None, **more: Any) -> Response:
    """`js.fetch`: keyword arguments become the options object; a failure is JavaScript's TypeError."""
    request: Request = Request.new(resource, Object.of(more) if more else options)
    try:
        return await send(request)
    except OSError as error:
        raise type_error(f"fetch failed: {error}") from error
