"""What of a JavaScript project workerd serves besides its Workflows and variables, for the terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from wrangler_compat import Project
from wrangler_compat.assets import read_assets
from wrangler_compat.durable_objects import read_durable_objects
from wrangler_compat.services import read_services


def served(project: Project) -> Iterator[str]:
    """A line for each."""
    objects = read_durable_objects(project.resolved, project.name)
    for each in objects.classes:
        own = (bound for bound in objects.bindings if bound.script_name is None and bound.class_name == each.name)
        yield f"Durable Object {each.name}{_reached(bound.binding for bound in own)}"
    for bound in objects.bindings:
        if bound.script_name is not None:
            yield f"Durable Object {bound.class_name} of the Worker {bound.script_name}{_reached([bound.binding])}"
    for service in read_services(project.resolved):
        entrypoint = "" if service.entrypoint is None else f", entrypoint {service.entrypoint}"
        yield f"Worker {service.service}{entrypoint}{_reached([service.binding])}"
    for declared in project.foreign_workflows:
        yield f"Workflow {declared.name} of the Worker {declared.script_name}{_reached([declared.binding])}"
    assets = read_assets(project.resolved, project.root)
    if assets is not None:
        yield f"Assets of {assets.directory.name}/{_reached([assets.binding])}"


def _reached(bindings: Iterable[str | None]) -> str:
    names = [f"env.{binding}" for binding in bindings if binding is not None]
    return f": reached by {' and '.join(names)}" if names else ""
