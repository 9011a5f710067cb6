"""URL and URLSearchParams, by the rules of the URL standard that HTTP addresses meet."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import SplitResult, parse_qsl, quote, quote_plus, urljoin, urlsplit

from workers_shim.errors import JsException
from workers_shim.web.errors import type_error
from workers_shim.web.proxy import Array, JsProxy, Object, array, jsnull

_DEFAULT_PORTS = {"http": 80, "https": 443, "ws": 80, "wss": 443, "ftp": 21}
_KEEP = "%!$&'()*+,;=:@/~-._"  # never escaped in a path; "%" so that what is escaped stays as it is
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")


class URL(JsProxy):
    """An absolute address, taken apart."""

    _parts: SplitResult
    _params: URLSearchParams

    def __init__(self, url: Any, base: Any = None) -> None:
        text = str(url).strip()
        if base is not None:
            text = urljoin(str(base), text)
        self._parts = _normalised(text)
        self._params = URLSearchParams.new(self._parts.query)
        self._params._owner = self

    @staticmethod
    def canParse(url: Any, base: Any = None) -> bool:
        return parsed(url, base) is not None

    @staticmethod
    def parse(url: Any, base: Any = None) -> Any:
        return parsed(url, base) or jsnull

    @property
    def href(self) -> str:
        return self._parts.geturl()

    @href.setter
    def href(self, value: str) -> None:
        self.__init__(value)  # type: ignore[misc]

    @property
    def protocol(self) -> str:
        return self._parts.scheme + ":"

    @property
    def username(self) -> str:
        return self._parts.username or ""

    @property
    def password(self) -> str:
        return self._parts.password or ""

    @property
    def host(self) -> str:
        return self._parts.netloc.rpartition("@")[2]

    @property
    def hostname(self) -> str:
        return re.sub(r":\d*$", "", self.host)

    @property
    def port(self) -> str:
        return str(self._parts.port) if self._parts.port is not None else ""

    @property
    def origin(self) -> str:
        return f"{self._parts.scheme}://{self.host}" if self.host else "null"

    @property
    def pathname(self) -> str:
        return self._parts.path

    @pathname.setter
    def pathname(self, value: str) -> None:
        self._replace(path=_path(self._parts.scheme, value if value.startswith("/") else "/" + value))

    @property
    def search(self) -> str:
        return "?" + self._parts.query if self._parts.query else ""

    @search.setter
    def search(self, value: str) -> None:
        self._replace(query=_query(value.removeprefix("?")))
        self._params._pairs = parse_qsl(self._parts.query, keep_blank_values=True)

    @property
    def hash(self) -> str:
        return "#" + self._parts.fragment if self._parts.fragment else ""

    @hash.setter
    def hash(self, value: str) -> None:
        self._replace(fragment=value.removeprefix("#"))

    @property
    def searchParams(self) -> URLSearchParams:
        return self._params

    def toString(self) -> str:
        return self.href

    toJSON = toString

    def __repr__(self) -> str:
        return self.href

    def _replace(self, **parts: str) -> None:
        self._parts = self._parts._replace(**parts)


class URLSearchParams(JsProxy):
    """The query of a URL, or a form's fields, as an ordered list of pairs."""

    _pairs: list[tuple[str, str]]
    _owner: URL | None = None  # whose query this is

    def __init__(self, init: Any = "") -> None:
        self._pairs = _search_pairs(init)

    def _changed(self) -> None:
        if self._owner is not None:
            self._owner._replace(query=self.toString())

    @property
    def size(self) -> int:
        return len(self._pairs)

    def get(self, name: str) -> Any:
        return next((value for key, value in self._pairs if key == name), jsnull)

    def getAll(self, name: str) -> Array:
        return array(value for key, value in self._pairs if key == name)

    def has(self, name: str, value: str | None = None) -> bool:
        return any(key == name and value in (None, item) for key, item in self._pairs)

    def append(self, name: str, value: Any) -> None:
        self._pairs.append((name, str(value)))
        self._changed()

    def set(self, name: str, value: Any) -> None:
        at = next((i for i, (key, _) in enumerate(self._pairs) if key == name), len(self._pairs))
        self._pairs = [pair for pair in self._pairs if pair[0] != name]
        self._pairs.insert(at, (name, str(value)))
        self._changed()

    def delete(self, name: str) -> None:
        self._pairs = [pair for pair in self._pairs if pair[0] != name]
        self._changed()

    def sort(self) -> None:
        self._pairs.sort(key=lambda pair: pair[0])
        self._changed()

    def keys(self) -> Array:
        return array(key for key, _ in self._pairs)

    def values(self) -> Array:
        return array(value for _, value in self._pairs)

    def entries(self) -> Array:
        return array(array(pair) for pair in self._pairs)

    def toString(self) -> str:
        return "&".join(f"{_form(key)}={_form(value)}" for key, value in self._pairs)

    def __iter__(self) -> Iterator[Array]:
        return iter(self.entries())

    def __len__(self) -> int:
        return len(self._pairs)

    def __repr__(self) -> str:
        return self.toString()


def parsed(url: Any, base: Any = None) -> URL | None:
    """The URL, or None when the text is none."""
    try:
        made: URL = URL.new(url, base)
    except JsException:
        return None
    return made


def _normalised(text: str) -> SplitResult:
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        raise type_error("Invalid URL string.") from None
    scheme = parts.scheme.lower()
    if not _SCHEME.match(text) or (scheme in _DEFAULT_PORTS and not parts.hostname):
        raise type_error("Invalid URL string.")
    return SplitResult(
        scheme, _netloc(parts, scheme, port), _path(scheme, parts.path), _query(parts.query), parts.fragment
    )


def _netloc(parts: SplitResult, scheme: str, port: int | None) -> str:
    credentials, at, _ = parts.netloc.rpartition("@")
    host = parts.hostname or ""
    try:
        host = host if host.isascii() else host.encode("idna").decode("ascii")
    except UnicodeError:
        raise type_error("Invalid URL string.") from None
    if ":" in host:
        host = f"[{host}]"
    shown = "" if port is None or port == _DEFAULT_PORTS.get(scheme) else f":{port}"
    return f"{credentials}{at}{host}{shown}"


def _path(scheme: str, path: str) -> str:
    if scheme not in _DEFAULT_PORTS:
        return path
    return quote(_without_dots(path.replace("\\", "/") or "/"), safe=_KEEP)


def _without_dots(path: str) -> str:
    kept: list[str] = []
    segments = path.split("/")
    dots = [re.sub("%2e", ".", segment, flags=re.IGNORECASE) for segment in segments]
    for segment, read in zip(segments, dots, strict=True):
        if read == "..":
            del kept[max(1, len(kept) - 1) :]  # the first is the empty one before the root's slash
        elif read != ".":
            kept.append(segment)
    if dots[-1] in (".", ".."):
        kept.append("")
    return "/".join(kept)


def _query(query: str) -> str:
    return quote(query, safe=_KEEP + "?[]{}|\\^`")


def _form(text: str) -> str:
    return quote_plus(text, safe="*", encoding="utf-8", errors="replace").replace("~", "%7E")


def _search_pairs(init: Any) -> list[tuple[str, str]]:
    if init is None:
        return []
    if isinstance(init, str):
        return parse_qsl(init.removeprefix("?"), keep_blank_values=True)
    if isinstance(init, Object):
        init = init._own()
    items: Iterable[Any] = init.items() if isinstance(init, Mapping) else init
    return [(str(key), str(value)) for key, value in items]
