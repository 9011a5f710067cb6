"""Warnings about calls that work, but hardly as their author meant them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from runtime.engine.durations import UNITS, milliseconds, show, unknown_unit
from runtime.engine.rules import CLOUDFLARE

_KNOWN = ", ".join(unit for unit in UNITS if unit != "m")


def advice(kind: str, name: str, arg: Any) -> Iterator[str]:
    """What to tell the developer about a call of the step API, given its kind, name and plain argument."""
    if kind == "sleep":
        yield from _sleep(name, arg)
    elif kind == "wait" and isinstance(arg, dict):
        yield from _wait(name, arg)
    elif kind == "do" and isinstance(arg, dict):
        yield from _duration(f'step.do("{name}")', "timeout", arg.get("timeout"))
        retries = arg.get("retries")
        if isinstance(retries, dict):
            yield from _duration(f'step.do("{name}")', "delay", retries.get("delay"))


def _sleep(name: str, duration: Any) -> Iterator[str]:
    call = f'step.sleep("{name}")'
    yield from _duration(call, "duration", duration)
    if milliseconds(duration) < 0:
        yield f"{call}: the duration {duration!r} is negative, so the sleep is over at once."


def _wait(name: str, options: dict[str, Any]) -> Iterator[str]:
    call = f'step.wait_for_event("{name}")'
    timeout = options.get("timeout")
    yield from _duration(call, "timeout", timeout)
    if 0 < milliseconds(timeout) < CLOUDFLARE.min_event_timeout:
        yield f"{call}: the timeout {timeout!r} is under a second; Cloudflare refuses it in production."


def _duration(call: str, what: str, value: Any) -> Iterator[str]:
    unit = unknown_unit(value)
    if unit is not None and math.isfinite(milliseconds(value)):
        yield (
            f'{call}: the {what} "{value}" is {show(milliseconds(value))} ms, because Workflows has no unit "{unit}" '
            f"and takes it for milliseconds. Units: {_KNOWN}, each with or without s."
        )
