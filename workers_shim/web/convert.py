"""`to_js` and the JSON tree: Python values as the JavaScript objects that Pyodide makes of them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

from workers_shim.errors import ConversionError
from workers_shim.web.buffers import Uint8Array
from workers_shim.web.date import Date
from workers_shim.web.proxy import JsProxy, Map, Object, Set, array, jsnull

Converter = Callable[[Any], Any]


class _Conversion:
    """One call of `to_js`: its options, and what it has made so far, so that cycles stay cycles."""

    def __init__(self, dict_converter: Converter | None, default_converter: Any, create_pyproxies: bool) -> None:
        self.dict_converter = dict_converter
        self.default_converter = default_converter
        self.create_pyproxies = create_pyproxies
        self.made: dict[int, Any] = {}

    def convert(self, value: Any, depth: int) -> Any:
        if value is None or isinstance(value, bool | int | str | JsProxy):
            return value
        if isinstance(value, float):
            return int(value) if value.is_integer() else value
        if depth == 0:
            return value
        if id(value) in self.made:
            return self.made[id(value)]
        if isinstance(value, bytes | bytearray | memoryview):
            return Uint8Array.new(value)
        if isinstance(value, list | tuple):
            return self._array(value, depth)
        if isinstance(value, dict):
            return self._dict(value, depth)
        if isinstance(value, set | frozenset):
            return Set.new([self.convert(item, depth - 1) for item in value])
        return self._other(value)

    def _array(self, value: list[Any] | tuple[Any, ...], depth: int) -> Any:
        made = self.made[id(value)] = array(())
        made.extend(self.convert(item, depth - 1) for item in value)
        return made

    def _dict(self, value: dict[Any, Any], depth: int) -> Any:
        if self.dict_converter is None:
            made = self.made[id(value)] = Map.new()
            for key, item in value.items():
                if isinstance(key, tuple):
                    raise ConversionError(f"Cannot use key of type tuple as a key to a Javascript Map: {key!r}")
                made[key] = self.convert(item, depth - 1)
            return made
        pairs = [array((key, self.convert(item, depth - 1))) for key, item in value.items()]
        return self.dict_converter(array(pairs))

    def _other(self, value: Any) -> Any:
        if self.default_converter is not None:
            return self.default_converter(value, lambda item: self.convert(item, -1), self._remember)
        if self.create_pyproxies:
            return value  # a Python object handed to JavaScript comes back as itself
        raise ConversionError(f"No conversion known for {value!r}.")

    def _remember(self, value: Any, made: Any) -> None:
        self.made[id(value)] = made


def to_js(
    value: Any,
    /,
    *,
    depth: int = -1,
    pyproxies: Any = None,
    create_pyproxies: bool = True,
    dict_converter: Converter | None = None,
    default_converter: Any = None,
    eager_converter: Any = None,
) -> Any:
    """Convert a Python value as Pyodide's ``to_js`` does; a dict becomes a Map unless ``dict_converter`` is given."""
    return _Conversion(dict_converter, default_converter, create_pyproxies).convert(value, depth)


def js_tree(value: Any, null: Any = jsnull) -> Any:
    """A tree of JSON values as JavaScript objects; ``null`` stands for None."""
    if value is None:
        return null
    if isinstance(value, dict):
        return Object.fromEntries((key, js_tree(item, null)) for key, item in value.items())
    if isinstance(value, list):
        return array(js_tree(item, null) for item in value)
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def js_value(value: Any) -> Any:
    """A value that crossed an RPC boundary, as JavaScript holds it: objects, not Maps, and dates."""

    def default(item: Any, convert: Converter, remember: Any) -> Any:
        return Date.of(item) if isinstance(item, datetime) else item

    return to_js(value, dict_converter=Object.fromEntries, default_converter=default)
