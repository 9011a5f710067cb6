"""JavaScript's global scope, as Worker code imports it from Python."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from workers_shim.not_served import explain_missing
from workers_shim.web import json_text as JSON
from workers_shim.web.blob import Blob, File
from workers_shim.web.buffers import (
    ArrayBuffer,
    BigInt64Array,
    BigUint64Array,
    DataView,
    Float32Array,
    Float64Array,
    Int8Array,
    Int16Array,
    Int32Array,
    Uint8Array,
    Uint8ClampedArray,
    Uint16Array,
    Uint32Array,
)
from workers_shim.web.date import Date
from workers_shim.web.errors import not_served
from workers_shim.web.fetch import fetch
from workers_shim.web.formdata import FormData
from workers_shim.web.globals import (
    Console,
    Crypto,
    Error,
    Math,
    TextDecoder,
    TextEncoder,
)
from workers_shim.web.headers import Headers
from workers_shim.web.proxy import Array, Map, Object, Set
from workers_shim.web.request import Request
from workers_shim.web.response import Response
from workers_shim.web.streams import ReadableStream
from workers_shim.web.timers import clearInterval, clearTimeout, queueMicrotask, setInterval, setTimeout
from workers_shim.web.url import URL, URLSearchParams
from workers_shim.web.writable import TransformStream, WritableStream

__all__ = [
    "JSON",
    "URL",
    "Array",
    "ArrayBuffer",
    "BigInt64Array",
    "BigUint64Array",
    "Blob",
    "DataView",
    "Date",
    "Error",
    "File",
    "Float32Array",
    "Float64Array",
    "FormData",
    "Headers",
    "Int8Array",
    "Int16Array",
    "Int32Array",
    "Map",
    "Math",
    "Object",
    "ReadableStream",
    "Request",
    "Response",
    "Set",
    "TextDecoder",
    "TextEncoder",
    "TransformStream",
    "URLSearchParams",
    "Uint8Array",
    "Uint8ClampedArray",
    "Uint16Array",
    "Uint32Array",
    "WritableStream",
    "clearInterval",
    "clearTimeout",
    "console",
    "crypto",
    "fetch",
    "queueMicrotask",
    "setInterval",
    "setTimeout",
    "undefined",
]

console: Console = Console.new()
crypto: Crypto = Crypto.new()
undefined = None

explain_missing(__name__)

if not TYPE_CHECKING:

    def __getattr__(name: str) -> NoReturn:
        raise AttributeError(not_served(f"js.{name}") if not name.startswith("__") else name)


def __dir__() -> list[Any]:
    return __all__
