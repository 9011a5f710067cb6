"""Headers: case-insensitive, in order, with Set-Cookie lines kept apart."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from workers_shim.web.errors import type_error
from workers_shim.web.leniency import tolerated
from workers_shim.web.proxy import Array, JsProxy, Object, array, jsnull

_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_BAD_VALUE = re.compile(r"[\0\r\n]")


class Headers(JsProxy):
    """The headers of a request or a response."""

    _lines: list[tuple[str, str]]  # names as they were given: the wire keeps their case

    def __init__(self, init: Any = None) -> None:
        self._lines = []
        for name, value in _pairs(init):
            self.append(name, value)

    @staticmethod
    def of(lines: Iterable[tuple[str, str]]) -> Headers:
        """Headers from lines that are known to be valid, such as a client's."""
        made: Headers = Headers.new()
        made._lines = list(lines)
        return made

    def append(self, name: Any, value: Any) -> None:
        self._lines.append((_valid_name(name), _valid_value(value)))

    def set(self, name: Any, value: Any) -> None:
        line = (_valid_name(name), _valid_value(value))
        wanted = line[0].lower()
        at = next((i for i, (known, _) in enumerate(self._lines) if known.lower() == wanted), len(self._lines))
        self.delete(name)
        self._lines.insert(at, line)

    def delete(self, name: Any) -> None:
        wanted = _valid_name(name).lower()
        self._lines = [line for line in self._lines if line[0].lower() != wanted]

    def get(self, name: Any) -> Any:
        values = self.getAll(name)
        return ", ".join(values) if len(values) else jsnull

    def getAll(self, name: Any) -> Array:
        wanted = _valid_name(name).lower()
        return array(value for known, value in self._lines if known.lower() == wanted)

    def getSetCookie(self) -> Array:
        return self.getAll("set-cookie")

    def has(self, name: Any) -> bool:
        return len(self.getAll(name)) > 0

    def lines(self) -> list[tuple[str, str]]:
        """Every line as it goes on the wire."""
        return list(self._lines)

    def folded(self) -> list[tuple[str, str]]:
        """Lower-case names in order, the values of a name joined; each Set-Cookie by itself."""
        joined: dict[str, list[str]] = {}
        for name, value in self._lines:
            joined.setdefault(name.lower(), []).append(value)
        cookies = [("set-cookie", value) for value in joined.pop("set-cookie", ())]
        return sorted([*((name, ", ".join(values)) for name, values in joined.items()), *cookies], key=_first)

    def keys(self) -> Array:
        return array(name for name, _ in self.folded())

    def values(self) -> Array:
        return array(value for _, value in self.folded())

    def entries(self) -> Array:
        return array(array(line) for line in self.folded())

    def forEach(self, function: Callable[[str, str, Headers], Any]) -> None:
        for name, value in self.folded():
            function(value, name, self)

    def __iter__(self) -> Iterator[Array]:
        return iter(self.entries())


def _first(line: tuple[str, str]) -> str:
    return line[0]  # a stable sort by name alone: cookies stay in their order


def _pairs(init: Any) -> Iterable[tuple[Any, Any]]:
    if init is None or init is jsnull:
        return ()
    if isinstance(init, Headers):
        return init.lines()
    if isinstance(init, Object):
        return init._own()
    if isinstance(init, Mapping):
        if not isinstance(init, JsProxy):
            tolerated("js.Headers, or a js object's headers, were given a Python dict; give its .items().")
        return list(init.items())
    pairs = [tuple(pair) for pair in init]
    if any(len(pair) != 2 for pair in pairs):
        raise type_error("Sequence initializer must only contain pairs")
    return [(name, value) for name, value in pairs]


def _valid_name(name: Any) -> str:
    text = str(name)
    if not _NAME.fullmatch(text):
        raise type_error("Invalid header name.")
    return text


def _valid_value(value: Any) -> str:
    text = str(value).strip(" \t\r\n")
    if _BAD_VALUE.search(text):
        raise type_error("Invalid header value.")
    return text
