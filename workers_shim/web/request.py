"""The Request of the web platform."""

from __future__ import annotations

from typing import Any

from workers_shim.web.body import Body
from workers_shim.web.errors import type_error
from workers_shim.web.headers import Headers
from workers_shim.web.proxy import jsnull, member
from workers_shim.web.url import URL

_STANDARD = ("DELETE", "GET", "HEAD", "OPTIONS", "POST", "PUT")  # the methods that the standard puts in upper case


class Request(Body):
    """What a client asks."""

    _address: str | URL
    _method: str
    _redirect: str
    _cf: Any = None

    def __init__(self, source: Any, init: Any = None) -> None:
        original = source if isinstance(source, Request) else None
        self._address = original._address if original else URL.new(source)
        self._method = _method(member(init, "method", original._method if original else "GET"))
        self._headers = Headers.new(member(init, "headers", original._headers if original else None))
        self._redirect = str(member(init, "redirect", original._redirect if original else "follow"))
        self._cf = member(init, "cf", original._cf if original else None)
        body = member(init, "body", jsnull)
        if self._method in ("GET", "HEAD") and body is not jsnull:
            raise type_error("Request with a GET or HEAD method cannot have a body.")
        self._hold(original.detach_content() if original and body is jsnull else body)

    def detach_content(self) -> Any:
        """The body, moved into a request made from this one."""
        content = self.body if self._content is not None else None
        if content is not None and self.bodyUsed:
            raise type_error("Cannot construct a Request with a Request object that has already been used.")
        self._used = content is not None
        return content

    @property
    def url(self) -> str:
        if isinstance(self._address, str):
            self._address = URL.new(self._address)
        return self._address.href  # type: ignore[union-attr]  # `new` gives Any, which widens it again

    @property
    def method(self) -> str:
        return self._method

    @property
    def redirect(self) -> str:
        return self._redirect

    @property
    def cf(self) -> Any:
        return self._cf

    @property
    def signal(self) -> Any:
        return jsnull

    @property
    def keepalive(self) -> bool:
        return False

    @property
    def integrity(self) -> str:
        return ""

    def clone(self) -> Request:
        twin = arrived(self._method, self.url, Headers.new(self._headers), self._divide())
        twin._redirect, twin._cf = self._redirect, self._cf
        return twin


def _method(value: Any) -> str:
    text = str(getattr(value, "value", value))
    return text.upper() if text.upper() in _STANDARD else text


def arrived(method: str, url: str, headers: Headers, body: Any) -> Request:
    """The request of a client, which is taken as it came."""
    request: Request = Request.__new__(Request)
    request._address, request._method, request._headers, request._redirect = url, method, headers, "manual"
    request._hold(body)
    return request
