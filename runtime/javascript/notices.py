"""What is to be said of a plan before it runs: the parts of it that will not work, and why."""

from __future__ import annotations

from collections.abc import Iterator

from wrangler_compat import Notice

from .compatibility import date_warning
from .plan import Plan, Worker
from .references import absent_names
from .workflows import lives_in

_START_IT = "Start it together with this one: celld-py dev THIS THE-OTHER."


def notices(plan: Plan) -> tuple[Notice, ...]:
    """A line for each thing, in the order of the workers."""
    return tuple(notice for worker in plan.workers for notice in _of(worker, plan))


def _of(worker: Worker, plan: Plan) -> Iterator[Notice]:
    yield from (Notice(warning, code="build") for warning in worker.bundle.warnings)
    if (clamped := date_warning(worker.project, plan.newest_date)) is not None:
        yield clamped
    yield from _objects_without_class(worker)
    yield from _objects_elsewhere(worker, plan)
    yield from _workflows_elsewhere(worker, plan)
    yield from _services_elsewhere(worker, plan)


def _objects_without_class(worker: Worker) -> Iterator[Notice]:
    objects = worker.durable_objects.classes
    for missing in sorted({each.name for each in objects} - worker.bundle.exports):
        text = f"The Durable Object class {missing} is not exported from {worker.project.main.name}: calls to it fail."
        hint = f"Export a class {missing} that extends DurableObject."
        yield _notice(worker, text, hint, "durable_objects", "durable_object_not_exported")
    undeclared = [each.name for each in objects if not each.declared]
    if undeclared:
        text = f"No migration creates the Durable Object class {', '.join(undeclared)}: it has no SQL storage here."
        hint = (
            f'Add "migrations": [{{ "tag": "v1", "new_sqlite_classes": ["{undeclared[0]}"] }}]; a deployment needs it.'
        )
        yield _notice(worker, text, hint, "migrations", "durable_object_undeclared")


def _objects_elsewhere(worker: Worker, plan: Plan) -> Iterator[Notice]:
    for bound in worker.durable_objects.bindings:
        if bound.script_name is None:
            continue
        owner = plan.worker(bound.script_name)
        missing = f"env.{bound.binding} will be missing"
        if owner is None:
            text = f'{missing}: its class lives in the Worker "{bound.script_name}", which is not started.'
            yield _notice(worker, text, _START_IT, "durable_objects", "durable_object_elsewhere")
        elif owner.durable_objects.own(bound.class_name) is None:
            text = f'{missing}: the Worker "{bound.script_name}" has no Durable Object class {bound.class_name}.'
            hint = f"Declare the class in the configuration of {bound.script_name}."
            yield _notice(worker, text, hint, "durable_objects", "durable_object_elsewhere")


def _workflows_elsewhere(worker: Worker, plan: Plan) -> Iterator[Notice]:
    for declared in worker.project.foreign_workflows:
        if lives_in(plan, declared):
            continue
        missing = f"env.{declared.binding} will be missing"
        if plan.worker(declared.script_name or "") is None:
            text = f'{missing}: the Workflow lives in the Worker "{declared.script_name}", which is not started.'
            yield _notice(worker, text, _START_IT, "workflows", "workflow_elsewhere")
        else:
            text = f'{missing}: the Worker "{declared.script_name}" has no Workflow "{declared.name}".'
            hint = f"Declare it in the configuration of {declared.script_name}."
            yield _notice(worker, text, hint, "workflows", "workflow_elsewhere")


def _services_elsewhere(worker: Worker, plan: Plan) -> Iterator[Notice]:
    absent = set(absent_names(worker, plan))
    for bound in worker.services:
        if bound.service in absent:
            text = f'env.{bound.binding} will answer 503: the Worker "{bound.service}" is not started.'
            yield _notice(worker, text, _START_IT, "services", "service_elsewhere")


def _notice(worker: Worker, text: str, hint: str, key: str, code: str) -> Notice:
    return Notice(text, hint, key=key, file=worker.project.config_path, code=code)
