"""Reading devalue's text: a JSON array of values in which containers name their members by index.

The array is read in two passes and without recursion: first every value is made (containers still empty), then the
containers are filled. So sharing and cycles come out as they went in, at any depth.
"""

from __future__ import annotations

import math
from base64 import b64decode
from collections.abc import Callable
from json import JSONDecoder
from typing import Any, NoReturn

from workers_shim.wire import scalars
from workers_shim.wire.neutral import (
    ELEMENT_SIZES,
    HOLE,
    TEXT_KINDS,
    UNDEFINED,
    ArrayBuffer,
    BigInt,
    Boxed,
    Date,
    ErrorValue,
    Map,
    NullObject,
    ReadableStream,
    RegExp,
    Set,
    SparseArray,
    Text,
    View,
)

Made = dict[int, Any]  # value by index; devalue's negative numbers are in it too, so that no look-up needs a branch
Raw = Any  # one element of the JSON array

SPARSE = -7
_MAX_LENGTH = 2**32 - 1  # of a JavaScript array


class DevalueError(ValueError):
    """The text is not devalue's, or a value has no such text."""


class NeutralModel:
    """What the values read are made of. Subclasses make something else of them."""

    constants: Made = {-1: UNDEFINED, -2: HOLE, -3: math.nan, -4: math.inf, -5: -math.inf, -6: -0.0}  # noqa: RUF012
    object: Callable[[], dict[str, Any]] = dict

    def number(self, value: float) -> Any:
        return value

    def date(self, text: str) -> Any:
        return Date(scalars.date_ms(text))

    def bigint(self, text: str) -> Any:
        return BigInt(scalars.integer(text))

    def regexp(self, source: str, flags: str) -> Any:
        return RegExp(source, flags)

    def text(self, kind: str, text: str) -> Any:
        return Text(kind, text)

    def view(self, view: View) -> Any:
        return view

    def buffer(self, buffer: ArrayBuffer) -> Any:
        return buffer

    def boxed(self, value: Any) -> Any:
        return Boxed(value)

    def error(self, error: ErrorValue) -> Any:
        return error

    def stream(self, stream: ReadableStream) -> Any:
        return stream

    def null_object(self) -> Any:
        return NullObject()

    def set(self) -> Any:
        return Set()

    def map(self) -> Any:
        return Map()

    def sparse(self, length: int) -> Any:
        return SparseArray(length)

    def fill_object(self, made: Made, shell: Any, raw: dict[str, int]) -> None:
        for key, ref in raw.items():
            shell[key] = made[ref]

    def fill_array(self, made: Made, shell: Any, raw: list[int]) -> None:
        shell += map(made.__getitem__, raw)

    def fill_set(self, made: Made, shell: Any, raw: list[Raw]) -> None:
        shell.members.extend(made[ref] for ref in raw[1:])

    def fill_map(self, made: Made, shell: Any, raw: list[Raw]) -> None:
        shell.entries.extend((made[key], made[value]) for key, value in pairs(raw, 1))

    def fill_null_object(self, made: Made, shell: Any, raw: list[Raw]) -> None:
        self.fill_object(made, shell, dict(pairs(raw, 1)))

    def fill_sparse(self, made: Made, shell: Any, raw: list[Raw]) -> None:
        shell.slots.update((slot, made[value]) for slot, value in pairs(raw, 2))


def unflatten(text: str, model: NeutralModel) -> Any:
    """Make the value that a devalue text describes, of the model's parts."""
    flat = load(text)
    if isinstance(flat, int):
        return model.constants[flat]
    try:
        return _Unflattening(flat, model).value()
    except KeyError as error:
        raise DevalueError(f"value {error.args[0]!r} is referred to, but there are only {len(flat)}") from None


def load(text: str) -> list[Raw] | int:
    """Read the JSON; a lone number is one of devalue's constants."""
    try:
        flat = _JSON.decode(text)
    except (ValueError, RecursionError) as error:
        raise DevalueError(f"not JSON: {error}") from None
    if isinstance(flat, list) and flat:
        return flat
    if type(flat) is int and flat in NeutralModel.constants and flat != -2:
        return flat
    raise DevalueError("neither a non-empty array nor one of the numbers -1 and -3 to -6")


