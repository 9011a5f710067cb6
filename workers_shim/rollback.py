"""The `rollback` and `rollback_config` of a step, as they were given: judged, and made ready to be called.

Cloudflare's Python SDK has neither yet. The rules and the texts are those of its JavaScript API.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection
from typing import Any

from workers_shim import current, errors
from workers_shim.values import JsDict

UndoFunction = Callable[[JsDict], Any]

_BY_NAME = {"ctx": "ctx", "error": "error", "output": "output", "stepName": "stepName", "step_name": "stepName"}
_SPREAD = ("ctx", "error", "output", "step_name")  # what ``**given`` gets
_WARNING = (
    "rollback= of step.do is not part of Cloudflare's Python SDK yet, only of its JavaScript API: it works here, but "
    "on Cloudflare the call fails."
)


def undo_function(step: str, rollback: Any) -> UndoFunction:
    """What is called with ``{ctx, error, output, stepName}`` to undo a step; raises when ``rollback`` is no such."""
    current.host.warn(_WARNING, once="rollback")
    if not callable(rollback):
        text = f'WorkflowFatalError: Rollback for "{step}" must be a function'
        raise errors.revive({"name": "Error", "message": text})
    try:
        parameters = list(inspect.signature(rollback).parameters.values())
    except (TypeError, ValueError):  # a builtin without a signature
        return rollback  # type: ignore[no-any-return]
    return _bound(rollback, parameters)


def _bound(function: Callable[..., Any], parameters: list[inspect.Parameter]) -> UndoFunction:
    kinds = inspect.Parameter
    found = {p.kind for p in parameters}
    named = [p for p in parameters if p.kind not in (kinds.VAR_POSITIONAL, kinds.VAR_KEYWORD)]
    known = [p for p in named if p.name in _BY_NAME]
    # What has a default is the function's own: ``lambda id=id: ...`` is how Python keeps a loop's variable.
    others = [p for p in named if p.name not in _BY_NAME and p.default is kinds.empty]
    if len(others) == 1 and not known:
        return _whole(function, others[0])
    if others:
        raise _unexpected(others[0].name)
    if not named and kinds.VAR_POSITIONAL in found:
        return function
    more = _SPREAD if kinds.VAR_KEYWORD in found else ()
    return _by_name(function, known, more)


def _whole(function: Callable[..., Any], parameter: inspect.Parameter) -> UndoFunction:
    if parameter.kind is inspect.Parameter.KEYWORD_ONLY:
        return lambda given: function(**{parameter.name: given})
    return lambda given: function(given)


def _by_name(function: Callable[..., Any], parameters: list[inspect.Parameter], more: Collection[str]) -> UndoFunction:
    positional = [_BY_NAME[p.name] for p in parameters if p.kind is inspect.Parameter.POSITIONAL_ONLY]
    names = [p.name for p in parameters if p.kind is not inspect.Parameter.POSITIONAL_ONLY]
    keywords = {name: _BY_NAME[name] for name in (*names, *more)}

    def undo(given: JsDict) -> Any:
        return function(*(given[key] for key in positional), **{name: given[key] for name, key in keywords.items()})

    return undo


def _unexpected(name: str) -> TypeError:
    error = TypeError(f"Received unexpected parameter {name}")
    errors.add_detail(
        error,
        "A rollback function's parameters are named ctx, error, output, step_name; "
        "a single parameter of another name is given all of them as one object.",
    )
    return error
