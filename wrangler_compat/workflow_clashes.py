"""Where bindings, exports and triggers contradict one another about a workflow.

wrangler finds this after reading, when it deploys, and some of it when `wrangler dev` starts. What only a deployment
refuses has the phase "deploy".
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

from wrangler_compat.diagnostics import Diagnostics, KeyPath, Phase
from wrangler_compat.environments import Resolved
from wrangler_compat.workflow_settings import SETTINGS

if TYPE_CHECKING:
    from wrangler_compat.workflows import WorkflowDeclaration

_REFUSED_BY_DEV = ("limits", "concurrency", "schedules")


def check_settings_elsewhere(entry: Mapping[str, Any], path: KeyPath, found: Diagnostics) -> None:
    """Settings on a binding to a workflow of another Worker."""
    for key in SETTINGS:
        if key in entry:
            text = (
                f'Workflow "{entry["name"]}" has "{key}" configured but references external script '
                f'"{entry["script_name"]}". Configure {key} on the worker that defines the workflow.'
            )
            phase: Phase = "dev" if key in _REFUSED_BY_DEV else "deploy"
            found.error("workflow_settings_elsewhere", text, (*path, key), f'Remove "{key}" here.', phase)


def check_clash(
    bound: WorkflowDeclaration, export: WorkflowDeclaration, entry: Mapping[str, Any], found: Diagnostics
) -> None:
    """A binding and an export (or an earlier binding) of one workflow name."""
    if not export.exported:
        return  # two bindings of one name: refused when the file is read
    binding, label = f"workflows[{bound.path[-1]}]", f"exports.{export.class_name}"
    if bound.script_name:
        text = (
            f'"{binding}" binds the Workflow "{bound.name}" of the Worker "{bound.script_name}", but "{label}" '
            "declares it in this Worker. Workflow names are unique per account, so remove "
            '"script_name" from the binding or give the export a different name.'
        )
        hint = "Choose one of the two Workers."
        found.error("workflow_binding_elsewhere", text, (*bound.path, "script_name"), hint, "dev")
        return
    if bound.class_name != export.class_name:
        text = (
            f'"{binding}" and "{label}" both declare the Workflow "{bound.name}", but with different classes '
            f'("{bound.class_name}" and "{export.class_name}").'
        )
        hint = f'Write "class_name": "{export.class_name}", or give one of them another name.'
        found.error("workflow_class_differs", text, (*bound.path, "class_name"), hint, "dev")
    for key in SETTINGS:
        if key in entry:
            text = (
                f'"{binding}.{key}" configures the Workflow "{bound.name}", which "{label}" declares. '
                f'Set "{key}" on the export instead.'
            )
            hint = f'Move "{key}" to "{label}"; the binding keeps binding, name and class_name.'
            found.error("workflow_settings_twice", text, (*bound.path, key), hint, "deploy")


def check_event_targets(resolved: Resolved, owned: Collection[str], found: Diagnostics) -> None:
    """Event triggers whose workflow is not one of this Worker's."""
    triggers = resolved.data.get("triggers")
    events = triggers.get("events") if isinstance(triggers, dict) else None
    for index, event in enumerate(events if isinstance(events, list) else ()):
        targets = event.get("targets") if isinstance(event, dict) else None
        for number, target in enumerate(targets if isinstance(targets, list) else ()):
            name = target.get("workflow_name") if isinstance(target, dict) else None
            if isinstance(name, str) and name not in owned:
                text = (
                    f'Event trigger "{event.get("type")}" targets Workflow "{name}", but that Workflow is not defined '
                    "by this Worker."
                )
                path = (*resolved.path_of("triggers"), "events", index, "targets", number)
                hint = 'Add it to the "workflows" configuration or remove the event trigger target.'
                found.error("event_target_unknown", text, path, hint, "dev")
