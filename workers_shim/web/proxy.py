"""`JsProxy`: how a JavaScript object looks from Python, and the plain containers.

The rules are Pyodide's: a missing attribute is an AttributeError, a plain object cannot be subscripted or iterated,
arrays can, and a class is instantiated with ``.new(...)``, where keyword arguments become one trailing object.
"""

from __future__ import annotations

from abc import ABCMeta
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping, MutableSequence
from typing import Any, overload

from workers_shim.errors import DataCloneError
from workers_shim.web.errors import type_error


class JsClass(ABCMeta):
    """The class of JavaScript classes."""

    def new(cls, *args: Any, **options: Any) -> Any:
        """Make an instance, as JavaScript's ``new`` does."""
        if options:
            args = (*args, Object.of(options))
        return type.__call__(cls, *args)

    def __call__(cls, *args: Any, **options: Any) -> Any:
        raise type_error(f"Class constructor {cls.__name__} cannot be invoked without 'new'")

    @property
    def name(cls) -> str:
        """The name of the constructor; user code reads it as ``x.constructor.name``."""
        return cls.__name__


class JsProxy(metaclass=JsClass):
    """Any JavaScript object."""

    @property
    def constructor(self) -> JsClass:
        return type(self)

    @property
    def typeof(self) -> str:
        return "object"

    def to_py(self, *, depth: int = -1, default_converter: Any = None) -> Any:
        """The Python value of this object; an object that has none is itself."""
        return self

    def object_keys(self) -> Array:
        return array(key for key, _ in self._own())

    def object_values(self) -> Array:
        return array(value for _, value in self._own())

    def object_entries(self) -> Array:
        return array(array(pair) for pair in self._own())

    def _own(self) -> Iterable[tuple[str, Any]]:
        return ()

    def __devalue__(self) -> Any:
        """What `workers_shim.values` encodes in place of this object."""
        name = type(self).__name__
        raise DataCloneError(f'Could not serialize object of type "{name}". This type does not support serialization.')

    def __repr__(self) -> str:
        return f"[object {type(self).__name__}]"


class JsNull(JsProxy):
    """The class of `jsnull`, which Pyodide gives for JavaScript's null since 0.28."""

    def __bool__(self) -> bool:
        return False

    def __devalue__(self) -> None:
        return None

    def __repr__(self) -> str:
        return "jsnull"


jsnull: JsNull = JsNull.new()


class Object(JsProxy):
    """A plain object: its keys are attributes."""

    _fields: dict[str, Any]

    def __init__(self, fields: Any = None) -> None:
        object.__setattr__(self, "_fields", dict(members(fields)))

    def __getattr__(self, name: str) -> Any:
        try:
            return object.__getattribute__(self, "_fields")[name]
        except KeyError:
            raise AttributeError(name) from None

    def __setattr__(self, name: str, value: Any) -> None:
        self._fields[name] = value

    def __delattr__(self, name: str) -> None:
        if self._fields.pop(name, self) is self:
            raise AttributeError(name)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._fields]

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)

    def to_py(self, *, depth: int = -1, default_converter: Any = None) -> dict[str, Any]:
        return {key: python_value(value, depth - 1) for key, value in self._fields.items()}

    def _own(self) -> Iterable[tuple[str, Any]]:
        return list(self._fields.items())

    def __devalue__(self) -> dict[str, Any]:
        return self._fields

    @staticmethod
    def of(fields: Mapping[str, Any]) -> Object:
        """The object that a call's keyword arguments become."""
        made: Object = Object.new(fields)
        return made

    @staticmethod
    def fromEntries(entries: Iterable[Any]) -> Object:
        made: Object = Object.new()
        made._fields.update((property_key(key), value) for key, value in pairs(entries))
        return made

    @staticmethod
    def keys(value: Any) -> Array:
        return array(key for key, _ in members(value))

    @staticmethod
    def values(value: Any) -> Array:
        return array(item for _, item in members(value))

    @staticmethod
    def entries(value: Any) -> Array:
        return array(array(pair) for pair in members(value))

    @staticmethod
    def assign(target: Any, *sources: Any) -> Any:
        for source in sources:
            for key, value in members(source):
                setattr(target, key, value)
        return target


