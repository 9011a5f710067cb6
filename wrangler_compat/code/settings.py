"""The deploy settings that a Workflow class declares as class attributes.

    class Nightly(WorkflowEntrypoint):
        workflow_name = "nightly-report"
        schedules = ["0 3 * * *"]
        limits = {"steps": 500}

They go into the configuration, so they have to be there to read without running the code: literals only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from wrangler_compat.code import nodes
from wrangler_compat.code.classes import Classes, Found
from wrangler_compat.code.module import Module, Place, Problem
from wrangler_compat.durations import milliseconds
from wrangler_compat.rendering import written
from wrangler_compat.workflow_settings import CRON_HINT, MAX_SCHEDULE_LENGTH, MAX_STEPS, NAME_FORMAT, is_workflow_name

NAME = "workflow_name"
SETTINGS = ("limits", "concurrency", "schedules", "default_retention")  # in the order in which they are written
LITERAL_HINT = "Write the value itself: a text, a number, a list or a dict of these."


class NotLiteral(Exception):
    """The part of a value that is no literal."""

    def __init__(self, node: nodes.Node) -> None:
        super().__init__()
        self.node = node


@dataclass(slots=True)
class Declared:
    """What a class declares; what is wrong is in ``problems`` and left out of the rest."""

    name: str | None = None
    settings: dict[str, Any] = field(default_factory=dict)
    places: dict[str, Place] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)


def read_settings(found: Found, classes: Classes) -> Declared:
    """Read a class with what it inherits from classes of the project."""
    declared = Declared()
    values = dict(_attributes(found, classes, 0))
    for key in (NAME, *SETTINGS):
        if key in values:
            module, node = values[key]
            _take(key, module, node, declared)
    return declared


def _attributes(found: Found, classes: Classes, depth: int) -> Iterator[tuple[str, tuple[Module, nodes.Node]]]:
    if depth < 8:
        for base in reversed(found.node.bases):
            for parent in classes.classes_of(found.module, base) or ():
                yield from _attributes(parent, classes, depth + 1)
    for member in found.node.body:
        match member:
            case nodes.Assign(targets=(nodes.Name(id=name),), value=nodes.Node() as value, operator=""):
                yield name, (found.module, value)


def _take(key: str, module: Module, node: nodes.Node, declared: Declared) -> None:
    try:
        value = literal(node)
    except NotLiteral as error:
        text = f"{key} is read without running the code, and {_shown(module, error.node)} is no literal."
        declared.problems.append(Problem("setting_not_literal", text, module.place(error.node), LITERAL_HINT))
        return
    wrong = _CHECKS[key](value)
    if wrong is not None:
        code, text, hint = wrong
        declared.problems.append(Problem(code, text, module.place(node), hint))
        return
    declared.places[key] = module.place(node)
    if key == NAME:
        declared.name = value
    else:
        declared.settings[key] = value


def _shown(module: Module, node: nodes.Node) -> str:
    source = " ".join(module.source(node).split())
    return source if len(source) <= 40 else f"{source[:37]}..."


def literal(node: nodes.Node) -> Any:
    """The value of a literal, tuples as lists; raises `NotLiteral`."""
    match node:
        case nodes.Literal(value=value):
            return value
        case nodes.Items(kind="list" | "tuple", values=values):
            return [literal(value) for value in values]
        case nodes.Object(entries=entries):
            return {_key(entry): literal(entry.value) for entry in entries}
        case _:
            raise NotLiteral(node)


def _key(entry: nodes.Entry) -> str:
    if isinstance(entry.key, nodes.Literal) and isinstance(entry.key.value, str):
        return entry.key.value
    raise NotLiteral(entry.key or entry.value)


# --------------------------------------------------------------------------------------------------------- the checks

Wrong = tuple[str, str, str | None] | None  # code, message, hint


def _check_name(value: Any) -> Wrong:
    if isinstance(value, str) and is_workflow_name(value):
        return None
    return "name_format", f"{NAME} is {written(value)}. {NAME_FORMAT}", None


def _check_schedules(value: Any) -> Wrong:
    from wrangler_compat import cron  # costs what a project without schedules need not pay

    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, list) or not texts or not all(isinstance(text, str) for text in texts):
        return "setting_shape", f"schedules should be a text or a list of texts but is {written(value)}.", CRON_HINT
    for text in texts:
        if len(text) > MAX_SCHEDULE_LENGTH:
            reason = f"it has {len(text)} characters, and {MAX_SCHEDULE_LENGTH} are allowed"
            return "schedule_syntax", f"schedules holds no cron expression: {reason}.", CRON_HINT
        try:
            cron.parse(text)
        except cron.CronError as error:
            return "schedule_syntax", f"schedules holds no cron expression: {written(text)}: {error}.", CRON_HINT
    return None


def _check_limits(value: Any) -> Wrong:
    if not isinstance(value, dict) or value.keys() != {"steps"}:
        return "setting_shape", f'limits should be {{"steps": NUMBER}} but is {written(value)}.', None
    if not _whole(value["steps"]) or value["steps"] > MAX_STEPS:
        text = f"limits.steps should be a whole number from 1 to {MAX_STEPS:,} but is {written(value['steps'])}."
        return "setting_shape", text, None
    return None


def _check_concurrency(value: Any) -> Wrong:
    if isinstance(value, dict) and value.keys() == {"limit"} and _whole(value["limit"]):
        return None
    return "setting_shape", f'concurrency should be {{"limit": NUMBER}}, 1 or more, but is {written(value)}.', None


def _check_retention(value: Any) -> Wrong:
    keys = {"success_retention", "error_retention"}
    if not isinstance(value, dict) or not value or not value.keys() <= keys:
        text = f"default_retention should hold success_retention, error_retention or both but is {written(value)}."
        return "setting_shape", text, None
    for key, kept in value.items():
        ms = milliseconds(kept)
        if ms is None or ms <= 0:
            text = f"default_retention.{key} is {written(kept)}, which is no duration."
            return "retention_syntax", text, 'Write a number of milliseconds, or a text such as "3 days".'
    return None


def _whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


_CHECKS: dict[str, Callable[[Any], Wrong]] = {
    NAME: _check_name,
    "schedules": _check_schedules,
    "limits": _check_limits,
    "concurrency": _check_concurrency,
    "default_retention": _check_retention,
}
