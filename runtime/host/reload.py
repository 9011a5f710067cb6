"""Hot reload: an edit puts the code on new isolates, and running instances replay on them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

from runtime.cli.terminal import Terminal

from .isolates import Isolates, Loaded
from .options import Options
from .runs import Runs

FINISH = 10.0  # seconds that live attempts may go on in the old isolate
RESPOND = 30.0  # seconds that responses and wait_until work may
LOOK = 0.05
IGNORED = frozenset(
    {".celld", ".git", ".hg", ".venv", ".venv-workers", "node_modules", "__pycache__", "python_modules", ".wrangler"}
)
LEFT_OUT = (".pyc", ".pyo", ".swp", ".swx", "~", ".tmp")
CONFIGURATION = frozenset({"wrangler.json", "wrangler.jsonc", "wrangler.toml", ".dev.vars", ".env", "pyproject.toml"})


def matters(root: Path, path: str) -> bool:
    """Whether a change of this file can change what the project does."""
    parts = Path(path).relative_to(root).parts if Path(path).is_relative_to(root) else Path(path).parts
    return not IGNORED.intersection(parts) and not path.endswith(LEFT_OUT)


class Reloader:
    """Watches the project's files, and replaces the isolates after each burst of edits."""

    def __init__(
        self, options: Options, isolates: Isolates, runs: Runs, terminal: Terminal, reloaded: Callable[[], None]
    ) -> None:
        self._options = options
        self._isolates = isolates
        self._runs = runs
        self._terminal = terminal
        self._reloaded = reloaded
        self._moving: set[asyncio.Task[None]] = set()

    async def watch(self, root: Path) -> None:
        """Reload after each burst of edits, for ever."""
        from watchfiles import awatch  # its import costs start-up time that nobody has to wait for

        async for changes in awatch(root, watch_filter=lambda _, path: matters(root, path), debounce=200, step=50):
            await self.reload(sorted({Path(path) for _, path in changes}), root)

    async def reload(self, changed: list[Path], root: Path) -> None:
        """Put the code as it is now on new isolates; when it does not load, the old ones go on."""
        names = ", ".join(str(path.relative_to(root)) for path in changed[:3])
        if any(path.name in CONFIGURATION for path in changed):
            self._terminal.note(f"{names} changed; restart celld-py dev for the configuration to take effect.")
        self._terminal.line(f"Reloading: {names}{' and more' if len(changed) > 3 else ''}")
        old = await self._isolates.replace()
        if old is None:
            self._terminal.event("reload_failed")
            return
        self._reloaded()
        self._terminal.line("Reloaded")
        task = asyncio.create_task(self._move(old))
        self._moving.add(task)
        task.add_done_callback(self._moving.discard)

    async def _move(self, old: list[Loaded]) -> None:
        """Take what the old isolates still do to an end; runs go on, by replay, on the new ones."""
        await asyncio.gather(
            *(self._move_runs(one) if one.role == "work" else self._isolates.drain(one, RESPOND) for one in old)
        )

    async def _move_runs(self, old: Loaded) -> None:
        old.retired = True
        self._runs.hold(old.isolate)
        for _ in range(round(FINISH / LOOK)):
            self._runs.move_idle(old.isolate)
            if not self._runs.on(old.isolate):
                break
            await asyncio.sleep(LOOK)
        for run in self._runs.on(old.isolate):
            self._runs.lose(run)
        self._isolates.retire(old)