def pairs(raw: list[Raw], start: int) -> list[tuple[Any, Any]]:
    """The rest of a tagged array, two by two."""
    if (len(raw) - start) % 2:
        raise DevalueError(f"an entry of {raw[0]!r} has a key without a value")
    return list(zip(raw[start::2], raw[start + 1 :: 2], strict=True))


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")


_JSON = JSONDecoder(parse_constant=_refuse)


class _Unflattening:
    def __init__(self, flat: list[Raw], model: NeutralModel) -> None:
        self.flat = flat
        self.model = model
        self.made: Made = dict(model.constants)
        self.buffers: dict[int, ArrayBuffer] = {}
        self.derived: list[tuple[Callable[[list[Raw]], Any], int, list[Raw]]] = []
        self.fills: list[tuple[Callable[[Made, Any, Any], None], Any, Raw]] = []

    def value(self) -> Any:
        made, model, fills = self.made, self.model, self.fills
        new_object, fill_object = model.object, model.fill_object
        for index, raw in enumerate(self.flat):
            kind = type(raw)
            if kind is dict:
                shell = made[index] = new_object()
                fills.append((fill_object, shell, raw))
            elif kind is list:
                self._open(index, raw)
            elif kind is int or kind is float:
                made[index] = model.number(raw)
            else:
                made[index] = raw
        for derive, index, raw in self.derived:
            made[index] = derive(raw)
        try:
            for fill, shell, raw in fills:
                fill(made, shell, raw)
        except TypeError as error:
            raise DevalueError(f"a member is not named by its index: {error}") from None
        return made[0]

    def _open(self, index: int, raw: list[Raw]) -> None:
        tag = raw[0] if raw else None
        if type(tag) is str:
            self._open_tagged(index, tag, raw)
        elif tag == SPARSE:
            self._open_sparse(index, raw)
        else:
            self._shell(index, [], self.model.fill_array, raw)

    def _shell(self, index: int, shell: Any, fill: Callable[[Made, Any, Any], None], raw: Raw) -> None:
        self.made[index] = shell
        self.fills.append((fill, shell, raw))

    def _open_sparse(self, index: int, raw: list[Raw]) -> None:
        length = raw[1] if len(raw) > 1 else None
        if type(length) is not int or not 0 <= length <= _MAX_LENGTH:
            raise DevalueError(f"a sparse array of length {length!r}")
        for slot, _ in pairs(raw, 2):
            if type(slot) is not int or not 0 <= slot < length:
                raise DevalueError(f"slot {slot!r} of a sparse array of length {length}")
        self._shell(index, self.model.sparse(length), self.model.fill_sparse, raw)

    def _open_tagged(self, index: int, tag: str, raw: list[Raw]) -> None:
        model = self.model
        if tag == "Set":
            self._shell(index, model.set(), model.fill_set, raw)
        elif tag == "Map":
            self._shell(index, model.map(), model.fill_map, raw)
        elif tag == "null":
            self._shell(index, model.null_object(), model.fill_null_object, raw)
        elif tag in ELEMENT_SIZES:
            self.derived.append((self._view, index, raw))
        elif tag == "Object":
            self.derived.append((self._boxed, index, raw))
        elif tag == "Error":
            self.derived.append((self._error, index, raw))
        elif tag == "ReadableStream":
            self.derived.append((self._stream, index, raw))
        elif tag == "ArrayBuffer":
            buffer = self.buffers[index] = ArrayBuffer(_bytes(_string(raw, 1)))
            self.made[index] = model.buffer(buffer)
        else:
            self.made[index] = self._leaf(tag, raw)

    def _leaf(self, tag: str, raw: list[Raw]) -> Any:
        text = _string(raw, 1)
        try:
            if tag == "Date":
                return self.model.date(text)
            if tag == "BigInt":
                return self.model.bigint(text)
        except ValueError as error:
            raise DevalueError(str(error)) from None
        if tag == "RegExp":
            return self.model.regexp(text, _string(raw, 2) if len(raw) > 2 else "")
        if tag in TEXT_KINDS:
            return self.model.text(tag, text)
        raise DevalueError(f"unknown type {tag!r}")

    def _view(self, raw: list[Raw]) -> Any:
        kind, ref = raw[0], raw[1] if len(raw) > 1 else None
        if isinstance(ref, str):  # devalue 5.0 had the bytes here
            return self.model.view(View.of(kind, _bytes(ref)))
        buffer = self.buffers.get(ref) if isinstance(ref, int) else None
        if buffer is None:
            raise DevalueError(f"a {kind} without an ArrayBuffer")
        offset, length = (raw[2], raw[3]) if len(raw) > 3 else (0, None)
        view = View(kind, buffer, offset, length)
        if not _fits(view):
            raise DevalueError(f"a {kind} that does not fit its ArrayBuffer of {len(buffer.data)} bytes")
        return self.model.view(view)

    def _boxed(self, raw: list[Raw]) -> Any:
        ref: Any = raw[1] if len(raw) > 1 else None
        if isinstance(ref, str | bool):  # devalue before 5.2 had the primitive here
            return self.model.boxed(ref)
        inner = self.flat[ref] if isinstance(ref, int) and 0 <= ref < len(self.flat) else None
        primitive = isinstance(inner, str | int | float) or (isinstance(inner, list) and inner[:1] == ["BigInt"])
        if not primitive and ref not in (-3, -4, -5, -6):
            raise DevalueError("an Object around something that is not a primitive")
        return self.model.boxed(self.made[int(ref)])

    def _error(self, raw: list[Raw]) -> Any:
        fields = self._fields_of(raw, "an Error")
        name, message, stack = (self._text_of(fields.get(key)) for key in ("name", "message", "stack"))
        if name is None or message is None:
            raise DevalueError("an Error without a name or a message")
        return self.model.error(ErrorValue(name, message, stack))

    def _stream(self, raw: list[Raw]) -> Any:
        fields = self._fields_of(raw, "a ReadableStream")
        step, attempt, size = (self._leaf_of(fields.get(key)) for key in ("step", "attempt", "size"))
        preview = self._text_of(fields.get("preview"))
        if not (type(step) is int and type(attempt) is int and type(size) is int) or preview is None:
            raise DevalueError("a ReadableStream that does not say which")
        return self.model.stream(ReadableStream(step, attempt, size, preview))

    def _fields_of(self, raw: list[Raw], what: str) -> dict[str, Raw]:
        fields = self._leaf_of(raw[1]) if len(raw) > 1 else None
        if not isinstance(fields, dict):
            raise DevalueError(f"{what} without its fields")
        return fields

    def _text_of(self, ref: Raw) -> str | None:
        text = self._leaf_of(ref)
        return text if isinstance(text, str) else None

    def _leaf_of(self, ref: Raw) -> Raw:
        return self.flat[ref] if isinstance(ref, int) and 0 <= ref < len(self.flat) else None


def _string(raw: list[Raw], position: int) -> str:
    text = raw[position] if len(raw) > position else None
    if not isinstance(text, str):
        raise DevalueError(f"a {raw[0]} without its text")
    return text


def _bytes(text: str) -> bytes:
    try:
        return b64decode(text + "=" * (-len(text) % 4), validate=True)
    except ValueError as error:
        raise DevalueError(f"an ArrayBuffer that is not base64: {error}") from None


def _fits(view: View) -> bool:
    size, offset, length = len(view.buffer.data), view.offset, view.length
    width = ELEMENT_SIZES[view.kind]
    if type(offset) is not int or offset < 0 or offset % width:
        return False
    if length is None:
        return offset <= size and (size - offset) % width == 0
    return type(length) is int and length >= 0 and offset + length * width <= size
