"""Blob and File."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from workers_shim.web.buffers import ArrayBuffer, Uint8Array, buffer_of, bytes_of
from workers_shim.web.date import Date
from workers_shim.web.errors import type_error
from workers_shim.web.proxy import JsProxy, member
from workers_shim.web.streams import ReadableStream, stream_of


class Blob(JsProxy):
    """Bytes with a content type."""

    _data: bytes
    _type: str

    def __init__(self, parts: Iterable[Any] = (), options: Any = None) -> None:
        native = member(options, "endings", "transparent") == "native"
        self._data = b"".join(_part(part, native) for part in parts)
        self._type = str(member(options, "type", "")).lower()

    @property
    def size(self) -> int:
        return len(self._data)

    @property
    def type(self) -> str:
        return self._type

    def slice(self, start: int = 0, end: int | None = None, content_type: str = "") -> Blob:
        made: Blob = Blob.new([self._data[start:end]], type=content_type)
        return made

    async def text(self) -> str:
        return self._data.decode("utf-8", "replace")

    async def arrayBuffer(self) -> ArrayBuffer:
        return buffer_of(self._data)

    async def bytes(self) -> Any:
        return Uint8Array.new(self._data)

    def stream(self) -> ReadableStream:
        return stream_of(self._data)


class File(Blob):
    """A Blob with a name, as a form carries it."""

    _name: str
    _modified: int

    def __init__(self, parts: Iterable[Any], name: str, options: Any = None) -> None:
        super().__init__(parts, options)
        self._name = name
        self._modified = int(member(options, "lastModified", Date.now()))

    @property
    def name(self) -> str:
        return self._name

    @property
    def lastModified(self) -> int:
        return self._modified


def _part(part: Any, native: bool) -> bytes:
    if isinstance(part, Blob):
        return part._data
    if isinstance(part, str):
        # The platform's line end is "\n" on Workers, so that is what native endings become.
        return (part.replace("\r\n", "\n") if native else part).encode("utf-8", "replace")
    data = bytes_of(part)
    if data is None:
        raise type_error(f"{type(part).__name__} cannot be a part of a Blob")
    return data
