"""The process of a Python isolate, from its start; `process` talks to it."""

from __future__ import annotations

import os
import socket
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

import workers_shim.wire

PROGRAM = Path(workers_shim.wire.__file__).parents[1] / "isolate.py"


class Child:
    """A started isolate process, before anybody listens to it."""

    def __init__(self, command: Sequence[str], role: str, cwd: Path, keep: Sequence[int] = ()) -> None:
        self.role = role
        self.socket, theirs = socket.socketpair()
        self.watch, their_watch = socket.socketpair()
        with theirs, their_watch:
            inherited = [theirs.fileno(), their_watch.fileno(), *keep]
            self.process = subprocess.Popen(
                [*command, str(PROGRAM), str(theirs.fileno()), str(their_watch.fileno())],
                cwd=cwd,
                pass_fds=inherited,
                stdin=subprocess.DEVNULL,
                env=_environment(os.environ),
            )


def _environment(environ: Mapping[str, str]) -> dict[str, str]:
    """The isolate's environment: ours without what would put packages of ours before the project's."""
    left_out = {"PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP", "VIRTUAL_ENV", "CELLD_PY_FAULT"}
    return {name: value for name, value in environ.items() if name not in left_out}
