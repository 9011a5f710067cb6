"""Calling user functions with fewer arguments than there are to give."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def relaxed_call(function: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """Call the function with as many of the arguments as it takes; the rest are dropped."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return function(*args, **options)  # a builtin without a signature
    kinds = [parameter.kind for parameter in parameters]
    if inspect.Parameter.VAR_POSITIONAL not in kinds:
        args = args[: sum(kind in _POSITIONAL for kind in kinds)]
    if inspect.Parameter.VAR_KEYWORD not in kinds:
        names = {parameter.name for parameter in parameters}
        options = {name: value for name, value in options.items() if name in names}
    return function(*args, **options)
