"""Tests of Worker projects, in one process and on a clock that stands still.

def test_a_week(worker):
    instance = worker.env.ONBOARDING.create(params={"email": "a@example.com"})
    worker.clock.advance("8 days")
    assert instance.status()["status"] == "complete"
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from runtime.isolates.shared_process import JsException, NonRetryableError

    from .errors import (
        IntrospectionError,
        NothingMoves,
        OutcomeDiffers,
        WorkerBusy,
        WorkerClosed,
        WorkerNotLoaded,
        WorkerTestError,
    )
    from .everywhere import CrashReport, crash_everywhere
    from .handles import Instance, Workflow
    from .introspect import introspect_workflow, introspect_workflow_instance
    from .response import FailedRequest, Response
    from .worker import Worker

# pytest imports this package in every run; the host behind it only when a test needs it.
_LATER = {
    "CrashReport": "runtime.testing.everywhere",
    "crash_everywhere": "runtime.testing.everywhere",
    "FailedRequest": "runtime.testing.response",
    "IntrospectionError": "runtime.testing.errors",
    "introspect_workflow": "runtime.testing.introspect",
    "introspect_workflow_instance": "runtime.testing.introspect",
    "Instance": "runtime.testing.handles",
    "JsException": "runtime.isolates.shared_process",
    "NonRetryableError": "runtime.isolates.shared_process",
    "NothingMoves": "runtime.testing.errors",
    "OutcomeDiffers": "runtime.testing.errors",
    "Response": "runtime.testing.response",
    "Worker": "runtime.testing.worker",
    "WorkerBusy": "runtime.testing.errors",
    "WorkerClosed": "runtime.testing.errors",
    "WorkerNotLoaded": "runtime.testing.errors",
    "WorkerTestError": "runtime.testing.errors",
    "Workflow": "runtime.testing.handles",
}


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_LATER[name]), name)


__all__ = [
    "CrashReport",
    "FailedRequest",
    "Instance",
    "IntrospectionError",
    "JsException",
    "NonRetryableError",
    "NothingMoves",
    "OutcomeDiffers",
    "Response",
    "Worker",
    "WorkerBusy",
    "WorkerClosed",
    "WorkerNotLoaded",
    "WorkerTestError",
    "Workflow",
    "crash_everywhere",
    "introspect_workflow",
    "introspect_workflow_instance",
]
