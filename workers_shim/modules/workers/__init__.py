"""The SDK of Python Workers, on plain CPython."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from workers._blob import Blob, BlobEnding, BlobValue, File
from workers._entrypoints import DurableObject, WorkerEntrypoint, WorkflowEntrypoint
from workers._fetch_response import FetchResponse
from workers._formdata import FormData, FormDataValue
from workers._interop import (
    fetch,
    handler,
    import_from_javascript,
    patch_env,
    python_from_rpc,
    python_to_rpc,
    wait_until,
    waitUntil,
)
from workers._request import Request
from workers._response import Response
from workers_shim import current
from workers_shim.not_served import explain_missing

__all__ = [
    "Blob",
    "BlobEnding",
    "BlobValue",
    "Body",
    "Context",
    "DurableObject",
    "FetchKwargs",
    "FetchResponse",
    "File",
    "FormData",
    "FormDataValue",
    "Headers",
    "JSBody",
    "Request",
    "RequestInitCfProperties",
    "Response",
    "WorkerEntrypoint",
    "WorkflowEntrypoint",
    "env",
    "fetch",
    "handler",
    "import_from_javascript",
    "patch_env",
    "python_from_rpc",
    "python_to_rpc",
    "waitUntil",
    "wait_until",
]

# Names that user code writes in annotations only.
JSBody = Any
Body = str | bytes | FormData | None
Context = Any
FetchKwargs = dict[str, Any]
Headers = Mapping[str, str] | list[tuple[str, str]]
RequestInitCfProperties = Mapping[str, Any]

explain_missing(__name__)

if TYPE_CHECKING:
    env: Any
else:

    def __getattr__(name: str) -> Any:
        if name == "env":  # asked for each time: it is the isolate's, and tests replace it
            return current.host.env
        raise AttributeError(f"module 'workers' has no attribute {name!r}")
