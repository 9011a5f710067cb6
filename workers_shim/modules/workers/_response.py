"""Response of the SDK."""

from __future__ import annotations

import json
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from workers._blob import Blob, unwrapped, wrapped_blob
from workers._fetch_response import FetchResponse, read_all
from workers._formdata import FormData
from workers_shim.errors import JsException
from workers_shim.web.blob import Blob as JsBlob
from workers_shim.web.buffers import ArrayBuffer, TypedArray
from workers_shim.web.formdata import FormData as JsFormData
from workers_shim.web.formdata import parse_form
from workers_shim.web.headers import Headers as JsHeaders
from workers_shim.web.proxy import jsnull
from workers_shim.web.response import ByClassOrInstance
from workers_shim.web.response import Response as JsResponse
from workers_shim.web.streams import ReadableStream
from workers_shim.web.url import URLSearchParams

_BODIES = (str, bytes, FormData, JsBlob, ArrayBuffer, TypedArray, JsFormData, ReadableStream, URLSearchParams)


class Response(FetchResponse):
    """An answer, made from Python values or around a JavaScript response."""

    def __init__(
        self,
        body: Any = None,
        status: HTTPStatus | int | None = None,
        status_text: str = "",
        headers: Any = None,
        web_socket: Any = None,
    ) -> None:
        options = _options(status, status_text, headers, web_socket)
        if isinstance(body, FetchResponse | JsResponse):
            if options:
                raise ValueError("Expected no options when constructing Response from a js.Response")
            js_response = unwrapped(body)
        else:
            js_response = JsResponse.new(_checked(body), options)
        super().__init__(js_response.url, js_response)

    @staticmethod
    def from_json(
        data: Any, status: HTTPStatus | int = HTTPStatus.OK, status_text: str = "", headers: Any = None
    ) -> Response:
        """A response with the data as JSON."""
        lines = JsHeaders.new(header_pairs(headers))
        if not lines.has("content-type"):
            lines.set("content-type", "application/json; charset=utf-8")
        return Response(json.dumps(data), status=status, status_text=status_text, headers=lines)

    def _json_of(cls: Any, *args: Any, **options: Any) -> Response:
        return Response.from_json(*args, **options)

    json = ByClassOrInstance(_json_of, FetchResponse.json)  # type: ignore[assignment]

    @staticmethod
    def redirect(url: str, status: HTTPStatus | int = HTTPStatus.FOUND) -> JsResponse:
        """A redirect, which is a `js.Response`."""
        try:
            return JsResponse.redirect(str(url), int(status))
        except JsException as error:
            kind = TypeError if error.name == "TypeError" else ValueError
            raise kind(error.message) from error

    def replace_body(self, body: Any) -> Response:
        """This response with another body."""
        old = self.js_response
        options = {"status": old.status, "statusText": old.statusText, "headers": old.headers}
        return Response(JsResponse.new(_checked(body), options))

    async def blob(self) -> Blob:
        self._check_unread()
        return wrapped_blob(await self.js_response.blob())

    async def form_data(self) -> FormData:
        self._check_unread()
        return await read_form(self.js_response)

    async def formData(self) -> FormData:
        return await self.form_data()


def _options(status: HTTPStatus | int | None, status_text: str, headers: Any, web_socket: Any) -> dict[str, Any]:
    given = {
        "status": None if status is None else int(status),
        "statusText": status_text or None,
        "headers": header_pairs(headers) or None,
        "webSocket": web_socket,
    }
    return {name: value for name, value in given.items() if value is not None}


def header_pairs(headers: Any) -> Any:
    """Headers as JavaScript takes them: the SDK accepts a dict, which `js.Headers` does not."""
    return list(headers.items()) if isinstance(headers, Mapping) else headers


def _checked(body: Any) -> Any:
    if body is None or body is jsnull or isinstance(body, _BODIES):
        return unwrapped(body)
    kind = body.constructor.name if hasattr(body, "constructor") else type(body).__name__
    raise TypeError(f"Unsupported type in Response: {kind}")


async def read_form(source: Any) -> FormData:
    """The form in the body of a JavaScript request or response."""
    content_type = source.headers.get("content-type") or ""
    try:
        return FormData(parse_form(await read_all(source), content_type))
    except JsException as error:
        raise OSError(str(error)) from error
