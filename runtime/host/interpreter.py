"""Chooses the Python that runs the project's code.

In this order: ``--python``; the project's ``.venv-workers`` (pywrangler's); its ``.venv``; an environment
made here from the dependencies in pyproject.toml; and, for a project without dependencies, our own
interpreter with our packages out of sight. The start-up waits for this choice, so no interpreter is started
to ask for its version when a file says it.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from runtime.host.dependencies import project_dependencies
from runtime.host.errors import InterpreterError

OLDEST = (3, 11)  # what workers_shim runs on
PROBE_TIMEOUT = 10.0  # seconds
ISOLATED = "-I"  # no PYTHON* variables, no user site, no current folder on the path
NO_SITE = "-S"  # nor the site packages of the interpreter, which are ours

_PROBE = "import platform; print('python', platform.python_version())"

# Which Python Cloudflare runs, by the flag and the date from which it is the default (newest first).
_DEFAULT_PYTHON = "3.12"
_PYTHONS = (
    ("3.14", "2026-09-08", frozenset({"python_workers_314", "python_workers_20260610"})),
    ("3.13", "2025-09-29", frozenset({"python_workers_20250116"})),
)


@dataclass(frozen=True, slots=True)
class Interpreter:
    """A Python to start isolates with: ``path``, then ``arguments``, then the program. ``source`` is for the banner."""

    path: Path
    version: str
    arguments: tuple[str, ...]
    source: str


def choose_interpreter(root: Path, python: str | None, progress: Callable[[str], None]) -> Interpreter:
    """The interpreter of the project in ``root``; raise `InterpreterError` or `ProjectError` when there is
    none.

    It blocks: making an environment can take minutes, with ``progress`` told line by line. Everything else is
    a few reads of files.
    """
    if python is not None:
        return _asked(python)
    for name in (".venv-workers", ".venv"):
        if (root / name).is_dir():
            return _of_venv(root / name, f"the project's {name}")
    if dependencies := project_dependencies(root / "pyproject.toml"):
        from runtime.host.venv import make_venv  # it imports what only the making needs

        venv = make_venv(root / ".celld" / "venv", dependencies, progress)
        return _of_venv(venv, ".celld/venv, made from pyproject.toml")
    version = ".".join(map(str, sys.version_info[:3]))
    return Interpreter(
        Path(sys.executable), version, (ISOLATED, NO_SITE), "celld-py's own (the project has no dependencies)"
    )


def version_note(interpreter: Interpreter, date: str, flags: Iterable[str]) -> str | None:
    """What to tell the developer when Cloudflare would run another Python than this one."""
    implied = implied_python(date, flags)
    if interpreter.version.split(".")[:2] == implied.split("."):
        return None
    return (
        f"Cloudflare runs this Worker on Python {implied} (compatibility date {date}); "
        f"here it runs on {interpreter.version}."
    )


def implied_python(date: str, flags: Iterable[str]) -> str:
    """The Python version that Cloudflare runs for a compatibility date and its flags."""
    given = set(flags)
    for version, since, names in _PYTHONS:
        refused = {f"no_{name}" for name in names} & given
        if names & given or (date >= since and not refused):
            return version
    return _DEFAULT_PYTHON


def _asked(python: str) -> Interpreter:
    """What ``--python`` names: an interpreter, a folder of a virtual environment, or a command on the PATH."""
    path = Path(os.path.abspath(Path(python).expanduser()))
    if path.is_dir():
        return _of_venv(path, f"--python {python}")
    if not path.exists():
        import shutil  # its import costs 10 ms, and hardly anybody comes here

        command = shutil.which(python) if os.sep not in python else None
        if command is None:
            hint = "Name a Python executable, a virtual environment's folder, or a command such as python3.12."
            raise InterpreterError(f"--python {python}: there is no such interpreter.", hint=hint)
        path = Path(command)
    version = _stated_version(path.parent.parent) or _probe(path)
    return _checked(Interpreter(path, version, (ISOLATED,), f"--python {python}"))


def _of_venv(venv: Path, source: str) -> Interpreter:
    path = venv / "bin" / "python"
    if not path.exists():
        broken = "its Python is gone" if path.is_symlink() else "there is no bin/python in it"
        hint = f"Delete {venv} and make it again, or pass --python."
        raise InterpreterError(f"{venv} is not a usable virtual environment: {broken}.", hint=hint)
    version = _stated_version(venv) or _probe(path)
    return _checked(Interpreter(path, version, (ISOLATED,), source))


def _stated_version(venv: Path) -> str | None:
    """The version that pyvenv.cfg gives; `venv` writes ``version``, virtualenv and uv ``version_info``."""
    try:
        lines = (venv / "pyvenv.cfg").read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return None
    settings = {key.strip(): value.strip() for key, _, value in (line.partition("=") for line in lines)}
    stated = settings.get("version_info") or settings.get("version") or ""
    numbers = stated.split(".")[:3]
    return ".".join(numbers) if len(numbers) > 1 and all(part.isdigit() for part in numbers) else None


def _probe(path: Path) -> str:
    """Ask the interpreter itself; anything that does not answer as a Python is refused."""
    try:
        answer = subprocess.run(
            [path, ISOLATED, "-c", _PROBE],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=PROBE_TIMEOUT,
            check=False,
        )
    except OSError as error:
        raise _not_a_python(path, error.strerror or str(error)) from None
    except subprocess.TimeoutExpired:
        raise _not_a_python(path, f"it did not answer in {PROBE_TIMEOUT:.0f} s") from None
    words = answer.stdout.split()
    if answer.returncode != 0 or len(words) != 2 or words[0] != "python":
        raise _not_a_python(path, f"it ended with exit code {answer.returncode}", answer.stderr.strip()[-2000:])
    return words[1]


def _not_a_python(path: Path, reason: str, detail: str | None = None) -> InterpreterError:
    hint = "Name a CPython of version 3.11 or newer with --python."
    return InterpreterError(f"{path} is not a working Python: {reason}.", hint=hint, detail=detail or None)


def _checked(interpreter: Interpreter) -> Interpreter:
    numbers = tuple(int(part) for part in interpreter.version.split(".")[:2])
    if numbers < OLDEST:
        wanted = ".".join(map(str, OLDEST))
        raise InterpreterError(
            f"{interpreter.path} is Python {interpreter.version}; Workers need {wanted} or newer here.",
            hint="Make the project's environment with a newer Python, or pass --python.",
        )
    return interpreter
