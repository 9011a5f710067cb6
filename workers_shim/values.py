"""What the values of a Python Worker become at every boundary: step results, event payloads, binding arguments.

The rules are those of Cloudflare's SDK: what crosses has been JavaScript in between. So ``10.0`` comes back as ``10``,
bytes as a memoryview, a dict as a `JsDict` with text keys, a datetime naive, in UTC, and cut to milliseconds.

An object may stand for another value: a ``__devalue__(self)`` method of its class gives the Python or neutral value to
encode in its place (the `js` and `pyodide` modules use it for Map, Date, undefined and the like).
"""

from __future__ import annotations

import datetime as dt
import inspect
from base64 import b64encode
from collections.abc import Callable, Iterator
from typing import Any, Literal, cast

from workers_shim.errors import ConversionError, DataCloneError, add_detail
from workers_shim.wire import scalars
from workers_shim.wire.flatten import Flattening, Refer, dump
from workers_shim.wire.graph import find_cycle, path_to
from workers_shim.wire.neutral import ArrayBuffer, ErrorValue, ReadableStream, RegExp, View
from workers_shim.wire.scalars import MAX_SAFE_INTEGER
from workers_shim.wire.sizes import clone_size, flat_size
from workers_shim.wire.unflatten import Made, NeutralModel, Raw, pairs, unflatten

_MAX_SPARSE = 1 << 20  # a text of 20 characters can name an array of four billion slots

_Letter = Literal["b", "h", "H", "i", "I", "f", "d", "q", "Q"]

# The letters of the struct module for the elements of typed arrays; Uint8ClampedArray and DataView are plain bytes.
_FORMATS: dict[str, _Letter] = {
    "Int8Array": "b",
    "Int16Array": "h",
    "Uint16Array": "H",
    "Int32Array": "i",
    "Uint32Array": "I",
    "Float32Array": "f",
    "Float64Array": "d",
    "BigInt64Array": "q",
    "BigUint64Array": "Q",
}
_KINDS: dict[str, str] = {letter: kind for kind, letter in _FORMATS.items()}


class JsDict(dict[str, Any]):
    """A dict whose keys are attributes too; methods of dict win over keys of the same name.

    ``to_py``, ``object_keys``, ``object_values`` and ``object_entries`` are there for code of the older SDK; keys of
    these names win over them, because on Cloudflare the methods do not exist.
    """

    __slots__ = ()

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            method = _OLD_METHODS.get(name)
            if method is not None:
                return method.__get__(self)
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}") from None

    def __setattr__(self, name: str, value: Any) -> None:
        self[name] = value

    def __delattr__(self, name: str) -> None:
        try:
            del self[name]
        except KeyError:
            raise AttributeError(name) from None


def to_py(value: Any, **_: Any) -> Any:
    """Give a deep copy of plain dicts and lists; sharing and cycles are kept."""
    copies: dict[int, Any] = {}
    return _copy(value, copies)


def _copy(value: Any, copies: dict[int, Any]) -> Any:
    if not isinstance(value, dict | list):
        return value
    known = copies.get(id(value))
    if known is not None:
        return known
    if isinstance(value, dict):
        fields: dict[Any, Any] = {}
        copies[id(value)] = fields
        fields.update((key, _copy(item, copies)) for key, item in value.items())
        return fields
    items: list[Any] = []
    copies[id(value)] = items
    items.extend(_copy(item, copies) for item in value)
    return items


def _object_keys(self: JsDict) -> list[str]:
    return list(self.keys())


def _object_values(self: JsDict) -> list[Any]:
    return list(self.values())


def _object_entries(self: JsDict) -> list[list[Any]]:
    return [[key, value] for key, value in self.items()]


_OLD_METHODS: dict[str, Callable[..., Any]] = {
    "to_py": to_py,
    "object_keys": _object_keys,
    "object_values": _object_values,
    "object_entries": _object_entries,
}


