"""Hot reload: an edit puts the code on new isolates, and running instances replay on them."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable
from pathlib import Path

from runtime.cli.terminal import Terminal
from runtime.isolates.transport import Isolate

from .errors import CelldError
from .isolates import Isolates, Loaded
from .roles import has
from .runs import Runs
from .sources import Sources, is_configuration

FINISH = 10.0  # seconds that live attempts may go on in the old isolate
RESPOND = 30.0  # seconds that responses and wait_until work may
VACATE = 1.0  # seconds for all of that where the old isolate has to end before the new one serves
LOOK = 0.05
BURST = 0.5  # seconds that a burst of edits takes at most until it is told
TICK = 500  # ms after which the watcher says that it is there, if nothing has changed


class Reloader:
    """Watches the project's files, and replaces the isolates after each burst of edits."""

    def __init__(
        self,
        sources: Sources,
        isolates: Isolates,
        runs: Runs,
        terminal: Terminal,
        *,
        requests: Callable[[Isolate], int],
        reloaded: Callable[[], None],
    ) -> None:
        self._sources = sources
        self._isolates = isolates
        self._runs = runs
        self._terminal = terminal
        self._requests = requests  # how many are in flight on an isolate
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
            fresh = await (self._exchanged() if self._isolates.exclusive else self._isolates.prepare())
        except CelldError as error:
            self._terminal.error(error.message, error.detail, error.hint, error.code)
            fresh = None
        if fresh is None:
            self._terminal.event("reload_failed")
            return
        old = await self._isolates.admit(fresh)
        self._reloaded()
        for one in old:
            if has(one.role, "work"):
                self._runs.hold(one.isolate)  # before it is said: from here on nothing more begins on the old code
        self._terminal.line("Reloaded")
        task = asyncio.create_task(self._move(old))
        self._moving.add(task)
        task.add_done_callback(self._moving.discard)

    def _names(self, paths: list[Path]) -> str:
        names = ", ".join(os.path.relpath(path, self._sources.root) for path in paths[:3])
        return f"{names} and {len(paths) - 3} more" if len(paths) > 3 else names

    async def _exchanged(self) -> list[Loaded] | None:
        """`Isolates.prepare` where the old isolates have to be dead before the new ones are there."""
        tried = await self._isolates.prepare(trial=True)
        if tried is None:
            return None
        for one in tried:
            self._isolates.retire(one)
        await self._let_finish()
        await self._vacate()
        fresh = None
        try:
            fresh = await self._isolates.prepare()
        finally:
            if fresh is None:  # although it has just loaded: perhaps it will again
                self._isolates.restore()
        return fresh

    async def _let_finish(self) -> None:
        """Give attempts the time that they have elsewhere; the old code answers requests meanwhile."""
        self._runs.stop_serving()
        self._runs.hold()
        old = {one.isolate for one in self._isolates.current.values() if one is not None}
        for _ in range(round(FINISH / LOOK)):
            for isolate in old:
                self._runs.move_idle(isolate)
            if not any(map(self._runs.on, old)):
                break
            await asyncio.sleep(LOOK)

    async def _vacate(self) -> None:
        """Empty the isolates that serve, and end them, before others may have what they have open.

        Requests that come meanwhile wait for the new ones; what is running has a moment to come to its end.
        """
        self._runs.stop_serving()
        old = self._isolates.withdraw()
        for one in old:
            self._runs.hold(one.isolate)
        await asyncio.gather(*map(self._empty, old))
        await asyncio.gather(*map(self._cut_off, old))

    async def _empty(self, old: Loaded) -> None:
        drained = asyncio.create_task(self._isolates.drain(old, VACATE))  # of cron handlers and waitUntil work too
        for _ in range(round(VACATE / LOOK)):
            if not self._is_busy(old):
                break
            await asyncio.sleep(LOOK)
        await drained

    def _is_busy(self, one: Loaded) -> bool:
        self._runs.move_idle(one.isolate)
        return bool(self._runs.on(one.isolate)) or self._requests(one.isolate) > 0

    async def _cut_off(self, one: Loaded) -> None:
        one.isolate.kill()
        await one.isolate.wait()
        self._runs.lost(one.isolate)

    async def _move(self, old: list[Loaded]) -> None:
        """Take what the old isolates still do to an end; runs go on, by replay, on the new ones."""
        await asyncio.gather(*map(self._move_one, old))

    async def _move_one(self, old: Loaded) -> None:
        old.retired = True
        duties = []
        if has(old.role, "work"):
            duties.append(self._move_runs(old))
        if has(old.role, "front"):
            duties.append(self._isolates.drain(old, RESPOND))
        await asyncio.gather(*duties)
        await self._isolates.end(old)

    async def _move_runs(self, old: Loaded) -> None:
        for _ in range(round(FINISH / LOOK)):
            self._runs.move_idle(old.isolate)
            if not self._runs.on(old.isolate):
                break
            await asyncio.sleep(LOOK)
        # What is cut off must have ended before it runs again elsewhere (I3).
        if old.role == "both":
            self._runs.cut_off(old.isolate)  # and not with its process, which may have responses to finish
        elif self._runs.on(old.isolate):
            await self._cut_off(old)
