"""What a workerd process is to run: the input of its configuration."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from wrangler_compat import Project, WorkflowDeclaration
from wrangler_compat.assets import Assets, read_assets
from wrangler_compat.durable_objects import DurableObjects, read_durable_objects
from wrangler_compat.services import ServiceBinding, read_services

if TYPE_CHECKING:
    from .bundle import Bundle

BRIDGE = Path(__file__).parents[2] / "workers_shim" / "workerd"


@dataclass(frozen=True, slots=True)
class Worker:
    """A project with its code, built."""

    project: Project
    bundle: Bundle

    @property
    def name(self) -> str:
        """What other workers know it by."""
        return self.project.name

    @property
    def service(self) -> str:
        """The name of its service in the configuration."""
        return f"worker:{self.name}"

    @property
    def front(self) -> str:
        """The service that a client's request goes to: the assets, where there are any, which may pass it on."""
        return self.service if self.assets is None else f"assets:{self.name}"

    @property
    def assets(self) -> Assets | None:
        """The static files beside it."""
        return read_assets(self.project.resolved, self.project.root)

    @property
    def durable_objects(self) -> DurableObjects:
        """Its Durable Object classes, and its bindings to them and to others."""
        return read_durable_objects(self.project.resolved, self.name)

    @property
    def services(self) -> tuple[ServiceBinding, ...]:
        """Its bindings to other workers."""
        return read_services(self.project.resolved)

    def workflows(self) -> Iterator[WorkflowDeclaration]:
        """The Workflows whose class is there to be run."""
        missing = self.bundle.missing
        return (each for each in self.project.workflows if each.class_name not in missing)


@dataclass(frozen=True, slots=True)
class Plan:
    """One workerd process: the workers of one start, and where it finds the host.

    ``host`` is the address of the host's server for bindings, ``lines`` that of its server for what runs say, and
    ``token`` proves to either side that it speaks with the other. Durable Objects live in ``storage``. ``newest_date``
    is the newest compatibility date of this workerd. ``inspector`` is the address on which a debugger is welcome.
    """

    workers: tuple[Worker, ...]
    token: str
    host: str
    lines: str
    storage: Path
    newest_date: str
    bridge: Path = BRIDGE
    inspector: str | None = None

    def worker(self, name: str) -> Worker | None:
        """The worker of that name, if it is started with the others."""
        return next((worker for worker in self.workers if worker.name == name), None)

    @property
    def has_durable_objects(self) -> bool:
        """Whether a second process with this plan would have the same objects open."""
        return any(worker.durable_objects.classes for worker in self.workers)
