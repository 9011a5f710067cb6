"""The settings that bindings and exports of workflows share, checked in wrangler's words.

What wrangler leaves to the server is refused here too, where a deployment would fail: cron expressions and the texts of
retentions.
"""

from __future__ import annotations

import re

from wrangler_compat.durations import milliseconds
from wrangler_compat.rendering import written
from wrangler_compat.spots import Spot, is_kind

MAX_STEPS = 25_000  # Cloudflare's production maximum for limits.steps
MAX_RETENTION = 30 * 24 * 60 * 60 * 1000  # ms; Cloudflare's production maximum (paid plans)
MAX_SCHEDULES = 100  # cron expressions; Cloudflare's limit for all workflows of an account
MAX_SCHEDULE_LENGTH = 256  # characters of one expression; Cloudflare's limit
SETTINGS = ("limits", "concurrency", "schedules", "default_retention", "jurisdiction")
JURISDICTIONS = ("eu", "fedramp", "us")
NAME_FORMAT = (
    "Workflow names must be 1-64 characters long, start with a letter, number, or underscore, and may only "
    "contain letters, numbers, underscores, or hyphens."
)
NAME_HINT = 'Rename it, such as "send-invoice".'
CRON_HINT = (
    "Write minute, hour, day of the month, month and weekday, in UTC. Weekdays count from 1 (Sunday) to 7 (Saturday); "
    "names such as MON-FRI are clearer."
)

_NAME = re.compile(r"[a-zA-Z0-9_][a-zA-Z0-9_-]{0,63}")
_SCHEDULES_HINT = 'Write one cron expression, "0 3 * * *", or a list of them; leave the key out for none.'
_RETENTION_HINT = 'Write milliseconds, or a text such as "12 hours", "3 days" or "2 weeks".'


def is_workflow_name(name: str) -> bool:
    """Whether Cloudflare accepts this as the name of a workflow."""
    return _NAME.fullmatch(name) is not None


def check_settings(entry: Spot, word: str) -> None:
    """Check what the entry sets. ``word`` is what the messages call it: "bindings" or "export"."""
    _schedules(entry, word)
    _steps(entry, word)
    _retention(entry, word)
    _concurrency(entry, word)
    _jurisdiction(entry, word)


def is_positive_integer(value: object) -> bool:
    """A whole number from 1, as JavaScript counts."""
    return is_kind(value, "number") and float(value).is_integer() and value >= 1  # type: ignore[arg-type,operator]


def _schedules(entry: Spot, word: str) -> None:
    spot = entry["schedules"]
    match spot.value:
        case str() as text if text:
            _cron(spot)
        case str():
            _field(entry, word, "schedules", "must not be an empty string.", _SCHEDULES_HINT)
        case []:
            _field(entry, word, "schedules", "must not be an empty array.", _SCHEDULES_HINT)
        case [*texts] if not all(isinstance(text, str) for text in texts):
            _optional(entry, word, "schedules", "a string or array of strings", _SCHEDULES_HINT)
        case [*texts] if "" in texts:
            _field(entry, word, "schedules", "must not contain empty strings.", _SCHEDULES_HINT)
        case [*_]:
            for item in spot.items():
                _cron(item)
        case _ if spot.present:
            _optional(entry, word, "schedules", "a string or array of strings", _SCHEDULES_HINT)


def _cron(spot: Spot) -> None:
    """wrangler takes any text here, and only the deployment fails."""
    from wrangler_compat import cron  # costs what a project without schedules need not pay

    text = spot.value
    try:
        if len(text) > MAX_SCHEDULE_LENGTH:
            raise cron.CronError(f"it has {len(text)} characters, and {MAX_SCHEDULE_LENGTH} are allowed")
        cron.parse(text)
    except cron.CronError as error:
        shown = f"{text[:MAX_SCHEDULE_LENGTH]}..." if len(text) > MAX_SCHEDULE_LENGTH else text
        sentence = f'"{spot.label}" is no cron expression: {written(shown)}: {error}.'
        spot.error("workflow_schedule", sentence, CRON_HINT, "server")


