"""Reads what a project depends on."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

from runtime.host.errors import ProjectError

# Packages for Cloudflare's tool chain. The isolate brings its own `workers`, and the others need Pyodide or
# Node.
TOOLING = frozenset({"workers-runtime-sdk", "pyodide-py", "workers-py"})

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


def project_dependencies(pyproject: Path) -> tuple[str, ...]:
    """The requirements in ``[project].dependencies`` that a run here needs, in the order of the file."""
    listed = _listed(pyproject)
    if not isinstance(listed, list) or not all(isinstance(item, str) for item in listed):
        raise _bad(pyproject, "[project].dependencies should be an array of strings")
    return tuple(item.strip() for item in listed if _name(item.strip(), pyproject) not in TOOLING)


def _listed(pyproject: Path) -> Any:
    try:
        data = tomllib.loads(pyproject.read_text("utf-8"))
    except FileNotFoundError:
        return []
    except OSError as error:
        raise _bad(pyproject, error.strerror or str(error)) from None
    except UnicodeDecodeError:
        raise _bad(pyproject, "it is not UTF-8") from None
    except tomllib.TOMLDecodeError as error:
        raise _bad(pyproject, str(error)) from None
    project = data.get("project", {})
    return project.get("dependencies", []) if isinstance(project, dict) else None


def _name(requirement: str, pyproject: Path) -> str:
    """The normalised name of a requirement; one that starts otherwise would be an option to the installer."""
    match = _NAME.match(requirement)
    if match is None:
        raise _bad(pyproject, f"the dependency {requirement!r} does not start with a package's name")
    return re.sub(r"[-_.]+", "-", match.group()).lower()


def _bad(pyproject: Path, reason: str) -> ProjectError:
    hint = "Fix the file, or choose an interpreter yourself with --python."
    return ProjectError(f"Cannot read the dependencies in {pyproject}: {reason}.", hint=hint, code="dependencies")
