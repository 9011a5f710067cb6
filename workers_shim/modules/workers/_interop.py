"""The rest of the SDK's functions: fetch, wait_until, handler, and what crosses between Python and JavaScript."""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from workers._blob import Blob, unwrapped, wrapped_blob
from workers._formdata import FormData
from workers._request import Request, request_options
from workers._response import Response
from workers_shim import current, values
from workers_shim.arity import relaxed_call
from workers_shim.errors import JsException
from workers_shim.web import blob, formdata, request, response
from workers_shim.web import fetch as web_fetch
from workers_shim.web.convert import js_value
from workers_shim.web.errors import not_served
from workers_shim.web.proxy import JsProxy, Object, plain


async def fetch(resource: Any, **options: Any) -> Response:
    """Ask another server. What fails on the network is an OSError."""
    fetcher = options.pop("fetcher", None)
    source = unwrapped(resource)
    if fetcher is not None:
        answer = await fetcher(source, request_options(options))
        return answer if isinstance(answer, Response) else Response(answer)
    try:
        sent = source if isinstance(source, request.Request) and not options else _request(source, options)
        return Response(await web_fetch.send(sent))
    except JsException as error:
        raise OSError(str(error)) from error


def _request(source: Any, options: dict[str, Any]) -> request.Request:
    made: request.Request = request.Request.new(source, request_options(options))
    return made


def wait_until(awaitable: Awaitable[Any]) -> None:
    """Keep the current request's work alive until the awaitable is done."""
    current.host.wait_until(awaitable)


waitUntil = wait_until


def handler(function: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate a global ``on_*`` function: its request becomes the SDK's."""

    @functools.wraps(function)
    def wrapper(*args: Any, **options: Any) -> Any:
        first = [Request(arg) if isinstance(arg, request.Request) else arg for arg in args[:1]]
        return relaxed_call(function, *first, *args[1:], **options)

    return wrapper


@contextmanager
def patch_env(d: Mapping[str, Any] | None = None, **more: Any) -> Iterator[None]:
    """Put other values into ``env`` for a while, as tests do."""
    entries = vars(current.host.env)
    before = dict(entries)
    entries.update({**(d or {}), **more})
    try:
        yield
    finally:
        entries.clear()
        entries.update(before)


def import_from_javascript(name: str) -> Any:
    """A module of JavaScript; the isolate has ``cloudflare:workers`` only."""
    if name == "cloudflare:workers":
        return cloudflare_workers()
    raise ImportError(
        f"{not_served(f'import_from_javascript({name!r})')}: a Python Worker runs on plain CPython here, "
        f"which has no JavaScript modules besides 'cloudflare:workers'."
    )


def cloudflare_workers() -> Object:
    """The module ``cloudflare:workers``, as far as Python code reads it."""
    return Object.of({"env": current.host.env, "waitUntil": wait_until})


_CLASSES: list[tuple[type[Any], Callable[[Any], Any]]] = [
    (response.Response, Response),
    (request.Request, Request),
    (blob.Blob, wrapped_blob),
    (formdata.FormData, FormData),
]
_NATIVE = (Request, Response, Blob, FormData)


def python_to_rpc(value: Any) -> Any:
    """The JavaScript form of a value that is to cross an RPC boundary; a TypeError if it cannot."""
    if isinstance(value, _NATIVE):
        return value.js_object
    if isinstance(value, tuple(kind for kind, _ in _CLASSES)):
        return value
    return js_value(values.decode(values.encode(value)[0]))


def python_from_rpc(value: Any) -> Any:
    """The Python form of a value that crossed an RPC boundary."""
    for kind, wrapper in _CLASSES:
        if isinstance(value, kind):
            return wrapper(value)
    if isinstance(value, JsProxy):
        return values.decode(values.encode(plain(value))[0])
    return value
