"""The headers of the SDK's requests and responses: `http.client.HTTPMessage`, which is also a Mapping."""

from __future__ import annotations

from collections.abc import Mapping
from http.client import HTTPMessage

from workers_shim import current
from workers_shim.web.headers import Headers as JsHeaders

Mapping.register(HTTPMessage)


def message_of(headers: JsHeaders) -> HTTPMessage:
    """A message with these headers: lower-case names in order, each Set-Cookie by itself.

    Before the flag, the SDK took a comma for the end of a value.
    """
    whole = current.host.flag("python_request_headers_preserve_commas")
    message = HTTPMessage()
    for name, value in headers.folded():
        for part in [value] if whole or name == "set-cookie" else value.split(","):
            message[name] = part.strip()
    return message
