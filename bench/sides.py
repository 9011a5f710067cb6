"""The servers that are compared, and where they are found."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from runtime.host.errors import CelldError
from runtime.javascript.tools import find_tools

ROOT = Path(__file__).resolve().parent.parent
WORKER = ROOT / "bench" / "worker"
TWIN = ROOT / "bench" / "twin"

LEAST_NODE = (22, 12)  # wrangler 4 needs it
NODE_VARIABLE = "CELLD_PY_BENCH_NODE"
WRANGLER_VARIABLE = "CELLD_PY_BENCH_WRANGLER"

CELLD = "celld-py dev"
CELLD_JS = "celld-py dev, JS"
WRANGLER = "wrangler dev"

PROCESS, POWER = "process", "power"  # what celld-py's acknowledged work survives; its default is the first


class NotHere(Exception):
    """A side cannot be measured on this machine; says why."""


@dataclass(frozen=True, slots=True)
class Side:
    """How to start one server."""

    name: str
    project: Path
    command: Callable[[Path, int, Path], list[str]]  # of the project's copy, the port and the state folder
    environment: Mapping[str, str]
    version: str

    @property
    def ours(self) -> bool:
        """Whether it is celld-py."""
        return self.name in (CELLD, CELLD_JS)

    @property
    def main(self) -> str:
        """The file of the project that holds the Worker."""
        return "src/main.py" if self.project == WORKER else "src/main.js"


def celld(durability: str = PROCESS) -> Side:
    """This checkout's `celld-py dev` with the Worker in Python, in the interpreter that runs the bench."""
    return _celld(CELLD, WORKER, durability, f"Python {sys.version.split()[0]}")


def celld_js(durability: str = PROCESS) -> Side:
    """This checkout's `celld-py dev` with the Worker in JavaScript; raises `NotHere` without workerd and esbuild."""
    try:
        tools = find_tools(None, lambda note: None)
    except CelldError as error:
        raise NotHere(str(error)) from error
    return _celld(CELLD_JS, TWIN, durability, _said([str(tools.workerd), "--version"]).strip())


def _celld(name: str, project: Path, durability: str, version: str) -> Side:
    def command(project: Path, port: int, state: Path) -> list[str]:
        main = [sys.executable, "-m", "runtime.cli.main", "dev", str(project)]
        return [*main, "--port", str(port), "--persist-to", str(state), "--durability", durability]

    return Side(name, project, command, {"PYTHONPATH": str(ROOT)}, version)


def wrangler() -> Side:
    """`wrangler dev` as it comes, except that it is told not to ask the network for anything; raises `NotHere`."""
    node, script = _node(), _script()
    version = _said([node, script, "--version"]).split()[-1]

    def command(project: Path, port: int, state: Path) -> list[str]:
        options = ["--port", str(port), "--ip", "127.0.0.1", "--inspector-port", "0", "--persist-to", str(state)]
        return [node, script, "dev", *options, "--show-interactive-dev-session=false"]

    environment = {
        "CI": "1",
        "WRANGLER_SEND_METRICS": "false",
        "CLOUDFLARE_CF_FETCH_ENABLED": "false",
        "PATH": f"{Path(node).parent}{os.pathsep}{os.environ['PATH']}",
    }
    return Side(WRANGLER, TWIN, command, environment, f"wrangler {version}, Node {_said([node, '--version']).strip()}")


def _node() -> str:
    node = os.environ.get(NODE_VARIABLE) or shutil.which("node")
    if node is None:
        raise NotHere(f"there is no Node on PATH, and {NODE_VARIABLE} names none")
    version = _said([node, "--version"]).strip()
    if tuple(int(part) for part in version.lstrip("v").split(".")[:2]) < LEAST_NODE:
        least = ".".join(map(str, LEAST_NODE))
        raise NotHere(f"{node} is Node {version}; wrangler needs {least} or newer ({NODE_VARIABLE} may name one)")
    return node


def _script() -> str:
    given = os.environ.get(WRANGLER_VARIABLE) or shutil.which("wrangler")
    if given is None:
        raise NotHere(f"there is no wrangler on PATH, and {WRANGLER_VARIABLE} names none")
    # npm's link in node_modules/.bin leads to the script, which must run under the Node that was found.
    return str(Path(given).resolve())


def _said(command: list[str]) -> str:
    try:
        return subprocess.run(command, check=True, capture_output=True, text=True, timeout=60).stdout
    except (OSError, subprocess.SubprocessError) as error:
        raise NotHere(f"{' '.join(command)} failed: {error}") from error
