"""`asgi.env`: the Worker's env as a dependency of FastAPI."""

from __future__ import annotations

import importlib
from typing import Any

_fastapi: Any = importlib.import_module("fastapi")  # the user's own; celld-py does not have it


async def _env_of(request: Any) -> Any:
    return request.scope["env"]


_env_of.__annotations__["request"] = _fastapi.Request  # FastAPI finds out by the annotation what to pass

env = _fastapi.Depends(_env_of)
