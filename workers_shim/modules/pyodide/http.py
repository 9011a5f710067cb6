"""Pyodide's HTTP client, over `fetch`."""

from __future__ import annotations

from typing import Any

from workers._fetch_response import BodyUsedError, FetchResponse
from workers._request import request_options

from workers_shim.errors import JsException
from workers_shim.web import fetch
from workers_shim.web.request import Request

__all__ = ["BodyUsedError", "FetchResponse", "pyfetch"]


async def pyfetch(url: Any, **options: Any) -> FetchResponse:
    """Fetch a URL. What fails on the network is an OSError."""
    try:
        return FetchResponse(str(url), await fetch.send(Request.new(url, request_options(options))))
    except JsException as error:
        raise OSError(str(error)) from error