def encode(value: Any, root: str = "result") -> tuple[str, int]:
    """Give the devalue text of a Python value and its size in structured-clone bytes.

    What cannot cross raises Cloudflare's error, with a note that says where it is: ``at result.items[3].when``.
    """
    encoding = _Encoding()
    try:
        reference = encoding.run(value)
        if encoding.shared:
            encoding.refuse_cycle()
    except Exception as error:
        path = path_to(encoding.flat, encoding.at) + encoding.step
        add_detail(error, f"at {root}{path}")
        raise
    if reference < 0:
        text = str(reference)
        return text, clone_size(text)
    return dump(encoding.flat), flat_size(encoding.flat)


def decode(text: str) -> Any:
    """Give the Python value of a devalue text."""
    return unflatten(text, _MODEL)


class _Encoding(Flattening):
    """Python values on their way to text."""

    def other(self, value: Any) -> int:
        hook = getattr(type(value), "__devalue__", None)
        if hook is not None:
            return self._hooked(value, hook)
        for base, refer in _BASES:
            if isinstance(value, base):
                return refer(self, value)
        if inspect.isawaitable(value):
            raise TypeError(f"Awaitable {type(value)} cannot be sent over RPC.")
        name = type(value).__qualname__
        raise DataCloneError(f'Could not serialize object of type "{name}". This type does not support serialization.')

    def _hooked(self, value: Any, hook: Callable[[Any], Any]) -> int:
        index = self._indexes.get(id(value))
        if index is None:
            index = self._indexes[id(value)] = self.ref(hook(value))
        else:
            self.shared = True
        return index

    def number(self, value: float) -> int:
        if value.is_integer() and abs(value) <= MAX_SAFE_INTEGER:
            return self.integer(int(value))
        return super().number(value)

    def integer(self, value: int) -> int:
        index = self._integers.get(value)
        if index is None:
            safe = -MAX_SAFE_INTEGER <= value <= MAX_SAFE_INTEGER
            index = self._integers[value] = len(self.flat)
            self.flat.append(value if safe else ["BigInt", scalars.integer_text(value)])
        return index

    def key(self, key: Any) -> str:
        if isinstance(key, str):
            return str.__str__(key)
        if key is None:
            return "undefined"
        if isinstance(key, bool):
            return "true" if key else "false"
        if isinstance(key, int):
            return scalars.integer_text(key)
        if isinstance(key, float):
            return scalars.number_text(key)
        raise ConversionError(f"Cannot use {key!r} as a key for a Javascript Map")

    def members(self, value: set[Any]) -> Raw:
        refs: list[Raw] = ["Set"]
        for member in value:
            if not isinstance(member, str | int | float | None):
                self._refuse_member(member)
            refs.append(self.ref(member))
        return refs

    def _refuse_member(self, member: Any) -> None:
        if isinstance(member, tuple):
            self.ref(member)  # raises what a tuple raises everywhere
        raise ConversionError(f"Cannot use {member!r} as a key for a Javascript Set")

    def view(self, value: memoryview) -> Raw:
        kind = _KINDS.get(value.format, "Uint8Array")
        return [kind, self.bytes(value.tobytes())]

    def bytes(self, value: bytes) -> int:
        return self.leaf(["ArrayBuffer", b64encode(value).decode("ascii")])

    def refuse_cycle(self) -> None:
        index = find_cycle(self.flat)
        if index is not None:
            self.at = index
            raise DataCloneError("Could not serialize a value that contains itself.")


def _container(fill: Callable[[Any, Any], Raw]) -> Refer:
    return lambda encoding, value: encoding.container(value, fill)


def _date(_: Any, value: dt.datetime) -> Raw:
    if value.utcoffset() is not None:
        value = value.astimezone(dt.UTC)
    return ["Date", value.replace(tzinfo=None).isoformat(timespec="milliseconds") + "Z"]


def _error(encoding: Any, value: BaseException) -> Raw:
    fields = {"name": encoding.ref("Error"), "message": encoding.ref(str(value))}
    return ["Error", encoding.leaf(fields)]


def _refused(_: Any, value: Any) -> int:
    raise TypeError(f"{type(value)} cannot be sent over RPC.")


def _refused_regexp(_: Any, value: RegExp) -> int:
    raise TypeError("RegExp cannot be sent over RPC.")


