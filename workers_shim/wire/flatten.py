"""Writing devalue's text: values become a flat list in which containers name their members by index.

It works through a queue instead of recursion, so depth costs nothing, a shared value is written once, and a cycle is
just an index met again.
"""

from __future__ import annotations

import math
from base64 import b64encode
from collections.abc import Callable
from json import encoder as json_encoder
from types import NoneType
from typing import Any, ClassVar

from workers_shim.wire import scalars
from workers_shim.wire.neutral import (
    ArrayBuffer,
    BigInt,
    Boxed,
    Date,
    ErrorValue,
    Hole,
    Map,
    NullObject,
    ReadableStream,
    RegExp,
    Set,
    SparseArray,
    Text,
    Undefined,
    View,
)
from workers_shim.wire.unflatten import SPARSE, DevalueError, Raw

Refer = Callable[[Any, Any], int]  # (flattening, value) -> the value's index, or one of devalue's negative numbers
Fill = Callable[[Any, Any], Raw]  # (flattening, value) -> its element in the flat list

# ASCII only: lone surrogates are escaped, so the text is valid UTF-8 whatever the value holds.
_JSON = json_encoder.JSONEncoder(separators=(",", ":"), check_circular=False, allow_nan=False)
# JSONEncoder makes a new C encoder for each text, which costs more than a small value's text itself.
_MAKE: Callable[..., Any] | None = getattr(json_encoder, "c_make_encoder", None)
_C_ENCODER = _MAKE and _MAKE(
    None, _JSON.default, json_encoder.encode_basestring_ascii, None, ":", ",", False, False, False
)


def dump(flat: list[Raw]) -> str:
    """Write a flat list as JSON."""
    return "".join(_C_ENCODER(flat, 0)) if _C_ENCODER is not None else _JSON.encode(flat)


class Flattening:
    """One value being written. Subclasses accept other types by other `refers`."""

    refers: ClassVar[dict[type, Refer]]

    def __init__(self) -> None:
        self.flat: list[Raw] = []
        self.shared = False  # whether a container was met twice: without that there is no cycle
        self.step: str = ""  # in an error: the member of the container at `at` that could not be written
        self.at = -1
        self._strings: dict[str, int] = {}
        self._integers: dict[int, int] = {}
        self._indexes: dict[int, int] = {}  # by id(); the queue keeps the values alive
        self._queue: list[tuple[int, Any, Fill]] = []

    def run(self, value: Any) -> int:
        """Fill `flat` and give the root's reference: 0, or a negative number that is all there is to write."""
        root = self.ref(value)
        for index, container, fill in self._queue:  # grows as it is worked through
            self.at = index
            self.flat[index] = fill(self, container)
        return root

    def ref(self, value: Any) -> int:
        """Give the index of a value, queueing it when it is new."""
        kind = type(value)
        if kind is str:
            index = self._strings.get(value)
            if index is None:
                index = self._strings[value] = len(self.flat)
                self.flat.append(value)
            return index
        refer = self.refers.get(kind)
        return refer(self, value) if refer is not None else self.other(value)

    def other(self, value: Any) -> int:
        """A value of a type that `refers` does not list."""
        raise DevalueError(f"a {type(value).__name__} is not a neutral value")

    def container(self, value: Any, fill: Fill) -> int:
        """Give the index of a value with identity."""
        index = self._indexes.get(id(value))
        if index is not None:
            self.shared = True
            return index
        index = self._indexes[id(value)] = len(self.flat)
        self.flat.append(None)
        self._queue.append((index, value, fill))
        return index

    def constant(self, value: bool | None) -> int:
        index = self._indexes.get(id(value))
        if index is None:
            index = self._indexes[id(value)] = len(self.flat)
            self.flat.append(value)
        return index

    def integer(self, value: int) -> int:
        index = self._integers.get(value)
        if index is None:
            index = self._integers[value] = self.leaf(value)
        return index

    def number(self, value: float) -> int:
        if math.isfinite(value):
            return -6 if value == 0 and math.copysign(1, value) < 0 else self.leaf(value)
        return -3 if math.isnan(value) else -4 if value > 0 else -5

    def leaf(self, raw: Raw) -> int:
        self.flat.append(raw)
        return len(self.flat) - 1

    def key(self, key: Any) -> str:
        """The text of an object's key that is not exactly a ``str``."""
        raise DevalueError(f"an object's key is a {type(key).__name__}")

    def object(self, value: dict[Any, Any]) -> Raw:
        fields: dict[str, int] = {}
        ref, key = self.ref, None
        try:
            for key, item in value.items():
                fields[key if type(key) is str else self.key(key)] = ref(item)
        except Exception:
            self.step = step_text(key)
            raise
        return fields

    def array(self, value: list[Any]) -> Raw:
        refs: list[int] = []
        add, ref = refs.append, self.ref
        try:
            for item in value:
                add(ref(item))
        except Exception:
            self.step = f"[{len(refs)}]"
            raise
        return refs

    def map(self, value: Map) -> Raw:
        raw: list[Raw] = ["Map"]
        for key, item in value.entries:
            raw += (self.ref(key), self.ref(item))
        return raw


