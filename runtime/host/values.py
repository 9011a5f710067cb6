"""Between devalue text and what the host reads or builds: configs, arguments, status, events."""

from __future__ import annotations

import math
from typing import Any

from runtime.engine.state import Received
from runtime.engine.views import Value
from workers_shim.wire import devalue
from workers_shim.wire.neutral import UNDEFINED, BigInt, Date, Undefined

NULL = "[null]"
EMPTY_OBJECT = "[{}]"
UNDEFINED_VALUE = "-1"


def read(text: str) -> Any:
    """A value as the engine takes it: JSON's kinds, dates as ms, undefined members left out.

    What has no such form (a Map, bytes) stays what it is, and fits no schema.
    """
    return None if text == NULL else plain(devalue.parse(text))


def plain(value: Any) -> Any:
    """The plain form of a neutral value."""
    if isinstance(value, Date):
        return value.ms
    if isinstance(value, BigInt):
        return value.value
    if isinstance(value, dict):
        return {key: plain(member) for key, member in value.items() if not isinstance(member, Undefined)}
    if isinstance(value, list):
        return [plain(member) for member in value]
    return math.nan if isinstance(value, Undefined) else value


def build(value: Any) -> str:
    """Devalue text of a plain structure, in which every `Value` is replaced by what it holds."""
    return devalue.stringify(_filled(value))


def _filled(value: Any) -> Any:
    if isinstance(value, Value):
        return devalue.parse(value.text)
    if isinstance(value, dict):
        return {key: _filled(member) for key, member in value.items()}
    if isinstance(value, list):
        return [_filled(member) for member in value]
    return value


def json_shaped(text: str) -> Any:
    """A value as ``status().output`` shows it."""
    return devalue.to_json(text)


def received_event(event: Received) -> str:
    """What a satisfied ``waitForEvent`` gives: the keys payload, timestamp (a Date: when it was sent) and type."""
    payload = devalue.parse(event.payload)
    return devalue.stringify({"payload": payload, "timestamp": Date(event.at), "type": event.type})


__all__ = [
    "EMPTY_OBJECT",
    "NULL",
    "UNDEFINED",
    "UNDEFINED_VALUE",
    "build",
    "json_shaped",
    "plain",
    "read",
    "received_event",
]
