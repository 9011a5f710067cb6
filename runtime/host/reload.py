"""Hot reload: an edit puts the code on new isolates, and running instances replay on them."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from runtime.cli.terminal import Terminal

from .errors import CelldError
from .isolates import Isolates, Loaded
from .runs import Runs

FINISH = 10.0  # seconds that live attempts may go on in the old isolate
RESPOND = 30.0  # seconds that responses and wait_until work may
LOOK = 0.05
BURST = 0.5  # seconds that a burst of edits takes at most until it is told
TICK = 500  # ms after which the watcher says that it is there, if nothing has changed
IGNORED = frozenset({"node_modules", "__pycache__", "python_modules"})  # beside every folder whose name has a dot
CODE = frozenset({".py"})
# What code commonly reads from beside itself; elsewhere in the project such files are mostly what it writes.
DATA = frozenset(
    {".html", ".htm", ".css", ".js", ".json", ".jsonc", ".toml", ".yaml", ".yml", ".txt", ".md", ".sql", ".csv"}
    | {".xml", ".svg", ".jinja", ".jinja2", ".j2", ".tmpl", ".tpl"}
)
CONFIGURATION = frozenset({"wrangler.json", "wrangler.jsonc", "wrangler.toml", ".dev.vars", ".env", "pyproject.toml"})


class Sources:
    """The files of a project whose change can change what it does."""

    def __init__(self, root: Path, main: Path, state: Path) -> None:
        self.root = root
        self._state = state
        self._beside = main.parent

    def include(self, path: Path) -> bool:
        """Whether this file is one of them."""
        if not path.is_relative_to(self.root) or (path.is_relative_to(self._state) and self._state != self.root):
            return False
        if any(map(_passed_over, path.relative_to(self.root).parts[:-1])):
            return False
        if is_configuration(path) or path.suffix in CODE:
            return True
        return path.suffix in DATA and path.is_relative_to(self._beside) and not _is_our_output(path)

    def concern(self, path: Path) -> bool:
        """Whether an event of this path is worth a look: one of the files, or a folder that may hold some."""
        return self.include(path) or (not _passed_over(path.name) and path.is_dir())

    def folders(self) -> list[Path]:
        """The folders in which such files may be."""
        return [folder for folder, _ in self._walk()]

    def changed_since(self, moment: float) -> set[Path]:
        """The files that were written after a moment (seconds since the epoch)."""
        paths = (folder / name for folder, names in self._walk() for name in names)
        return {path for path in paths if self.include(path) and _written(path) > moment}

    def _walk(self) -> Iterator[tuple[Path, list[str]]]:
        for name, folders, files in os.walk(self.root):
            folders[:] = sorted(each for each in folders if not _passed_over(each))
            if Path(name) == self._state != self.root:
                folders.clear()
                continue
            yield Path(name), files


def _passed_over(folder: str) -> bool:
    return folder in IGNORED or folder.startswith(".")


def is_configuration(path: Path) -> bool:
    """Whether it is read at start-up only."""
    return path.name in CONFIGURATION or path.name.startswith((".dev.vars.", ".env."))


def _is_our_output(path: Path) -> bool:
    """Whether our own output goes into the file (``celld-py dev > out.txt``): each reload would write to it."""
    try:
        file = path.stat()
        return any(os.path.samestat(file, os.fstat(descriptor)) for descriptor in (1, 2))
    except OSError:  # it is gone, or there is no such descriptor
        return False


def _written(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:  # it went away while we looked
        return 0.0


class Reloader:
    """Watches the project's files, and replaces the isolates after each burst of edits."""

    def __init__(
        self, sources: Sources, isolates: Isolates, runs: Runs, terminal: Terminal, reloaded: Callable[[], None]
    ) -> None:
        self._sources = sources
        self._isolates = isolates
        self._runs = runs
        self._terminal = terminal
        self._reloaded = reloaded
        self._moving: set[asyncio.Task[None]] = set()

    async def watch(self, loaded_at: float) -> None:
        """Reload after each burst of edits, for ever; ``loaded_at`` (s since the epoch) is when the code was read."""
        try:
            await self._watch(loaded_at)
        except Exception as error:
            # Most of all the system's limit of watched files; the server is as good as before, but for this.
            hint = (
                "Edits are not noticed any more: restart celld-py dev after each, or raise fs.inotify.max_user_watches."
            )
            self._terminal.error(f"The project's files cannot be watched: {error}", hint=hint, code="watch_failed")

    async def _watch(self, since: float) -> None:
        while True:
            since = await self._watch_folders(self._sources.folders(), since)

    async def _watch_folders(self, folders: list[Path], since: float) -> float:
        """Reload after each burst, until a folder comes; gives the time since when its files are news.

        Each folder is watched by itself, and not the whole tree: the state folder is in it, and every commit would wake
        the watcher; so are virtual environments, whose size exceeds what the system lets a program watch.
        """
        from watchfiles import awatch  # its import costs start-up time that nobody has to wait for

        unseen = True  # what was edited before the watcher was there
        async for changes in awatch(
            *folders,
            recursive=False,
            watch_filter=lambda _, path: self._sources.concern(Path(path)),
            debounce=200,
            step=50,
            rust_timeout=TICK,
            yield_on_timeout=True,
        ):
            changed = {Path(path) for _, path in changes}
            if unseen:
                unseen = False
                changed |= await asyncio.to_thread(self._sources.changed_since, since)
            if files := sorted(filter(self._sources.include, changed)):
                await self.reload(files)
            if changed and self._sources.folders() != folders:
                break
        return time.time() - BURST

    async def reload(self, changed: list[Path]) -> None:
        """Put the code as it is now on new isolates; when it does not load, the old ones go on."""
        if settings := [path for path in changed if is_configuration(path)]:
            self._terminal.note(f"{self._names(settings)} changed; restart celld-py dev for it to take effect.")
        if settings == changed:
            return
        self._terminal.line(f"Reloading: {self._names(changed)}")
        try:
            old = await self._isolates.replace()
        except CelldError as error:
            self._terminal.error(error.message, error.detail, error.hint, error.code)
            old = None
        if old is None:
            self._terminal.event("reload_failed")
            return
        self._reloaded()
        for one in old:
            if one.role == "work":
                self._runs.hold(one.isolate)  # before it is said: from here on nothing more begins on the old code
        self._terminal.line("Reloaded")
        task = asyncio.create_task(self._move(old))
        self._moving.add(task)
        task.add_done_callback(self._moving.discard)

    def _names(self, paths: list[Path]) -> str:
        names = ", ".join(str(path.relative_to(self._sources.root)) for path in paths[:3])
        return f"{names} and {len(paths) - 3} more" if len(paths) > 3 else names

    async def _move(self, old: list[Loaded]) -> None:
        """Take what the old isolates still do to an end; runs go on, by replay, on the new ones."""
        await asyncio.gather(
            *(self._move_runs(one) if one.role == "work" else self._isolates.drain(one, RESPOND) for one in old)
        )

    async def _move_runs(self, old: Loaded) -> None:
        old.retired = True
        for _ in range(round(FINISH / LOOK)):
            self._runs.move_idle(old.isolate)
            if not self._runs.on(old.isolate):
                break
            await asyncio.sleep(LOOK)
        if self._runs.on(old.isolate):
            # What is cut off must have ended before it runs again elsewhere (I3).
            old.isolate.kill()
            await old.isolate.wait()
            self._runs.lost(old.isolate)
        self._isolates.retire(old)