_object = _container(_Encoding.object)
_array = _container(_Encoding.array)
_set = _container(_Encoding.members)
_datetime = _container(_date)
_exception = _container(_error)
_bytes = _container(lambda encoding, value: ["Uint8Array", encoding.bytes(value)])
_memory = _container(_Encoding.view)

_Encoding.refers = {
    **Flattening.refers,
    int: _Encoding.integer,
    float: _Encoding.number,
    dict: _object,
    JsDict: _object,
    list: _array,
    set: _set,
    bytes: _bytes,
    memoryview: _memory,
    dt.datetime: _datetime,
    RegExp: _refused_regexp,
    tuple: _refused,
    bytearray: _refused,
}

# Subclasses travel as what they extend: a StrEnum as str, a Counter as a dict.
_BASES: tuple[tuple[type, Refer], ...] = (
    (str, lambda encoding, value: encoding.ref(str.__str__(value))),
    (int, lambda encoding, value: encoding.integer(int.__int__(value))),
    (float, lambda encoding, value: encoding.number(float.__float__(value))),
    (dict, _object),
    (list, _array),
    (set, _set),
    (bytes, _bytes),
    (dt.datetime, _datetime),
    (tuple, _refused),
    (bytearray, _refused),
    (BaseException, _exception),
)


class _PythonModel(NeutralModel):
    """JavaScript values as the SDK gives them to Python code; what has no counterpart stays neutral."""

    constants: Made = {**NeutralModel.constants, -1: None, -2: None, -6: 0}  # noqa: RUF012
    object = JsDict

    def number(self, value: float) -> Any:
        if -MAX_SAFE_INTEGER <= value <= MAX_SAFE_INTEGER:
            return int(value) if value == int(value) else value
        try:
            return float(value)
        except OverflowError:
            return float("inf") if value > 0 else float("-inf")

    def date(self, text: str) -> Any:
        if len(text) != 24:
            scalars.date_ms(text)
            raise ConversionError(f"Date {text or 'Invalid Date'!r} has no datetime")
        return dt.datetime.fromisoformat(text[:-1])

    def bigint(self, text: str) -> Any:
        return scalars.integer(text)

    def boxed(self, value: Any) -> Any:
        return value

    def view(self, view: View) -> Any:
        letter = _FORMATS.get(view.kind)
        memory = memoryview(bytearray(view.data))
        return memory if letter is None else memory.cast(cast(Literal["B"], letter))  # typeshed has no union

    def buffer(self, buffer: ArrayBuffer) -> Any:
        return memoryview(bytearray(buffer.data))

    def error(self, error: ErrorValue) -> Any:
        return Exception(f"{error.name}: {error.message}" if error.message else error.name)

    def stream(self, stream: ReadableStream) -> Any:
        raise ConversionError("A step returned a ReadableStream, which only JavaScript Workers can read")

    def null_object(self) -> Any:
        return JsDict()

    def set(self) -> Any:
        return set()

    def map(self) -> Any:
        return {}

    def sparse(self, length: int) -> Any:
        if length > _MAX_SPARSE:
            raise ConversionError(f"an array of {length} slots, most of them empty, is too long for a list")
        return [None] * length

    def fill_set(self, made: Made, shell: Any, raw: list[Raw]) -> None:
        for value in _hashable((made[ref] for ref in raw[1:]), "set"):
            shell.add(value)

    def fill_map(self, made: Made, shell: Any, raw: list[Raw]) -> None:
        keys = _hashable((made[ref] for ref in raw[1::2]), "dict")
        shell.update(zip(keys, (made[ref] for _, ref in pairs(raw, 1)), strict=True))

    def fill_sparse(self, made: Made, shell: Any, raw: list[Raw]) -> None:
        for slot, ref in pairs(raw, 2):
            shell[slot] = made[ref]


def _hashable(values: Iterator[Any], kind: str) -> Iterator[Any]:
    for value in values:
        if not isinstance(value, str | int | float | None):
            name = _JS_NAMES.get(type(value), type(value).__name__)
            raise ConversionError(f"Cannot use key of type {name} as a key to a Python {kind}")
        yield value


_JS_NAMES: dict[type, str] = {JsDict: "Object", list: "Array", dict: "Map", set: "Set", dt.datetime: "Date"}
_MODEL = _PythonModel()
