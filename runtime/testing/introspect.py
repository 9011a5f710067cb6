"""Cloudflare's introspection of Workflows, in Python: look into instances, and change their course.

with introspect_workflow_instance(worker.env.ORDERS, "o-1") as instance:
    instance.modify(lambda m: m.mock_step_result({"name": "charge"}, {"paid": True}))
    worker.env.ORDERS.create(id="o-1")
    assert instance.wait_for_status("complete") is None
"""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import Any, Self

from runtime.engine import FINAL, Failure, State
from runtime.engine import commands as cmd
from runtime.engine.views import REDACTED
from runtime.host.instances import NotFound
from runtime.host.run import outcome
from runtime.host.values import json_shaped
from runtime.isolates.shared_process import revived
from runtime.store import Key

from . import history
from .errors import IntrospectionError, NothingMoves
from .handles import Instance, Workflow
from .host import Host
from .mocks import InstanceMocks
from .modifier import Modifier, Selector, selected

Modify = Callable[[Modifier], Any]

STATUSES = frozenset(
    {"queued", "running", "paused", "errored", "terminated", "complete", "waitingForPause", "waiting", "rollingBack"}
)
_REACHED = {  # the event that tells of a status
    "running": "workflow_running",
    "waiting": "workflow_waiting",
    "waitingForPause": "workflow_waiting_for_pause",
    "paused": "workflow_paused",
    "rollingBack": "rollback_started",
}


def introspect_workflow_instance(binding: Workflow | None, id: str | None) -> InstanceIntrospector:
    """An introspector of one instance, which may be made before the instance is."""
    if binding is None or not id:
        raise IntrospectionError("[WorkflowIntrospector] Workflow binding and instance id are required.")
    return InstanceIntrospector(_checked(binding, "introspectWorkflowInstance"), id)


def introspect_workflow(binding: Workflow | None) -> WorkflowIntrospector:
    """An introspector of all instances of a Workflow that are created from now on."""
    if binding is None:
        raise IntrospectionError("[WorkflowIntrospector] Workflow binding is required.")
    return WorkflowIntrospector(_checked(binding, "introspectWorkflow"))


def _checked(binding: Any, function: str) -> Workflow:
    if not isinstance(binding, Workflow):
        raise IntrospectionError(f"[WorkflowIntrospector] `{function}()` needs a Workflow binding from `env`")
    return binding


