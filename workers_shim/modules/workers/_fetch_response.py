"""`FetchResponse`: a response as `pyodide.http` gives it; the SDK's Response is one too."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from workers_shim.errors import JsException
from workers_shim.web.response import Response as JsResponse

if TYPE_CHECKING:
    from http.client import HTTPMessage


class BodyUsedError(OSError):
    """The body has been read before."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*(args or ("Response body is already used",)))


class FetchResponse:
    """A response of the web platform with Python's names and types."""

    js_response: JsResponse

    def __init__(self, url: str, js_response: JsResponse) -> None:
        self._url = url
        self.js_response = js_response

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}(status={self.status}, status_text={self.status_text!r}, "
            f"content_type={self.headers['content-type']!r}, url={self.url!r}, type={self.type!r})"
        )

    @property
    def js_object(self) -> JsResponse:
        return self.js_response

    @property
    def status(self) -> int:
        return self.js_response.status

    @property
    def status_text(self) -> str:
        return self.js_response.statusText

    @property
    def ok(self) -> bool:
        return self.js_response.ok

    @property
    def url(self) -> str:
        return self.js_response.url or self._url

    @property
    def type(self) -> str:
        return self.js_response.type

    @property
    def redirected(self) -> bool:
        return self.js_response.redirected

    @property
    def headers(self) -> HTTPMessage:
        from workers._headers import message_of  # the library behind it takes a while to import

        return message_of(self.js_response.headers)

    @property
    def body(self) -> Any:
        return self.js_response.body

    @property
    def body_used(self) -> bool:
        return self.js_response.bodyUsed

    def raise_for_status(self) -> None:
        """Raise an OSError for a response that is an error."""
        if 400 <= self.status < 600:
            side = "Client" if self.status < 500 else "Server"
            raise OSError(f"{self.status} {side} Error: {self.status_text} for url: {self.url}")

    def clone(self) -> FetchResponse:
        self._check_unread()
        return FetchResponse(self._url, self.js_response.clone())

    async def bytes(self) -> bytes:
        self._check_unread()
        return await read_all(self.js_response)

    async def buffer(self) -> Any:
        self._check_unread()
        return await self.js_response.arrayBuffer()

    async def memoryview(self) -> memoryview:
        return memoryview(await self.bytes())

    async def text(self) -> str:
        return (await self.bytes()).decode("utf-8-sig", "replace")

    async def string(self) -> str:
        return await self.text()

    async def json(self, **options: Any) -> Any:
        return json.loads(await self.text(), **options)

    def _check_unread(self) -> None:
        if self.body_used:
            raise BodyUsedError


async def read_all(source: Any) -> bytes:
    """The whole body of a JavaScript request or response; a stream that breaks is an OSError."""
    try:
        return bytes((await source.arrayBuffer()).to_py())
    except JsException as error:
        raise OSError(str(error)) from error
