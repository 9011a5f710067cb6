"""What each kind of key must hold, said in wrangler's words.

A check takes the spot of a key that is written. Bindings, durable objects, queues, workflows and exports have modules
of their own.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable

from wrangler_compat import fields
from wrangler_compat.diagnostics import Phase
from wrangler_compat.rendering import unexpected_fields
from wrangler_compat.spots import Kind, Spot, is_kind

_NAME = re.compile(r"(?:[a-z0-9_][a-z0-9_-]*)?")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_REGIONS = '["public","fedramp_high"]'
_PROTOCOLS = '["http","https"]'
_MIGRATION_KEYS = frozenset(
    {"tag", "new_classes", "new_sqlite_classes", "renamed_classes", "deleted_classes", "transferred_classes"}
)
_QUOTES = "Put quotes around it."


def text(spot: Spot) -> None:
    """A string."""
    spot.expect("string", "Write a string." if isinstance(spot.value, dict | list) else _QUOTES)


def account(spot: Spot) -> None:
    """The id of an account; wrangler takes an empty one for none."""
    if spot.value == "":
        reason = f'The "{spot.label}" field in your configuration is an empty string and will be ignored.'
        hint = f'Please remove the "{spot.label}" field from your configuration.'
        spot.warn("field_empty", reason, hint)
    else:
        text(spot)


def flag(spot: Spot) -> None:
    """true or false."""
    spot.expect("boolean", "Write true or false, without quotes.")


def texts(spot: Spot) -> None:
    """A list of strings."""
    if not isinstance(spot.value, list) or not all(isinstance(item, str) for item in spot.value):
        reason = f'Expected "{spot.label}" to be of type string array but got {spot.shown}.'
        spot.error("field_type", reason, 'Write a list of strings: ["one", "two"].')


def name(spot: Spot) -> None:
    """The name of a Worker."""
    if isinstance(spot.value, str) and _NAME.fullmatch(spot.value):
        return
    reason = f'Expected "{spot.label}" to be of type string, alphanumeric and lowercase with dashes only but got '
    spot.error("worker_name", f"{reason}{spot.shown}.", "Use lower-case letters, digits, dashes and underscores.")


def date(spot: Spot) -> None:
    """A day, which wrangler lets JavaScript read and the server reads strictly."""
    value, hint = spot.value, 'Write a day as "2026-12-24", with hyphens.'
    if not isinstance(value, str):
        text(spot)
        return
    if any(dash in value for dash in "\u2013\u2014"):
        reason = "field should use ISO-8601 accepted hyphens (-) rather than en-dashes (\u2013) or em-dashes (\u2014)."
        spot.error("compatibility_date", f'"{spot.label}" {reason}', hint)
        value = re.sub("[\u2013\u2014]", "-", value)
    if not _is_day(value):
        reason = f"field should be a valid ISO-8601 date (YYYY-MM-DD), but got {spot.shown}."
        phase: Phase = "server" if _DATE.fullmatch(value) else "read"  # JavaScript takes 30 February
        spot.error("compatibility_date", f'"{spot.label}" {reason}', hint, phase)


def _is_day(value: str) -> bool:
    try:
        return bool(_DATE.fullmatch(value)) and datetime.date.fromisoformat(value) is not None
    except ValueError:
        return False


def choice(spot: Spot) -> None:
    """The compliance region, the only key of this shape."""
    if spot.value not in ("public", "fedramp_high"):
        reason = f'Expected "{spot.label}" field to be one of {_REGIONS} but got {spot.shown}.'
        spot.error("field_choice", reason, 'Write "public" or "fedramp_high".')


def variables(spot: Spot) -> None:
    """Variables: any JSON, no TOML dates.

    wrangler takes a list too and makes variables called 0, 1, ... of it, which nobody means.
    """
    if isinstance(spot.value, list):
        reason = f'The field "{spot.label}" should be an object but got {spot.shown}.'
        spot.error("field_type", reason, 'Write { "NAME": value }.', "server")
    elif _is_table(spot):
        for key, value in spot.entries():
            if isinstance(value.value, datetime.date | datetime.time):
                reason = (
                    f'The field "{value.label}" is a TOML date, which is not supported. Please use a string instead, '
                    f'e.g. {key} = "2025-12-19".'
                )
                value.error("var_date", reason, _QUOTES)


def defines(spot: Spot) -> None:
    """Replacements in the code: an object of strings."""
    if isinstance(spot.value, list) or not _is_table(spot):
        return
    for _, value in spot.entries():
        if not isinstance(value.value, str):
            reason = f'The field "{value.label}" should be a string but got {value.shown}.'
            value.error("field_type", reason, _QUOTES)


def secrets(spot: Spot) -> None:
    """The names of the secrets that the Worker needs."""
    if not _is_table(spot):
        return
    spot.only({"required"})
    required = spot["required"]
    if not required.present:
        return
    hint = 'Write a list of names: ["KEY"].'
    if not isinstance(required.value, list):
        reason = f'Expected "{required.label}" to be an array of strings but got {required.shown}'
        required.error("field_type", reason, hint)
        return
    for item in required.items():
        label = f"{required.label}.[{item.path[-1]}]"
        if not isinstance(item.value, str):
            item.error("field_type", f'Expected "{label}" to be of type string but got {item.shown}.', hint)


def triggers(spot: Spot) -> None:
    """What starts the Worker besides requests. The texts of cron expressions are the server's to refuse."""
    if spot.value is None:
        return
    if not isinstance(spot.value, dict):
        reason = f'Expected "{spot.label}" to be of type object but got {spot.shown}.'
        spot.error("field_type", reason, 'Write { "crons": [...] }.')
        return
    for key in ("crons", "events"):
        below = spot[key]
        if below.present and not isinstance(below.value, list):
            reason = f'Expected "{below.label}" to be of type array, but got {spot.shown}.'
            below.error("field_type", reason, "Write a list.")
    spot.only({"crons", "events"})


