"""What goes wrong with a Worker under test besides what its own code raises."""

from __future__ import annotations


class WorkerTestError(Exception):
    """The root of this package's errors."""


class WorkerNotLoaded(WorkerTestError):
    """The project cannot run: its code does not import, or lacks a class that its configuration names."""


class WorkerBusy(WorkerTestError):
    """Another Worker is under test in this process; there can be one at a time."""


class WorkerClosed(WorkerTestError):
    """The Worker's test is over."""


class OutcomeDiffers(AssertionError):
    """A crash changes what comes out."""


class IntrospectionError(WorkerTestError):
    """What an introspector refuses, in Cloudflare's words."""


class NothingMoves(WorkerTestError):
    """What is waited for does not come by itself: everything is at rest, and time stands still."""