class Array(JsProxy, MutableSequence[Any]):
    """A JavaScript array, which is a sequence in Python."""

    _items: list[Any]

    def __init__(self, *items: Any) -> None:
        single = len(items) == 1 and isinstance(items[0], int)  # new Array(3) is three holes
        self._items = [None] * items[0] if single else list(items)

    @overload
    def __getitem__(self, index: int) -> Any: ...
    @overload
    def __getitem__(self, index: slice) -> Array: ...
    def __getitem__(self, index: int | slice) -> Any:
        return array(self._items[index]) if isinstance(index, slice) else self._items[index]

    def __setitem__(self, index: Any, value: Any) -> None:
        self._items[index] = value

    def __delitem__(self, index: int | slice) -> None:
        del self._items[index]

    def __len__(self) -> int:
        return len(self._items)

    def __repr__(self) -> str:
        return self.join(",")

    def insert(self, index: int, value: Any) -> None:
        self._items.insert(index, value)

    @property
    def length(self) -> int:
        return len(self._items)

    def push(self, *values: Any) -> int:
        self._items.extend(values)
        return len(self._items)

    def join(self, separator: str = ",") -> str:
        return separator.join("" if item is None or item is jsnull else str(item) for item in self._items)

    def includes(self, value: Any) -> bool:
        return value in self._items

    def slice(self, start: int = 0, end: int | None = None) -> Array:
        return array(self._items[start:end])

    def map(self, function: Callable[[Any], Any]) -> Array:
        return array(function(item) for item in self._items)

    def filter(self, function: Callable[[Any], Any]) -> Array:
        return array(item for item in self._items if function(item))

    def to_py(self, *, depth: int = -1, default_converter: Any = None) -> list[Any]:
        return [python_value(item, depth - 1) for item in self._items]

    def _own(self) -> Iterable[tuple[str, Any]]:
        return [(str(index), item) for index, item in enumerate(self._items)]

    def __devalue__(self) -> list[Any]:
        return self._items

    @staticmethod
    def from_(items: Iterable[Any]) -> Array:
        return array(items)

    @staticmethod
    def of(*items: Any) -> Array:
        return array(items)

    @staticmethod
    def isArray(value: Any) -> bool:
        return isinstance(value, Array)


# `from` is a keyword of Python; Pyodide finds the attribute both as `Array.from_` and by getattr.
setattr(Array, "from", staticmethod(Array.from_))


class Map(JsProxy, MutableMapping[Any, Any]):
    """A JavaScript Map, which is a mapping in Python."""

    _pairs: dict[Any, Any]

    def __init__(self, entries: Iterable[Any] = ()) -> None:
        self._pairs = dict(pairs(entries))

    def __getitem__(self, key: Any) -> Any:
        return self._pairs[key]

    def __setitem__(self, key: Any, value: Any) -> None:
        self._pairs[key] = value

    def __delitem__(self, key: Any) -> None:
        del self._pairs[key]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._pairs)

    def __len__(self) -> int:
        return len(self._pairs)

    @property
    def size(self) -> int:
        return len(self._pairs)

    def has(self, key: Any) -> bool:
        return key in self._pairs

    def set(self, key: Any, value: Any) -> Map:
        self._pairs[key] = value
        return self

    def delete(self, key: Any) -> bool:
        return self._pairs.pop(key, self) is not self

    def entries(self) -> Array:
        return array(array(pair) for pair in self._pairs.items())

    def to_py(self, *, depth: int = -1, default_converter: Any = None) -> dict[Any, Any]:
        return {key: python_value(value, depth - 1) for key, value in self._pairs.items()}

    def __devalue__(self) -> dict[Any, Any]:
        return self._pairs  # RPC lets a Map pass; it arrives as a dict


class Set(JsProxy):
    """A JavaScript Set."""

    _members: dict[Any, None]

    def __init__(self, items: Iterable[Any] = ()) -> None:
        self._members = dict.fromkeys(items)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._members)

    def __len__(self) -> int:
        return len(self._members)

    def __contains__(self, value: object) -> bool:
        return value in self._members

    @property
    def size(self) -> int:
        return len(self._members)

    def has(self, value: Any) -> bool:
        return value in self._members

    def add(self, value: Any) -> Set:
        self._members[value] = None
        return self

    def delete(self, value: Any) -> bool:
        return self._members.pop(value, True) is None

    def to_py(self, *, depth: int = -1, default_converter: Any = None) -> set[Any]:
        return {python_value(value, depth - 1) for value in self._members}

    def __devalue__(self) -> set[Any]:
        return set(self._members)


def array(items: Iterable[Any]) -> Array:
    """A JavaScript array with these items."""
    made: Array = Array.new()
    made._items = list(items)
    return made


def pairs(entries: Any) -> Iterable[Any]:
    """The pairs of an iterable of them; a mapping iterates over them in JavaScript, and over its keys in Python."""
    return entries.items() if isinstance(entries, Mapping) else entries


def members(value: Any) -> Iterable[tuple[str, Any]]:
    """The own keys and values of an object: of a JavaScript one, or of a Python mapping given in its place."""
    if value is None or value is jsnull:
        return ()
    if isinstance(value, Mapping):
        return [(property_key(key), item) for key, item in value.items()]
    if isinstance(value, JsProxy):
        return value._own()
    raise type_error(f"{type(value).__name__} cannot be read as a JavaScript object")


def member(value: Any, name: str, default: Any = None) -> Any:
    """One member of an options object, whatever the object is: dictionary, JavaScript object or Python instance."""
    found = value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)
    return default if found is None else found


def property_key(key: Any) -> str:
    """The text that a key becomes in a JavaScript object."""
    if key is None:
        return "undefined"
    if isinstance(key, bool):
        return "true" if key else "false"
    return str(key)


def python_value(value: Any, depth: int = -1) -> Any:
    """What ``to_py`` gives for a value inside a container; jsnull stays jsnull, as in Pyodide."""
    return value.to_py(depth=depth) if isinstance(value, JsProxy) and depth != 0 else value


def plain(value: Any) -> Any:
    """The value with every JavaScript object inside it turned to Python's, and null to None."""
    if value is jsnull:
        return None
    if isinstance(value, Array | list):
        return [plain(item) for item in value]
    if isinstance(value, Object):
        return {key: plain(item) for key, item in value._own()}
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    return value.to_py() if isinstance(value, JsProxy) else value
