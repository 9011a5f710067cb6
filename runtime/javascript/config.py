"""workerd's configuration for a plan, and the command line that goes with it."""

from __future__ import annotations

import os
from pathlib import Path

from .capnp import written
from .plan import Plan, Worker
from .services import bridge_socket, services
from .workflows import engine_folder, has_engine


def config_text(plan: Plan) -> str:
    """The configuration in Cap'n Proto's text format, to be kept in a file wherever one likes."""
    config = written(
        {
            "structuredLogging": True,
            "v8Flags": ["--expose-gc-as=celldCollect"],  # see workers_shim/workerd/collect.js
            "services": [*services(plan)],
            "sockets": [bridge_socket()],
        }
    )
    return f'using Workerd = import "/workerd/workerd.capnp";\nconst config :Workerd.Config = {config};\n'


def write_config(plan: Plan, file: Path) -> None:
    """Write the configuration, and make the folders which workerd does not make itself.

    The file is for its owner's eyes only: it holds the project's secrets, and may go once workerd listens.
    """
    if plan.has_durable_objects:
        plan.storage.mkdir(parents=True, exist_ok=True)
    if has_engine(plan):
        engine_folder(plan).mkdir(parents=True, exist_ok=True)
    with open(file, "w", encoding="utf-8", opener=_private) as out:
        out.write(config_text(plan))


def arguments(plan: Plan) -> tuple[str, ...]:
    """What ``workerd serve FILE`` needs besides the descriptors of its starter.

    An absolute path in ``embed`` is looked for below the import paths, so the root is made one. ``wrangler dev``
    passes ``--experimental`` always; here only a plan with something in it that workerd would refuse without does.
    """
    experimental = ("--experimental",) if any(map(_is_experimental, plan.workers)) else ()
    inspector = (f"--inspector-addr={plan.inspector}",) if plan.inspector else ()
    # Without --verbose only an inspector hears of errors in alarms, in WebSockets, behind RPC and in waitUntil.
    return ("--import-path=/", "--verbose", *experimental, *inspector)


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _is_experimental(worker: Worker) -> bool:
    loads = bool(worker.project.resolved.get("worker_loaders"))
    return worker.assets is not None or loads or "experimental" in worker.project.compatibility_flags
