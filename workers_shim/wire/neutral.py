"""The neutral model of a JavaScript value: lossless, and the same on both sides of the wire.

``None``, ``bool``, ``int``, ``float``, ``str``, ``list`` and ``dict`` stand for JSON's kinds; an ``int`` or ``float``
is a JavaScript number. Everything else has a class here. Containers are frozen around a list that is filled later,
because a value may contain itself.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

# Bytes of one element of each kind of view.
ELEMENT_SIZES: Final[dict[str, int]] = {
    "Int8Array": 1,
    "Uint8Array": 1,
    "Uint8ClampedArray": 1,
    "Int16Array": 2,
    "Uint16Array": 2,
    "Float16Array": 2,
    "Int32Array": 4,
    "Uint32Array": 4,
    "Float32Array": 4,
    "Float64Array": 8,
    "BigInt64Array": 8,
    "BigUint64Array": 8,
    "DataView": 1,
}


class Undefined:
    """JavaScript's ``undefined``; `UNDEFINED` is its only instance."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "UNDEFINED"

    def __bool__(self) -> bool:
        return False


class Hole:
    """A slot of an array that was never set; `HOLE` is its only instance."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "HOLE"

    def __bool__(self) -> bool:
        return False


UNDEFINED: Final = Undefined()
HOLE: Final = Hole()


@dataclass(frozen=True, slots=True)
class Date:
    """Milliseconds since the epoch; ``math.nan`` is an invalid date."""

    ms: float


@dataclass(frozen=True, slots=True)
class BigInt:
    """An integer of any size that is not a number."""

    value: int


@dataclass(frozen=True, slots=True)
class Map:
    """Key and value pairs in order; keys may be any value."""

    entries: list[tuple[Any, Any]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Set:
    """Members in order; they may be any value."""

    members: list[Any] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class RegExp:
    """A regular expression as its source and flags."""

    source: str
    flags: str = ""


@dataclass(frozen=True, slots=True)
class ArrayBuffer:
    """Plain bytes, which several `View`s may share."""

    data: bytes


@dataclass(frozen=True, slots=True)
class View:
    """A typed array or DataView on a buffer.

    ``offset`` is in bytes, ``length`` in elements; None reaches to the buffer's end.
    """

    kind: str
    buffer: ArrayBuffer
    offset: int = 0
    length: int | None = None

    @classmethod
    def of(cls, kind: str, data: bytes) -> View:
        """A view that covers a buffer of its own."""
        return cls(kind, ArrayBuffer(data))

    @property
    def data(self) -> bytes:
        """The bytes that the view shows."""
        if self.length is None:
            return self.buffer.data[self.offset :] if self.offset else self.buffer.data
        return self.buffer.data[self.offset : self.offset + self.length * ELEMENT_SIZES[self.kind]]


@dataclass(frozen=True, slots=True)
class ErrorValue:
    """An Error that is part of a value (one that is thrown is a `messages.ErrorData`)."""

    name: str
    message: str
    stack: str | None = None


@dataclass(frozen=True, slots=True)
class ReadableStream:
    """A stream of bytes that a step returned. The host keeps the bytes; this says which stream of an instance it is,
    how many bytes it has, and how it is shown."""

    step: int
    attempt: int
    size: int
    preview: str


@dataclass(frozen=True, slots=True)
class Text:
    """A value that is its text: URL, URLSearchParams, Headers, Blob, and the Temporal kinds."""

    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class Boxed:
    """A primitive wrapped in an object, as ``Object(1)`` makes."""

    value: Any


class NullObject(dict[str, Any]):
    """An object without a prototype."""


@dataclass(frozen=True, slots=True)
class SparseArray:
    """An array with so many holes that only its set slots are listed."""

    length: int
    slots: dict[int, Any] = field(default_factory=dict)


TEXT_KINDS: Final = frozenset(
    {
        "Blob",  # its text is a data: URL
        "Headers",  # its text is JSON: a list of pairs
        "URL",
        "URLSearchParams",
        "Temporal.Duration",
        "Temporal.Instant",
        "Temporal.PlainDate",
        "Temporal.PlainTime",
        "Temporal.PlainDateTime",
        "Temporal.PlainMonthDay",
        "Temporal.PlainYearMonth",
        "Temporal.ZonedDateTime",
    }
)