def assets(spot: Spot) -> None:
    """Static files; what the object holds is not looked into."""
    kinds: tuple[Kind, ...] = ("boolean", "number", "string")
    for kind in kinds:
        if is_kind(spot.value, kind):
            reason = f'"{spot.label}" should be an object, but got value "{spot.label}" of type {kind}'
            spot.error("field_type", reason, 'Write "assets": { "directory": "./public" }.')


def limits(spot: Spot) -> None:
    """The Worker's own limits."""
    if isinstance(spot.value, dict):
        for key in ("cpu_ms", "subrequests"):
            spot[key].expect("number")


def migrations(spot: Spot) -> None:
    """Durable Object migrations: a list of tagged steps."""
    if spot.value is None:
        return
    if not isinstance(spot.value, list):
        reason = f'The optional "{spot.label}" field should be an array, but got {spot.shown}'
        spot.error("field_type", reason, "Write a list.")
        return
    for step in spot.items():
        if isinstance(step.value, dict):
            unexpected_fields(step.value, _MIGRATION_KEYS, step.path, step.found, "migrations")
        step["tag"].require("string")


def dev(spot: Spot) -> None:
    """Options of the local server."""
    if not isinstance(spot.value, dict):
        return
    spot.only(fields.DEV_TYPES)
    for key, kind in fields.DEV_TYPES.items():
        below = spot[key]
        if not below.expect("number" if kind is float else "boolean" if kind is bool else "string"):
            continue
        if key.endswith("_protocol") and below.present and below.value not in ("http", "https"):
            reason = f'Expected "{below.label}" field to be one of {_PROTOCOLS} but got {below.shown}.'
            below.error("field_choice", reason, 'Write "http" or "https".')


def _is_table(spot: Spot) -> bool:
    if isinstance(spot.value, dict):
        return True
    reason = f'The field "{spot.label}" should be an object but got {spot.shown}.'
    spot.error("field_type", reason, 'Write { "NAME": value }.')
    return False


CHECKS: dict[fields.Shape, Callable[[Spot], None]] = {
    "account": account,
    "assets": assets,
    "choice": choice,
    "date": date,
    "defines": defines,
    "dev": dev,
    "flag": flag,
    "limits": limits,
    "migrations": migrations,
    "name": name,
    "optional_flag": flag,
    "optional_text": text,
    "secrets": secrets,
    "text": text,
    "texts": texts,
    "triggers": triggers,
    "vars": variables,
}

# wrangler names these in full inside an environment.
FULL_LABELS: frozenset[fields.Shape] = frozenset(
    {"binding", "bindings", "defines", "durable_objects", "queues", "secrets", "vars", "workflows"}
)