def _steps(entry: Spot, word: str) -> None:
    steps = _object(entry, word, "limits", {"steps"})["steps"]
    if not _positive(entry, word, "limits.steps", steps) or not steps.present or steps.value <= MAX_STEPS:
        return
    text = (
        f'"{entry.label}" has a step limit of {steps.shown}, which exceeds the production maximum of {MAX_STEPS:,}. '
        "This configuration may not work when deployed."
    )
    steps.warn("workflow_steps", text, f"Write {MAX_STEPS} or less.")


def _concurrency(entry: Spot, word: str) -> None:
    _positive(entry, word, "concurrency.limit", _object(entry, word, "concurrency", {"limit"})["limit"])


def _retention(entry: Spot, word: str) -> None:
    group = _object(entry, word, "default_retention", {"success_retention", "error_retention"})
    for key in ("success_retention", "error_retention"):
        spot = group[key]
        if not spot.present:
            continue
        kept = milliseconds(spot.value)
        if kept is None or kept <= 0:
            reason = (
                'must be a positive integer of milliseconds or a duration string such as "3 days", but got '
                f"{spot.shown}."
            )
            text = f'"{entry.label}" {word} "default_retention.{key}" field {reason}'
            passes_wrangler = isinstance(spot.value, str) and spot.value
            spot.error("workflow_retention", text, _RETENTION_HINT, "server" if passes_wrangler else "read")
        elif kept > MAX_RETENTION:
            text = (
                f'"{entry.label}" has a {key.replace("_", " ")} of {spot.shown}, which exceeds the production maximum '
                "of 30 days. Instances are kept for 30 days."
            )
            spot.warn("workflow_retention_maximum", text, 'Write "30 days" or less.', "server")


def _jurisdiction(entry: Spot, word: str) -> None:
    spot = entry["jurisdiction"]
    if spot.present and spot.value not in JURISDICTIONS:
        reason = f'must be one of "eu", "fedramp", or "us", but got {spot.shown}.'
        _field(entry, word, "jurisdiction", reason, "Write one of them, or leave the key out.")


def _object(entry: Spot, word: str, key: str, known: set[str]) -> Spot:
    spot = entry[key]
    if spot.present and not isinstance(spot.value, dict):
        hint = f'Write "{key}": {{ "{min(known)}": ... }}.'
        _optional(entry, word, key, "an object", hint)
    else:
        spot.only(known)
    return spot


def _positive(entry: Spot, word: str, key: str, spot: Spot) -> bool:
    if not spot.present or is_positive_integer(spot.value):
        return True
    text = f'"{entry.label}" {word} "{key}" field must be a positive integer but got {spot.shown}.'
    spot.error("workflow_setting", text, "Write a whole number from 1, or leave the key out.")
    return False


def _optional(entry: Spot, word: str, key: str, kind: str, hint: str) -> None:
    text = f'"{entry.label}" {word} should, optionally, have {kind} "{key}" field but got {entry.shown}.'
    entry[key].error("workflow_setting", text, hint)


def _field(entry: Spot, word: str, key: str, reason: str, hint: str) -> None:
    entry[key].error("workflow_setting", f'"{entry.label}" {word} "{key}" field {reason}', hint)


def required_string(entry: Spot, key: str) -> bool:
    """Whether a binding has the string that it needs."""
    if entry.has(key, "string"):
        return True
    text = f'"{entry.label}" bindings should have a string "{key}" field but got {entry.shown}.'
    entry.error("workflow_field_missing", text, f'Add "{key}": a string.')
    return False


def optional_string(entry: Spot, key: str) -> None:
    """Report a key of a binding that is written and no string."""
    if not entry.may_have(key, "string"):
        _optional(entry, "bindings", key, "a string", "Write a string, or leave the key out.")
