"""Blob and File of the SDK."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

from workers_shim.web import blob as web
from workers_shim.web.proxy import JsProxy

BlobEnding = Literal["transparent", "native"]
BlobValue = Any  # str, bytes, Blob, or a JavaScript buffer or Blob


class Blob:
    """Bytes with a content type."""

    _js: web.Blob

    def __init__(
        self,
        blob_parts: Iterable[BlobValue] | BlobValue,
        content_type: str | None = None,
        endings: BlobEnding | None = None,
    ) -> None:
        if isinstance(blob_parts, web.Blob) and content_type is None and endings is None:
            self._js = blob_parts
        else:
            self._js = web.Blob.new(_parts(blob_parts), {"type": content_type, "endings": endings})

    def __repr__(self) -> str:
        return f"{type(self).__name__}(size={self.size}, content_type={self.content_type!r})"

    @property
    def js_object(self) -> web.Blob:
        return self._js

    @property
    def size(self) -> int:
        return self._js.size

    @property
    def content_type(self) -> str:
        return self._js.type

    async def text(self) -> str:
        return await self._js.text()

    async def bytes(self) -> bytes:
        return self._js._data

    def slice(self, start: int = 0, end: int | None = None, content_type: str | None = None) -> Blob:
        return Blob(self._js.slice(start, end, content_type or ""))


class File(Blob):
    """A Blob with a name, as a form carries it."""

    _js: web.File

    def __init__(
        self,
        blob_parts: Iterable[BlobValue] | BlobValue,
        filename: str | None = None,
        content_type: str | None = None,
        endings: BlobEnding | None = None,
        last_modified: int | None = None,
    ) -> None:
        if filename is None and isinstance(blob_parts, web.File):
            self._js = blob_parts
            return
        if filename is None:
            raise TypeError("File() needs a filename")
        options = {"type": content_type, "endings": endings, "lastModified": last_modified}
        self._js = web.File.new(_parts(blob_parts), filename, options)

    @property
    def name(self) -> str:
        return self._js.name

    @property
    def last_modified(self) -> int:
        return self._js.lastModified


def _parts(parts: Any) -> list[Any]:
    single = isinstance(parts, str | bytes | bytearray | memoryview | Blob | JsProxy)
    return [unwrapped(part) for part in ([parts] if single else parts)]


def unwrapped(value: Any) -> Any:
    """The JavaScript object inside one of the SDK's; anything else is itself."""
    return value.js_object if hasattr(value, "js_object") else value


def wrapped_blob(value: web.Blob) -> Blob:
    """The SDK's Blob or File around a JavaScript one."""
    return File(value) if isinstance(value, web.File) else Blob(value)
