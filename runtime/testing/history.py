"""What happened to an instance, for asserting on and for reading."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from runtime.engine import decode
from runtime.engine.events import AnyEvent, Call
from runtime.engine.views import PublicEvents
from runtime.host.failures import headline_of
from runtime.host.values import json_shaped
from runtime.store import Line

_VALUES = ("params", "output", "payload")  # devalue text in the journal
_SHOWN = ("attempt", "duration", "timeout", "event_type", "type", "payload", "output", "error", "retry_delay", "params")


def entries(lines: Iterable[Line]) -> list[dict[str, Any]]:
    """The journal as dicts: ``seq``, ``kind``, ``at`` and what the kind has besides; values as JSON has them.

    What belongs to a step has its ``step_name`` ("charge-1"), too.
    """
    names: dict[int, str] = {}
    return [_entry(line, decode(line.data), names) for line in lines]


def _entry(line: Line, event: AnyEvent, names: dict[int, str]) -> dict[str, Any]:
    if isinstance(event, Call):
        names[event.step] = f"{event.name}-{event.nth}"
    shown: dict[str, Any] = {"seq": line.seq, **msgspec.to_builtins(event)}
    if "step" in shown:
        shown["step_name"] = names[shown["step"]]
    for key in _VALUES:
        if isinstance(shown.get(key), str):
            shown[key] = json_shaped(shown[key])
    return shown


def public(lines: Iterable[Line]) -> list[dict[str, Any]]:
    """The events as ``subscribe()`` shows them, values as JSON has them."""
    view = PublicEvents()
    shown = (view.show(decode(line.data)) for line in lines)
    return [_plain(event) for event in shown if event is not None]


def _plain(event: dict[str, Any]) -> dict[str, Any]:
    return {key: json_shaped(value.text) if hasattr(value, "text") else value for key, value in event.items()}


def timeline(title: str, lines: Iterable[Line]) -> str:
    """One line for each event, with the time since the first."""
    shown = entries(lines)
    start = shown[0]["at"] if shown else 0
    return "\n".join([title, *(_told(event, event["at"] - start) for event in shown)])


def _told(event: dict[str, Any], since: int) -> str:
    words = [event["kind"]]
    if "step_name" in event:
        words.append(repr(event["step_name"]))
    words += [f"{name}={_short(event[name])}" for name in _SHOWN if event.get(name) is not None]
    return f"  {_span(since):>14}  {' '.join(words)}"


def _short(value: Any) -> str:
    if isinstance(value, dict) and value.keys() >= {"name", "message"}:
        line = headline_of(str(value["message"]).strip())
        value = line if value["name"] == "PythonError" else f"{value['name']}: {line}"
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= 120 else f"{text[:117]}..."


def _span(ms: int) -> str:
    """A time since the beginning: ``+2d 03:00:00.250``."""
    seconds, ms = divmod(ms, 1000)
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    return f"+{f'{days}d ' if days else ''}{hours:02}:{minutes:02}:{seconds:02}.{ms:03}"
