"""The small global objects of JavaScript: Math, console, crypto, text codecs, Error."""

from __future__ import annotations

import hashlib
import math
import random
import secrets
import sys
import uuid
from typing import Any

from workers_shim.errors import JsException
from workers_shim.web.buffers import ArrayBuffer, TypedArray, Uint8Array, buffer_of, bytes_of
from workers_shim.web.errors import type_error
from workers_shim.web.proxy import JsProxy, member

_DIGESTS = {"SHA-1": "sha1", "SHA-256": "sha256", "SHA-384": "sha384", "SHA-512": "sha512", "MD5": "md5"}


class Math(JsProxy):
    """The functions of Math that are not one-liners of Python's anyway, and those that are."""

    PI, E = math.pi, math.e
    abs, min, max = staticmethod(abs), staticmethod(min), staticmethod(max)
    floor, ceil, trunc = staticmethod(math.floor), staticmethod(math.ceil), staticmethod(math.trunc)
    sqrt, pow = staticmethod(math.sqrt), staticmethod(math.pow)
    random = staticmethod(random.random)

    @staticmethod
    def round(value: float) -> int:
        return math.floor(value + 0.5)


class Console(JsProxy):
    """console: what it writes is a line of the Worker's log."""

    def log(self, *values: Any) -> None:
        print(*values, flush=True)  # the isolate turns what is printed into lines of the log

    debug = info = log

    def error(self, *values: Any) -> None:
        print(*values, file=sys.stderr, flush=True)

    warn = trace = error


class SubtleCrypto(JsProxy):
    async def digest(self, algorithm: Any, data: Any) -> ArrayBuffer:
        name = str(algorithm if isinstance(algorithm, str) else member(algorithm, "name", "")).upper()
        content = bytes_of(data)
        if name not in _DIGESTS:
            raise JsException("NotSupportedError", f'Unrecognized or unimplemented digest algorithm "{name}".')
        if content is None:
            raise type_error("The data of a digest must be a buffer of bytes.")
        return buffer_of(hashlib.new(_DIGESTS[name], content, usedforsecurity=False).digest())


class Crypto(JsProxy):
    subtle: SubtleCrypto = SubtleCrypto.new()

    def randomUUID(self) -> str:
        return str(uuid.uuid4())

    def getRandomValues(self, view: Any) -> Any:
        """Fill the view with random bytes, and give it back."""
        if not isinstance(view, TypedArray):
            raise type_error("getRandomValues needs a typed array of integers.")
        view.assign(secrets.token_bytes(view.byteLength))
        return view


class TextEncoder(JsProxy):
    encoding = "utf-8"

    def encode(self, text: str = "") -> Any:
        return Uint8Array.new(text.encode("utf-8", "replace"))


class TextDecoder(JsProxy):
    encoding = "utf-8"

    def decode(self, data: Any = b"") -> str:
        content = bytes_of(data)
        if content is None:
            raise type_error("TextDecoder.decode needs a buffer of bytes.")
        return content.decode("utf-8-sig", "replace")


class Error(JsException):
    """`js.Error`: its ``new`` makes what `throw` would throw."""

    @staticmethod
    def new(message: Any = "", options: Any = None) -> JsException:
        return JsException("Error", str(message))
