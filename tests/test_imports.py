"""Which package may import which: the arrows of docs/architecture.md."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
OURS = {"runtime", "workers_shim", "wrangler_compat"}
IN_PROCESS = {ROOT / "runtime/isolates" / name for name in ("in_process.py", "shared_process.py")}  # for tests only
SHIM_MODULES = {"workers", "asgi", "js", "pyodide", "_pyodide_entrypoint_helper", "_cloudflare_compat_flags"}


def imports(path: Path) -> Iterator[str]:
    """Every module that the file names in an import, relative ones made absolute."""
    package = path.relative_to(ROOT).with_suffix("").parts[:-1]
    for node in ast.walk(ast.parse(path.read_text(), str(path))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            yield ".".join((*base, *(node.module or "").split("."))).strip(".")


def sources(folder: str) -> list[Path]:
    return sorted((ROOT / folder).rglob("*.py"))


def top(module: str) -> str:
    return module.partition(".")[0]


@pytest.mark.parametrize("path", sources("runtime/engine"), ids=lambda p: p.name)
def test_the_engine_imports_nothing_of_ours_and_nothing_that_does_io(path: Path) -> None:
    forbidden = {"asyncio", "time", "datetime", "random", "os", "socket", "sqlite3", "threading", "uuid", "secrets"}
    for module in imports(path):
        assert top(module) not in forbidden, f"{path} imports {module}"
        assert top(module) not in OURS or module.startswith("runtime.engine"), f"{path} imports {module}"


@pytest.mark.parametrize("path", sources("runtime"), ids=lambda p: str(p.relative_to(ROOT)))
def test_the_host_sees_only_the_wire_of_the_shim(path: Path) -> None:
    for module in imports(path):
        if top(module) == "workers_shim" and path not in IN_PROCESS:
            assert module.startswith("workers_shim.wire"), f"{path} imports {module}"


@pytest.mark.parametrize("folder", ["workers_shim", "wrangler_compat"])
def test_the_shim_and_the_config_library_stand_alone(folder: str) -> None:
    for path in sources(folder):
        for module in imports(path):
            assert top(module) not in OURS - {folder}, f"{path} imports {module}"


def test_the_shim_needs_only_the_standard_library() -> None:
    allowed = set(sys.stdlib_module_names) | {"workers_shim"} | SHIM_MODULES
    for path in sources("workers_shim"):
        for module in imports(path):
            assert top(module) in allowed, f"{path} imports {module}"
