"""One running server for the tests that do not disturb each other: each brings a Worker of its own."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

import pytest

from tests.dev import Dev, dev, write_project

# The first part of the path names a module beside this one, which is imported when it is first asked for.
STAGE = """
import importlib
import inspect
from urllib.parse import urlsplit
from workers import WorkerEntrypoint

class Default(WorkerEntrypoint):
    async def fetch(self, request):
        name = urlsplit(request.url).path.split("/")[1]
        worker = importlib.import_module(name).Default(self.ctx, self.env)
        response = worker.fetch(request)
        return await response if inspect.isawaitable(response) else response
"""


class Stage:
    """A server, and the Workers that were put on it."""

    def __init__(self, server: Dev) -> None:
        self.server = server
        self._numbers = itertools.count(1)

    def worker(self, code: str) -> str:
        """Put a Worker on the server; gives the path under which it answers."""
        name = f"worker{next(self._numbers)}"
        imports = "import asyncio\nimport js\nfrom workers import Response, WorkerEntrypoint, asgi, wait_until\n"
        (self.server.project / "src" / f"{name}.py").write_text(imports + dedent(code))
        return f"/{name}"


@pytest.fixture(scope="session")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """A server for many tests."""
    project: Path = write_project(tmp_path_factory.mktemp("stage"), STAGE)
    with dev(project, "--no-watch") as server:
        yield Stage(server)
