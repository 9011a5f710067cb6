"""JSON.stringify and JSON.parse over both kinds of objects."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from typing import Any

from workers_shim.web.convert import js_tree
from workers_shim.web.errors import not_served, syntax_error, type_error
from workers_shim.web.proxy import Array, JsProxy, jsnull, property_key


def parse(text: Any, reviver: Callable[[str, Any], Any] | None = None) -> Any:
    """The JavaScript objects that a JSON text describes."""
    if reviver is not None:
        raise NotImplementedError(not_served("JSON.parse with a reviver"))
    try:
        return js_tree(json.loads(text))
    except (TypeError, ValueError) as error:
        raise syntax_error(str(error)) from None


def stringify(value: Any, replacer: Any = None, space: Any = None) -> Any:
    """The JSON text of a value; None when the value has none, as JavaScript's undefined."""
    if replacer is not None and replacer is not jsnull:
        raise NotImplementedError(not_served("JSON.stringify with a replacer"))
    if value is None:
        return None
    indent = " " * int(space) if isinstance(space, int) else space
    separators = (",", ":") if not indent else (",", ": ")
    return json.dumps(_json_value(value), ensure_ascii=False, separators=separators, indent=indent or None)


def _json_value(value: Any) -> Any:
    if value is None or isinstance(value, bool | str | int):
        return value
    if isinstance(value, float):
        return None if not math.isfinite(value) else int(value) if value.is_integer() else value
    if isinstance(value, list | tuple | Array):
        return [_json_value(item) for item in value]
    if isinstance(value, Mapping) and not isinstance(value, JsProxy):
        return {property_key(key): _json_value(item) for key, item in value.items()}
    if not isinstance(value, JsProxy):
        raise type_error(f"{type(value).__name__} cannot be turned into JSON")
    return _json_object(value)


def _json_object(value: JsProxy) -> Any:
    if value is jsnull:
        return None
    own_text = getattr(value, "toJSON", None)
    if callable(own_text):
        return own_text()
    # A member that is undefined is left out, as JavaScript does.
    return {key: _json_value(item) for key, item in value._own() if item is not None}