def stringify(value: Any) -> str:
    """Write a neutral value as devalue text."""
    flattening = Flattening()
    root = flattening.run(value)
    try:
        return dump(flattening.flat) if root >= 0 else str(root)
    except ValueError as error:
        raise DevalueError(str(error)) from None


def step_text(key: Any) -> str:
    """One step of a path: ``.name`` or ``["odd name"]``."""
    return f".{key}" if isinstance(key, str) and key.isidentifier() else f"[{key!r}]"


def _of(fill: Fill) -> Refer:
    return lambda flattening, value: flattening.container(value, fill)


def _view(flattening: Flattening, view: View) -> Raw:
    raw: list[Raw] = [view.kind, flattening.ref(view.buffer)]
    if view.length is not None:
        raw += (view.offset, view.length)
    elif view.offset:
        raise DevalueError("a View with an offset needs a length")
    return raw


def _error(flattening: Flattening, error: ErrorValue) -> Raw:
    fields = {"name": error.name, "message": error.message}
    if error.stack is not None:
        fields["stack"] = error.stack
    return ["Error", flattening.leaf({key: flattening.ref(text) for key, text in fields.items()})]


def _stream(flattening: Flattening, stream: ReadableStream) -> Raw:
    fields = {"step": stream.step, "attempt": stream.attempt, "size": stream.size, "preview": stream.preview}
    return ["ReadableStream", flattening.leaf({key: flattening.ref(value) for key, value in fields.items()})]


def _sparse(flattening: Flattening, array: SparseArray) -> Raw:
    raw: list[Raw] = [SPARSE, array.length]
    for slot, item in array.slots.items():
        raw += (slot, flattening.ref(item))
    return raw


def _null_object(flattening: Flattening, value: NullObject) -> Raw:
    raw: list[Raw] = ["null"]
    for key, item in value.items():
        raw += (key, flattening.ref(item))
    return raw


Flattening.refers = {
    NoneType: Flattening.constant,
    bool: Flattening.constant,
    int: Flattening.integer,
    float: Flattening.number,
    Undefined: lambda _, __: -1,
    Hole: lambda _, __: -2,
    dict: _of(Flattening.object),
    list: _of(Flattening.array),
    Map: _of(Flattening.map),
    Set: _of(lambda flattening, value: ["Set", *map(flattening.ref, value.members)]),
    Date: _of(lambda _, value: ["Date", scalars.date_text(value.ms)]),
    BigInt: _of(lambda _, value: ["BigInt", scalars.integer_text(value.value)]),
    RegExp: _of(lambda _, value: ["RegExp", value.source, *([value.flags] if value.flags else [])]),
    Text: _of(lambda _, value: [value.kind, value.text]),
    ArrayBuffer: _of(lambda _, value: ["ArrayBuffer", b64encode(value.data).decode("ascii")]),
    View: _of(_view),
    Boxed: _of(lambda flattening, value: ["Object", flattening.ref(value.value)]),
    ErrorValue: _of(_error),
    ReadableStream: _of(_stream),
    SparseArray: _of(_sparse),
    NullObject: _of(_null_object),
}
