"""Finds a Worker's own Workflows where the platform has no workflow exports: on `ctx.exports` first, then on `env`.

celld knows a Workflow only as a binding, so code that says `self.ctx.exports.Onboarding` would work on Cloudflare only.
This text is a part of the entry that `celld-py deploy` writes, and `celld-py dev --target celld` loads it too: what is
run there is what is deployed. So it stands alone, in a few lines, and leaves the classes and their names as they are.
What is still in use once `adopt` is done has a name with an underscore, which no `import *` replaces.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any


class _ExportsOrEnv:
    """`ctx.exports`, with the bindings of `env` behind it."""

    def __init__(self, exports: Any, env: Any, bindings: Mapping[str, str]) -> None:
        self._exports = exports
        self._env = env
        self._bindings = bindings  # class name -> name on env

    def __getattr__(self, name: str) -> Any:
        export = getattr(self._exports, name, None)
        if hasattr(export, "create"):
            return export
        binding = self._bindings.get(name, name)
        found = getattr(self._env, binding, None)
        if found is not None:
            return found
        if export is not None:  # an entrypoint of another kind
            return export
        raise AttributeError(f"There is no Workflow {name}: ctx.exports has none, and env has no binding {binding}.")

    def __dir__(self) -> list[str]:
        return sorted(self._bindings)


class _Context:
    """`ctx` with other ``exports``; everything else is the platform's."""

    def __init__(self, ctx: Any, exports: _ExportsOrEnv) -> None:
        self._ctx = ctx
        self.exports = exports

    def __getattr__(self, name: str) -> Any:
        return getattr(self._ctx, name)


def adopt(module: dict[str, Any], bindings: Mapping[str, str]) -> None:
    """Give the classes and handlers in a main module's namespace a `ctx` whose exports fall back to `env`.

    ``bindings`` says how `env` calls the Workflow of a class.
    """
    import workers  # here, so that it is the one that the classes come from, also when it was loaded afresh

    bases = (workers.WorkerEntrypoint, workers.WorkflowEntrypoint, workers.DurableObject)
    for name, value in list(module.items()):
        if isinstance(value, type) and issubclass(value, bases) and value not in bases:
            _adopt_class(value, bindings)
        elif name.startswith("on_") and callable(value):
            module[name] = _adopted_handler(value, bindings)


def _adopt_class(entrypoint: type[Any], bindings: Mapping[str, str]) -> None:
    original = entrypoint.__init__

    @functools.wraps(original)
    def init(self: Any, ctx: Any, env: Any, *rest: Any) -> None:
        context = _context(ctx, env, bindings)
        original(self, context, env, *rest)
        # The SDK may have put its own in place of the platform's, whose bindings take JavaScript's values only.
        context.exports._env = getattr(self, "env", env)

    entrypoint.__init__ = init


def _adopted_handler(handler: Callable[..., Any], bindings: Mapping[str, str]) -> Callable[..., Any]:
    """A legacy handler: it takes the request, `env` and `ctx`, or fewer of them."""

    @functools.wraps(handler)
    def handle(*args: Any) -> Any:
        if len(args) > 2:
            args = (*args[:2], _context(args[2], args[1], bindings), *args[3:])
        return handler(*args)

    return handle


def _context(ctx: Any, env: Any, bindings: Mapping[str, str]) -> _Context:
    if isinstance(ctx, _Context):  # a class and its base are both exported
        return ctx
    return _Context(ctx, _ExportsOrEnv(getattr(ctx, "exports", None), env, bindings))
