"""Installs workerd and esbuild into the cache, for all starts to come.

npm gets a lock file with the pinned hashes and no addresses, so it downloads from where the person has told it to
and takes nothing else. Everything happens in a folder beside the final one, which then gets its name: that folder is
complete whenever it exists, also after a kill. Starts at the same time wait for the first.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from . import npm_client
from .pins import DOWNLOAD_MEGABYTES, Pin, Pins
from .project_copies import version_of
from .system import has_glibc
from .tool_errors import does_not_run, needs_glibc, no_cache, no_npm, npm_failed
from .tools import Note, Tools, runnable, tools_in

PROBE_TIMEOUT = 60.0  # seconds, for a first start from a cold disk under a virus scanner

# Of npm 7 and later: a lock file whose entries name no address.
_LOCK_VERSION = 3


def install(folder: Path, pins: Pins, note: Note) -> Tools:
    """Install into ``folder``; raises `tool_errors.ToolsError`."""
    if sys.platform == "linux" and not has_glibc():
        raise needs_glibc()
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with _one_installer(folder, note) as lock:
            return tools_in(folder, pins) or _install(folder, pins, note, lock)
    except OSError as error:
        raise no_cache(folder, error) from error


@contextmanager
def _one_installer(folder: Path, note: Note) -> Iterator[int]:
    """Holds the cache's lock. A npm that outlives us holds it on, since it still writes."""
    with folder.with_name("install.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            note("Another celld-py is installing workerd and esbuild; waiting for it")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield lock.fileno()


def _install(folder: Path, pins: Pins, note: Note, lock: int) -> Tools:
    clients = npm_client.clients()
    if not clients:
        raise no_npm()
    versions = " and ".join(f"{pin.program} {pin.version}" for pin in pins)
    note(f"Installing {versions} with npm into {folder} (once; about {DOWNLOAD_MEGABYTES} MB to download)")
    partial = folder.with_name(f"{folder.name}.partial")
    try:
        _fetch(clients, partial, pins, note, lock)
        _publish(partial, folder, pins)
    finally:
        _remove(partial)
    note("workerd and esbuild are installed")
    return Tools(folder / pins.workerd.path, folder / pins.esbuild.path)


def _fetch(clients: list[npm_client.Client], partial: Path, pins: Pins, note: Note, lock: int) -> None:
    """Fill ``partial`` with the first client that can; an old or broken one is no reason to give up."""
    failures: list[tuple[str, str]] = []
    for client in clients:
        _remove(partial)  # of a start that was killed, or of the client before
        _write_lock_file(partial, pins)
        outcome = npm_client.install(client, partial, lambda waited: note(f"Still installing ({waited:.0f} s)"), [lock])
        missing = [f"{pin.package}@{pin.version}" for pin in pins if not _is_there(partial / pin.path, pin)]
        if outcome.ok and not missing:
            return
        # npm 6 and older take a lock file of this version for an empty one.
        failures.append((client.name, f"did not install {', '.join(missing)}" if outcome.ok else outcome.words))
    raise npm_failed(failures)


def _is_there(program: Path, pin: Pin) -> bool:
    return runnable(program) and version_of(program) == pin.version


def _write_lock_file(folder: Path, pins: Pins) -> None:
    wanted = {pin.package: pin.version for pin in pins}
    packages = {f"node_modules/{pin.package}": {"version": pin.version, "integrity": pin.integrity} for pin in pins}
    head = {"name": "celld-py-tools", "version": "1.0.0"}
    lock = {**head, "lockfileVersion": _LOCK_VERSION, "packages": {"": {**head, "dependencies": wanted}, **packages}}
    folder.mkdir()
    (folder / "package.json").write_text(
        json.dumps({**head, "private": True, "dependencies": wanted}, indent=2), "utf-8"
    )
    (folder / "package-lock.json").write_text(json.dumps(lock, indent=2), "utf-8")


def _publish(partial: Path, folder: Path, pins: Pins) -> None:
    """Give the complete folder its name, once its programs are on the disk: whole also after a power cut."""
    for pin in pins:
        _verify(partial / pin.path, pin)
        with (partial / pin.path).open("rb") as program:
            os.fsync(program.fileno())
    _remove(folder)  # someone has taken a program out of it
    partial.rename(folder)


def _verify(program: Path, pin: Pin) -> None:
    """See that the program runs here: the C library, the processor and the volume may be such that it cannot."""
    try:
        done = subprocess.run(
            [program, "--version"], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PROBE_TIMEOUT
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise does_not_run(pin, str(error)) from error
    if done.returncode != 0:
        raise does_not_run(pin, (done.stderr or done.stdout).strip() or f"It ended with status {done.returncode}.")


def _remove(folder: Path) -> None:
    if folder.exists():
        shutil.rmtree(folder)
