"""Request of the SDK."""

from __future__ import annotations

import json
from http import HTTPMethod
from typing import TYPE_CHECKING, Any

from workers._blob import Blob, unwrapped, wrapped_blob
from workers._fetch_response import read_all
from workers._formdata import FormData
from workers._response import header_pairs, read_form
from workers_shim.web.proxy import jsnull
from workers_shim.web.request import Request as JsRequest

if TYPE_CHECKING:
    from http.client import HTTPMessage


class Request:
    """What a client asks, or what `fetch` is to ask."""

    _js: JsRequest

    def __init__(self, input: Any, **options: Any) -> None:
        source = unwrapped(input)
        if isinstance(input, JsRequest) and options:
            raise ValueError("Expected no options when constructing Request from a js.Request")
        plain = isinstance(source, JsRequest) and not options
        self._js = source if plain else JsRequest.new(source, request_options(options))

    def __repr__(self) -> str:
        return f"Request(method={self._js.method!r}, url={self.url!r})"

    @property
    def js_object(self) -> JsRequest:
        return self._js

    @property
    def _js_request(self) -> JsRequest:  # official examples read it
        return self._js

    @property
    def url(self) -> str:
        return self._js.url

    @property
    def method(self) -> HTTPMethod:
        return HTTPMethod[self._js.method]

    @property
    def headers(self) -> HTTPMessage:
        from workers._headers import message_of  # the library behind it takes a while to import

        return message_of(self._js.headers)

    @property
    def body(self) -> Any:
        return self._js.body

    @property
    def body_used(self) -> bool:
        return self._js.bodyUsed

    @property
    def cf(self) -> Any:
        return self._js.cf

    @property
    def redirect(self) -> str:
        return self._js.redirect

    @property
    def keepalive(self) -> bool:
        return self._js.keepalive

    @property
    def integrity(self) -> str:
        return self._js.integrity

    # What follows is of browsers; workerd gives a server's request the same fixed values.
    credentials = "include"
    cache = "default"
    mode = "cors"
    referrer = "about:client"
    referrer_policy = ""
    destination = ""
    is_history_navigation = False

    def clone(self) -> Request:
        self._check_unread()
        return Request(self._js.clone())

    async def bytes(self) -> bytes:
        self._check_unread()
        return await read_all(self._js)

    async def buffer(self) -> Any:
        self._check_unread()
        return await self._js.arrayBuffer()

    async def text(self) -> str:
        return (await self.bytes()).decode("utf-8-sig", "replace")

    async def json(self, **options: Any) -> Any:
        return json.loads(await self.text(), **options)

    async def blob(self) -> Blob:
        self._check_unread()
        return wrapped_blob(await self._js.blob())

    async def form_data(self) -> FormData:
        self._check_unread()
        return await read_form(self._js)

    def _check_unread(self) -> None:
        if self.body_used:
            raise OSError("Request body is already used")


def request_options(options: dict[str, Any]) -> dict[str, Any]:
    """Keyword options of the SDK as the options object of a JavaScript request."""
    given = {name: unwrapped(value) for name, value in options.items() if value is not None}
    if "headers" in given:
        given["headers"] = header_pairs(given["headers"])
    return {name: value for name, value in given.items() if value is not jsnull}
