"""FormData, and the two encodings in which forms travel."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qsl

from workers_shim.web.blob import Blob, File
from workers_shim.web.errors import type_error
from workers_shim.web.proxy import Array, JsProxy, array, jsnull

_NAME = re.compile(rb'(?im)^content-disposition:[^\r\n]*;\s*name="([^"]*)"')
_FILENAME = re.compile(rb'(?im)^content-disposition:[^\r\n]*;\s*filename="([^"]*)"')
_BOUNDARY = re.compile(r';\s*boundary=(?:"([^"]+)"|([^\s;]+))', re.IGNORECASE)
_PART_TYPE = re.compile(rb"(?im)^content-type:[ \t]*([^\r\n]*)")


class FormData(JsProxy):
    """The fields of a form, in order; a value is text or a File."""

    _pairs: list[tuple[str, Any]]

    def __init__(self) -> None:
        self._pairs = []

    def append(self, name: str, value: Any, filename: str | None = None) -> None:
        self._pairs.append((name, _field(value, filename)))

    def set(self, name: str, value: Any, filename: str | None = None) -> None:
        at = next((i for i, (key, _) in enumerate(self._pairs) if key == name), len(self._pairs))
        self.delete(name)
        self._pairs.insert(at, (name, _field(value, filename)))

    def delete(self, name: str) -> None:
        self._pairs = [pair for pair in self._pairs if pair[0] != name]

    def get(self, name: str) -> Any:
        return next((value for key, value in self._pairs if key == name), jsnull)

    def getAll(self, name: str) -> Array:
        return array(value for key, value in self._pairs if key == name)

    def has(self, name: str) -> bool:
        return any(key == name for key, _ in self._pairs)

    def keys(self) -> Array:
        return array(key for key, _ in self._pairs)

    def values(self) -> Array:
        return array(value for _, value in self._pairs)

    def entries(self) -> Array:
        return array(array(pair) for pair in self._pairs)

    def __iter__(self) -> Iterator[Array]:
        return iter(self.entries())


def _field(value: Any, filename: str | None) -> Any:
    if isinstance(value, File) and filename is None:
        return value
    if isinstance(value, Blob):
        return File.new([value], filename or "blob", type=value.type)
    return str(value)


def multipart(form: FormData) -> tuple[bytes, str]:
    """The form as multipart/form-data: its bytes and its content type."""
    boundary = os.urandom(16).hex()
    out = bytearray()
    for name, value in form._pairs:
        out += f'--{boundary}\r\nContent-Disposition: form-data; name="{_quoted(name)}"'.encode()
        if isinstance(value, File):
            kind = value.type or "application/octet-stream"
            out += f'; filename="{_quoted(value.name)}"\r\nContent-Type: {kind}\r\n\r\n'.encode() + value._data
        else:
            out += b"\r\n\r\n" + value.encode("utf-8", "replace")
        out += b"\r\n"
    out += f"--{boundary}--\r\n".encode()
    return bytes(out), f"multipart/form-data; boundary={boundary}"


def parse_form(data: bytes, content_type: str) -> FormData:
    """Read a form from a body of either encoding."""
    form: FormData = FormData.new()
    kind = content_type.partition(";")[0].strip().lower()
    if kind == "application/x-www-form-urlencoded":
        form._pairs.extend(parse_qsl(data.decode("utf-8", "replace"), keep_blank_values=True))
    elif kind == "multipart/form-data":
        _parse_multipart(form, data, _BOUNDARY.search(content_type))
    else:
        raise type_error(
            f"Unrecognized Content-Type header value. FormData can only parse the following MIME types: "
            f"multipart/form-data, application/x-www-form-urlencoded. Got: {content_type or 'no content type'}"
        )
    return form


def _parse_multipart(form: FormData, data: bytes, boundary: re.Match[str] | None) -> None:
    if boundary is None:
        raise type_error("No boundary string in Content-Type header. The multipart/form-data MIME type requires one.")
    sections = (b"\r\n" + data).split(b"\r\n--" + (boundary[1] or boundary[2]).encode("latin-1"))
    for section in sections[1:-1]:
        head, found, body = section.partition(b"\r\n\r\n")
        named = _NAME.search(head)
        if not found or not named:
            raise type_error("Part could not be parsed in multipart/form-data body.")
        _add_part(form, _unquoted(named[1]), head, body)


def _add_part(form: FormData, name: str, head: bytes, body: bytes) -> None:
    filename = _FILENAME.search(head)
    if filename is None:
        form.append(name, body.decode("utf-8", "replace"))
        return
    kind = _PART_TYPE.search(head)
    content_type = kind[1].decode("latin-1").strip() if kind else ""
    form._pairs.append((name, File.new([body], _unquoted(filename[1]), type=content_type)))


def _quoted(text: str) -> str:
    return text.replace("\r", "%0D").replace("\n", "%0A").replace('"', "%22")


def _unquoted(text: bytes) -> str:
    return text.decode("utf-8", "replace").replace("%0D", "\r").replace("%0A", "\n").replace("%22", '"')
