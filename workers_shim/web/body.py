"""The body of a request or a response: made from what user code gives, read at most once."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

from workers_shim.web.blob import Blob
from workers_shim.web.buffers import ArrayBuffer, Uint8Array, buffer_of, bytes_of
from workers_shim.web.convert import js_tree
from workers_shim.web.errors import syntax_error, type_error
from workers_shim.web.formdata import FormData, multipart, parse_form
from workers_shim.web.headers import Headers
from workers_shim.web.proxy import JsProxy, jsnull
from workers_shim.web.streams import ReadableStream, stream_of
from workers_shim.web.url import URLSearchParams

Content = bytes | ReadableStream | None

_USED = "Body has already been used. It can only be used once. Use tee() first if you need to read it twice."


def content_of(body: Any) -> tuple[Content, str | None]:
    """A body, and the content type that it has by itself."""
    if body is None or body is jsnull:
        return None, None
    if isinstance(body, str):
        return body.encode("utf-8", "replace"), "text/plain;charset=UTF-8"
    if isinstance(body, ReadableStream):
        return body, None
    if isinstance(body, Blob):
        return body._data, body.type or None
    if isinstance(body, FormData):
        return multipart(body)
    if isinstance(body, URLSearchParams):
        return body.toString().encode(), "application/x-www-form-urlencoded;charset=UTF-8"
    data = bytes_of(body)
    return (str(body).encode("utf-8", "replace"), "text/plain;charset=UTF-8") if data is None else (data, None)


class Body(JsProxy):
    """What Request and Response have in common."""

    _content: Content
    _used: bool
    _headers: Headers

    def _hold(self, body: Any) -> None:
        self._content, content_type = content_of(body)
        self._used = False
        if isinstance(self._content, ReadableStream) and (self._content.locked or self._content._disturbed):
            raise type_error(
                "This ReadableStream is disturbed (has already been read from), and cannot be used as a body."
            )
        if content_type is not None and not self._headers.has("content-type"):
            self._headers.set("Content-Type", content_type)

    @property
    def headers(self) -> Headers:
        return self._headers

    @property
    def body(self) -> Any:
        if isinstance(self._content, bytes) and not self._used:
            self._content = stream_of(self._content)
        return jsnull if self._content is None else self._content

    @property
    def bodyUsed(self) -> bool:
        return self._used or (isinstance(self._content, ReadableStream) and self._content._disturbed)

    def detach(self) -> bytes | AsyncIterator[bytes] | None:
        """Take the body away, for the wire."""
        if self._content is None:
            return None
        if self.bodyUsed:
            raise type_error(_USED)
        self._used = True
        return self._content.chunks() if isinstance(self._content, ReadableStream) else self._content

    def _divide(self) -> Any:
        """A second body with the same content, for ``clone()``."""
        if self.bodyUsed:
            raise type_error(_USED)
        if isinstance(self._content, ReadableStream):
            self._content, other = self._content.tee()
            return other
        return self._content

    async def _all(self) -> bytes:
        body = self.detach()
        if body is None or isinstance(body, bytes):
            return body or b""
        return b"".join([chunk async for chunk in body])

    async def text(self) -> str:
        return (await self._all()).decode("utf-8-sig", "replace")

    async def json(self) -> Any:
        text = await self.text()
        try:
            return js_tree(json.loads(text))
        except ValueError as error:
            raise syntax_error(f"{error}") from None

    async def arrayBuffer(self) -> ArrayBuffer:
        return buffer_of(await self._all())

    async def bytes(self) -> Any:
        return Uint8Array.new(await self._all())

    async def blob(self) -> Blob:
        made: Blob = Blob.new([await self._all()], type=self._content_type())
        return made

    async def formData(self) -> FormData:
        kind = self._content_type()
        return parse_form(await self._all(), kind)

    def _content_type(self) -> str:
        return self._headers.get("content-type") or ""