class InstanceIntrospector:
    """Looks into one instance. Leave it with `dispose`, or use it in a ``with``: that removes the instance."""

    def __init__(self, binding: Workflow, id: str) -> None:
        self._session = binding.session
        self.instance = Instance(binding.session, binding.binding, binding.name, id)

    @property
    def id(self) -> str:
        """The instance's id."""
        return self.instance.id

    def modify(self, change: Modify) -> Self:
        """Change the course of the instance; best before it is created."""
        sent: list[cmd.SendEvent] = []
        change(Modifier(self._session.kept.mocks.of(self.instance.key), sent))

        async def send(host: Host) -> None:
            # What has not started yet finds them when it does.
            if sent and (state := await _state(host, self.instance.key)) and state.started and not state.final:
                for event in sent:
                    await host.instances.ask(self.instance.key, event)

        self._session.call(send)
        return self

    # ------------------------------------------------------------------------------------------------------- waiting

    def wait_for_step_result(self, step: Selector | None = None, *, name: str = "", index: int = 1) -> Any:
        """What a step gave, or an event wait, as JSON has it; raises what it failed with.

        `NothingMoves` when it has not ended: then time has to pass, or something has to be sent.
        """
        name, nth = selected({"name": name or None, "index": index} if step is None else step)
        state = self._session.call(lambda host: _state(host, self.instance.key))
        record = state and (state.find(("do", name, nth)) or state.find(("wait", name, nth)))
        if not state or not record or not record.settled:
            raise NothingMoves(self._unsettled(state, f"{name}-{nth}", begun=bool(record)))
        value, error = outcome(state, record)
        if error is not None:
            raise _error(error)
        if record.config is not None and record.config.sensitive:
            return REDACTED
        return json_shaped(value)["payload"] if record.kind == "wait" else json_shaped(value)

    def _unsettled(self, state: State | None, label: str, begun: bool) -> str:
        """Why a step has no result, and which steps there are: a wrong name is the usual reason."""
        now = f"is '{state.status}'" if state else "is not created"
        steps = [one.label for one in state.records.values() if one.kind in ("do", "wait")] if state else []
        return (
            f"Step '{label}' has not {'ended' if begun else 'begun'}, and everything is at rest: {self.id} {now}. "
            f"Its steps so far: {', '.join(map(repr, steps)) or 'none'}."
        )

    def wait_for_status(self, status: str) -> None:
        """Come back when the instance has, or had since its last restart, this status."""
        if status == "unknown":
            raise IntrospectionError("unknown cannot be parsed into a InstanceStatus")
        if status not in STATUSES:
            raise IntrospectionError(f"{status} was not handled because it's not a valid InstanceStatus")
        state = self._session.call(lambda host: _state(host, self.instance.key))
        if status == "queued" or (state and state.status == status):
            return
        if state and state.final and status in FINAL:
            raise IntrospectionError(
                f"[WorkflowIntrospector] The Workflow instance {self.id} has reached status '{state.status}'. This is "
                f"a finite status that prevents it from ever reaching the expected status of '{status}'."
            )
        if _REACHED.get(status) not in self._kinds():
            now = f"'{state.status}'" if state else "not created"
            raise NothingMoves(f"{self.id} is {now} and not '{status}', and everything is at rest.")

    def _kinds(self) -> set[str]:
        """The kinds of events since the last full restart."""
        kinds: set[str] = set()
        for event in self.instance.events():
            kinds = {event["type"]} if event["eventId"] == 1 else kinds | {event["type"]}
        return kinds

    # ---------------------------------------------------------------------------------------------------------- ends

    def get_output(self) -> Any:
        """What ``run()`` gave, as JSON has it."""
        status = self.instance.status()
        if status["status"] != "complete":
            raise IntrospectionError(
                f'Cannot retrieve output: Workflow instance is in status "{status["status"]}" but must be '
                '"complete" to have an output available'
            )
        return status["output"]

    def get_error(self) -> dict[str, str]:
        """The ``name`` and ``message`` with which the instance ended."""
        status = self.instance.status()
        if status["status"] != "errored":
            raise IntrospectionError(
                f'Cannot retrieve error: Workflow instance is in status "{status["status"]}" but must be '
                '"errored" to have error information available'
            )
        return {"name": status["error"]["name"], "message": status["error"]["message"]}

    def journal(self) -> list[dict[str, Any]]:
        """Everything that was committed for the instance."""
        return history.entries(self.instance.lines())

    def dispose(self) -> None:
        """Remove the instance and all that was mocked for it. Once more does nothing."""
        if self._session.closed:
            return

        async def remove(host: Host) -> None:
            host.mocks.forget(self.instance.key)
            if await _state(host, self.instance.key):
                await host.instances.delete(self.instance.key)

        self._session.call(remove)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.dispose()


class WorkflowIntrospector:
    """Watches a Workflow: what `modify_all` says is done to each instance that is created from then on."""

    def __init__(self, binding: Workflow) -> None:
        self._binding = binding
        self._session = binding.session
        watched = self._session.kept.mocks.by_workflow
        if binding.name in watched:
            raise IntrospectionError(
                f'Workflow "{binding.name}" already has an active introspection session for binding '
                f'"{binding.binding}".'
            )
        self._template = watched[binding.name] = InstanceMocks()
        self._session.kept.mocks.made[binding.name] = {}

    def modify_all(self, change: Modify) -> None:
        """Change the course of every instance that is created after this."""
        self._check()
        change(Modifier(self._template, []))

    def get(self) -> list[InstanceIntrospector]:
        """Introspectors of the instances that were created since this one was made."""
        self._check()
        return [
            InstanceIntrospector(self._binding, key.id) for key in self._session.kept.mocks.made[self._binding.name]
        ]

    def dispose(self) -> None:
        """Watch no more, and dispose of all instances that were created meanwhile. Once more does nothing."""
        if not self._active:
            return
        for introspector in self.get():
            introspector.dispose()
        del self._session.kept.mocks.by_workflow[self._binding.name]

    @property
    def _active(self) -> bool:
        return self._session.kept.mocks.by_workflow.get(self._binding.name) is self._template

    def _check(self) -> None:
        if not self._active:
            raise IntrospectionError(
                f'Workflow "{self._binding.name}" does not have an active introspection session for this introspector.'
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.dispose()


async def _state(host: Host, key: Key) -> State | None:
    try:
        return await host.instances.state(key)
    except NotFound:
        return None


def _error(error: Failure) -> Exception:
    return revived({"name": error.name, "message": error.message})
