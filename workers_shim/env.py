"""`env` and `ctx`: what a Worker's classes are given."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping
from typing import Any

from workers_shim import current
from workers_shim.bindings import WorkflowBinding
from workers_shim.web.convert import js_tree
from workers_shim.web.proxy import Object
from workers_shim.wire.messages import Load, WorkflowBindingData

CTX_EXPORTS = "enable_ctx_exports"
CTX_EXPORTS_SINCE = "2025-11-17"


class Env:
    """Variables, secrets and bindings, as attributes only."""

    def __init__(self, variables: Mapping[str, Any], bindings: Mapping[str, WorkflowBindingData]) -> None:
        vars(self).update((name, _variable(value)) for name, value in variables.items())
        vars(self).update(_bindings(bindings))

    def __dir__(self) -> list[str]:
        return sorted(vars(self))

    def __repr__(self) -> str:
        return "[object Object]"  # never the values: secrets are among them

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(name)  # as a JavaScript object says it


class Exports:
    """`ctx.exports`: the Worker's own exported classes, as attributes only."""

    def __init__(self, bindings: Mapping[str, WorkflowBindingData]) -> None:
        vars(self).update(_bindings(bindings))

    def __dir__(self) -> list[str]:
        return sorted(vars(self))

    def __repr__(self) -> str:
        return "[object Object]"


class Context:
    """`ctx`: what an entrypoint can ask of the request or the run that it serves."""

    def __init__(self, exports: Exports | None, props: Any) -> None:
        self.props = props
        if exports is not None:
            self.exports = exports

    def __getattr__(self, name: str) -> Any:
        if name == "exports":
            raise AttributeError(
                f"ctx.exports needs the compatibility date {CTX_EXPORTS_SINCE} or later, or the compatibility flag "
                f"{CTX_EXPORTS!r}; this Worker has the date {current.host.compatibility_date}."
            )
        raise AttributeError(name)

    def waitUntil(self, awaitable: Awaitable[Any]) -> None:
        """Keep the request's work alive until the awaitable is done."""
        current.host.wait_until(awaitable)

    wait_until = waitUntil

    def passThroughOnException(self) -> None:
        """Accept the wish to let the origin answer when the Worker raises; a local Worker has no origin."""


def make_context(exports: Exports | Mapping[str, WorkflowBindingData], props: Any = None) -> Context:
    """A `ctx`; it has ``exports`` if the Worker's date or flags say so."""
    if not isinstance(exports, Exports):
        exports = Exports(exports)
    return Context(
        exports if current.host.flag(CTX_EXPORTS) else None, Object.new() if props is None else js_tree(props)
    )


def exports_on_env(message: Load) -> dict[str, str]:
    """How `env` calls the Workflow of each exported class."""
    names = {data["workflow"]: name for name, data in message["env"].items()}
    return {class_name: names[data["workflow"]] for class_name, data in message["exports"].items()}


def _variable(value: Any) -> Any:
    return js_tree(value)  # text stays text; JSON becomes objects with attributes, as on Workers


def _bindings(bindings: Mapping[str, WorkflowBindingData]) -> dict[str, WorkflowBinding]:
    return {name: WorkflowBinding(data["workflow"]) for name, data in bindings.items()}
