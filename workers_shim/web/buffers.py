"""ArrayBuffer and its views."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, ClassVar, Literal

from workers_shim.web.errors import range_error, type_error
from workers_shim.web.proxy import JsProxy

# Letters of the struct module. The two kinds of float are among them, which typeshed has in another overload.
_Code = Literal["B", "b", "H", "h", "I", "i", "Q", "q"]


class ArrayBuffer(JsProxy):
    """A block of bytes."""

    _bytes: bytearray

    def __init__(self, length: int | bytes = 0) -> None:
        self._bytes = bytearray(length)

    def __len__(self) -> int:
        return len(self._bytes)

    @property
    def byteLength(self) -> int:
        return len(self._bytes)

    def slice(self, start: int = 0, end: int | None = None) -> ArrayBuffer:
        return buffer_of(self._bytes[start:end])

    def to_bytes(self) -> bytes:
        return bytes(self._bytes)

    def to_memoryview(self) -> memoryview:
        return memoryview(self._bytes)

    def to_string(self, encoding: str = "utf-8") -> str:
        return self._bytes.decode(encoding)

    def to_py(self, *, depth: int = -1, default_converter: Any = None) -> memoryview:
        return memoryview(self._bytes)

    def __devalue__(self) -> memoryview:
        return memoryview(self._bytes)


class TypedArray(JsProxy):
    """A view of an ArrayBuffer as numbers of one kind; the kinds below differ in ``_code`` only."""

    _code: ClassVar[_Code] = "B"

    _buffer: ArrayBuffer
    _view: memoryview
    _offset: int

    def __init__(self, source: Any = 0, offset: int = 0, length: int | None = None) -> None:
        if isinstance(source, ArrayBuffer):
            self._attach(source, offset, length)
        elif isinstance(source, int):
            self._attach(ArrayBuffer.new(source * self.BYTES_PER_ELEMENT))
        elif isinstance(source, bytes | bytearray | memoryview) and self._code == "B":
            self._attach(buffer_of(source))
        elif isinstance(source, Iterable):
            numbers = list(source)
            self._attach(ArrayBuffer.new(len(numbers) * self.BYTES_PER_ELEMENT))
            self.set(numbers)
        else:
            raise type_error(f"{type(source).__name__} cannot become a {type(self).__name__}")

    def _attach(self, buffer: ArrayBuffer, offset: int = 0, length: int | None = None) -> None:
        size = self.BYTES_PER_ELEMENT
        end = len(buffer) if length is None else offset + length * size
        if offset % size or (end - offset) % size or not 0 <= offset <= end <= len(buffer):
            raise range_error("Invalid typed array length or offset")
        self._buffer, self._offset = buffer, offset
        self._view = memoryview(buffer._bytes)[offset:end].cast(self._code)

    @property
    def BYTES_PER_ELEMENT(self) -> int:
        return memoryview(b"").cast(self._code).itemsize

    @property
    def buffer(self) -> ArrayBuffer:
        return self._buffer

    @property
    def byteOffset(self) -> int:
        return self._offset

    @property
    def byteLength(self) -> int:
        return self._view.nbytes

    @property
    def length(self) -> int:
        return len(self._view)

    def __len__(self) -> int:
        return len(self._view)

    def __iter__(self) -> Iterator[int | float]:
        return iter(self._view)

    def __getitem__(self, index: int) -> int | float:
        return self._view[index]

    def __setitem__(self, index: int, value: int | float) -> None:
        self._view[index] = value  # type: ignore[assignment]  # an int view refuses a float itself

    def __repr__(self) -> str:
        return ",".join(str(number) for number in self._view)

    def set(self, values: Iterable[Any], offset: int = 0) -> None:
        for index, value in enumerate(values, offset):
            self._view[index] = value

    def assign(self, data: Any) -> None:
        """Fill the view with the bytes of a Python buffer."""
        self._view.cast("B")[:] = memoryview(data).cast("B")

    def assign_to(self, target: Any) -> None:
        memoryview(target).cast("B")[:] = self._view.cast("B")

    def subarray(self, start: int = 0, end: int | None = None) -> Any:
        start, end, _ = slice(start, end).indices(len(self._view))
        return type(self).new(self._buffer, self._offset + start * self.BYTES_PER_ELEMENT, max(0, end - start))

    def slice(self, start: int = 0, end: int | None = None) -> Any:
        part = self.subarray(start, end)
        return type(self).new(buffer_of(part.to_bytes()))

    def to_bytes(self) -> bytes:
        return self._view.tobytes()

    def to_memoryview(self) -> memoryview:
        return self._view

    def to_string(self, encoding: str = "utf-8") -> str:
        return self._view.tobytes().decode(encoding)

    def to_py(self, *, depth: int = -1, default_converter: Any = None) -> memoryview:
        return self._view

    def __devalue__(self) -> memoryview:
        return self._view


class Uint8Array(TypedArray):
    _code = "B"


class Uint8ClampedArray(TypedArray):
    _code = "B"


class Int8Array(TypedArray):
    _code = "b"


class Uint16Array(TypedArray):
    _code = "H"


class Int16Array(TypedArray):
    _code = "h"


class Uint32Array(TypedArray):
    _code = "I"


class Int32Array(TypedArray):
    _code = "i"


class Float32Array(TypedArray):
    _code = "f"  # type: ignore[assignment]


class Float64Array(TypedArray):
    _code = "d"  # type: ignore[assignment]


class BigInt64Array(TypedArray):
    _code = "q"


class BigUint64Array(TypedArray):
    _code = "Q"


class DataView(TypedArray):
    """A view of raw bytes; celld-py keeps only what a body needs of it."""

    _code = "B"


def buffer_of(data: Any) -> ArrayBuffer:
    """An ArrayBuffer with a copy of these bytes."""
    made: ArrayBuffer = ArrayBuffer.new()
    made._bytes = bytearray(data)
    return made


def bytes_of(value: Any) -> bytes | None:
    """The bytes of a buffer of either language; None for anything else."""
    if isinstance(value, bytes):
        return value
    if isinstance(value, bytearray | memoryview):
        return bytes(value)
    return value.to_bytes() if isinstance(value, ArrayBuffer | TypedArray) else None
