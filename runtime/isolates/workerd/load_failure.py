"""Why workerd did not start, as the `load_failed` that an isolate says."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from runtime.javascript.refusals import explained, in_settings

from .stacks import Stacks

_SERVICE = re.compile(r"service worker:(?P<worker>[^:]+): ")
_UNCAUGHT = re.compile(r"Uncaught (?P<name>[\w$]+)(?:: (?P<message>.*))?")
# workerd's form of a frame at start-up, "  at index.js:2:21 in f", becomes the one that V8 gives everywhere else.
_FRAME = re.compile(r"^\s+at (?P<place>\S+?:\d+:\d+)(?: in (?P<name>.+))?$", re.MULTILINE)


def load_failed(complaints: Sequence[str], stacks: Mapping[str, Stacks], status: int | None = None) -> dict[str, Any]:
    """The message, from workerd's own words and the source maps of the Workers; ``status`` is what it ended with."""
    first = complaints[0] if complaints else f"workerd ended with status {status}."
    if _UNCAUGHT.search(first):  # the code ended there, so that what it exports after it is missing too
        complaints = complaints[:1]
    named = _SERVICE.match(first)
    maps = stacks.get(named["worker"]) if named is not None else None
    told = [_FRAME.sub(_as_usual, explained(each)) for each in [first, *complaints[1:]]]
    traceback = "\n".join(told if maps is None else map(maps.mapped, told))
    place = maps.place(told[0]) if maps is not None else None
    failure: dict[str, Any] = {"t": "load_failed", "error": _error(told[0])}
    failure["traceback"] = traceback.removeprefix("Uncaught ")
    if in_settings(told[0]):
        failure["in_settings"] = True
    return failure if place is None else failure | {"file": place[0], "line": place[1]}


def _as_usual(frame: re.Match[str]) -> str:
    return f"    at {frame['name']} ({frame['place']})" if frame["name"] else f"    at {frame['place']}"


def _error(told: str) -> dict[str, str]:
    line = told.partition("\n")[0]
    uncaught = _UNCAUGHT.fullmatch(line)
    if uncaught is None:
        return {"name": "Error", "message": line}
    return {"name": uncaught["name"], "message": uncaught["message"] or ""}
