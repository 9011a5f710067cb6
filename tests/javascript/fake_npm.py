"""An `npm` for tests: it keeps its lock file and arguments, and then does what it is told."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_WORLD = """
import json, os, pathlib, signal, sys, time

here = pathlib.Path({here!r})
with (here / "calls.jsonl").open("a") as calls:
    calls.write(json.dumps({{"arguments": sys.argv[1:], "lock": json.loads(open("package-lock.json").read())}}) + "\\n")

def put(programs=("workerd", "esbuild"), script="#!/bin/sh\\necho it runs\\n"):
    for place, package in json.loads(open("package-lock.json").read())["packages"].items():
        name = "workerd" if "workerd" in place else "esbuild"
        if place and name in programs:
            program = pathlib.Path(place, "bin", name)
            program.parent.mkdir(parents=True)
            program.write_text(script)
            program.chmod(0o755)
            (program.parent.parent / "package.json").write_text(json.dumps({{"version": package["version"]}}))

def wait_for(name):
    while not (here / name).exists():
        time.sleep(0.01)

"""

INSTALLS = "put()"


@dataclass(frozen=True)
class FakeNpm:
    """``folder`` is to be the PATH."""

    folder: Path

    def does(self, script: str) -> None:
        """Set what it does from now on: Python, with `put` and `wait_for` at hand."""
        self.folder.mkdir(exist_ok=True)
        program = self.folder / "npm.py"
        program.write_text(_WORLD.format(here=str(self.folder)) + script)
        npm = self.folder / "npm"
        npm.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{program}" "$@"\n')
        npm.chmod(0o755)

    def let(self, name: str) -> None:
        """Make what `wait_for` waits for."""
        (self.folder / name).touch()

    @property
    def calls(self) -> list[dict[str, Any]]:
        """How it was called so far."""
        kept = self.folder / "calls.jsonl"
        return [json.loads(line) for line in kept.read_text().splitlines()] if kept.exists() else []
