"""Makes a project's virtual environment and keeps it in step with its dependencies."""

from __future__ import annotations

import fcntl
import hashlib
import json
import platform
import shutil
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from runtime.host.errors import InterpreterError

MARKER = "celld-dependencies"  # in the environment; written when, and only when, it is complete
_LAST_WORDS = 20  # lines of a failed installer's output that are shown

Progress = Callable[[str], None]


def make_venv(folder: Path, dependencies: Sequence[str], progress: Progress) -> Path:
    """The environment in ``folder`` with ``dependencies``, made anew when they have changed.

    A build that was cut off leaves no marker, so the next start begins it again. Two starts at once wait for
    each other.
    """
    wanted = fingerprint(dependencies)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with _one_builder(folder):
        if _built(folder) != wanted:
            _build(folder, dependencies, progress)
            (folder / MARKER).write_text(wanted, "utf-8")
    return folder


def fingerprint(dependencies: Sequence[str]) -> str:
    """What an environment is built from: the requirements and the Python that it links to."""
    parts = [sys.base_prefix, platform.python_version(), *sorted(dependencies)]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


@contextmanager
def _one_builder(folder: Path) -> Iterator[None]:
    with (folder.parent / f"{folder.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _built(folder: Path) -> str | None:
    try:
        return (folder / MARKER).read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        return None


def _build(folder: Path, dependencies: Sequence[str], progress: Progress) -> None:
    progress(f"Making {folder} with {', '.join(dependencies)} (once, and when they change)")
    (folder / MARKER).unlink(missing_ok=True)  # first, or a removal that is cut off would leave it
    if folder.exists():
        shutil.rmtree(folder)
    for command in _commands(folder, dependencies):
        _run(command, dependencies, progress)


def _commands(folder: Path, dependencies: Sequence[str]) -> list[list[str]]:
    python = str(folder / "bin" / "python")
    if uv := shutil.which("uv"):
        return [
            [uv, "venv", "--quiet", "--no-project", "--python", sys.executable, str(folder)],
            [uv, "pip", "install", "--python", python, "--", *dependencies],
        ]
    pip = [python, "-m", "pip", "install", "--disable-pip-version-check", "--no-input", "--", *dependencies]
    return [[sys.executable, "-m", "venv", str(folder)], pip]


def _run(command: list[str], dependencies: Sequence[str], progress: Progress) -> None:
    last: deque[str] = deque(maxlen=_LAST_WORDS)
    with subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        errors="replace",
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            last.append(line.rstrip())
            progress(line.rstrip())
    if process.returncode != 0:
        raise InterpreterError(
            f"Cannot install the project's dependencies ({', '.join(dependencies)}).",
            detail="\n".join(last),
            hint="Fix [project].dependencies in pyproject.toml, or make a .venv yourself, or pass --python.",
            code="dependencies_failed",
        )
