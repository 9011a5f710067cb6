"""The names of workerd's private helper that Worker code has been seen to use."""

from __future__ import annotations

from typing import Any

from workers_shim.web.errors import not_served


def doAnImport(name: str) -> Any:
    """Import a JavaScript module by name."""
    from workers import import_from_javascript

    return import_from_javascript(name)


def patchWaitUntil(ctx: Any) -> None:
    """Make ``ctx.waitUntil`` accept Python awaitables; here it always does."""


def __getattr__(name: str) -> Any:
    if name == "cloudflareWorkersModule":
        from workers._interop import cloudflare_workers

        return cloudflare_workers()
    raise AttributeError(name if name.startswith("__") else not_served(f"_pyodide_entrypoint_helper.{name}"))
