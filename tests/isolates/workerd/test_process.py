from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from runtime.isolates.workerd.process import Process
from runtime.isolates.workerd.started import Started

pytestmark = pytest.mark.asyncio

HOST = """
import sys, threading
from pathlib import Path
from runtime.isolates.workerd.started import Started

print(Started(sys.argv[1:], Path.cwd()).pid, flush=True)
threading.Event().wait()
"""


class Listened:
    """A process that is listened to. The last argument of its script is the option that names the control pipe."""

    def __init__(self, script: str, folder: Path) -> None:
        self.events: list[dict[str, Any]] = []
        self.lines: list[list[str]] = []
        self.status: list[int] = []
        self.process = Process(
            Started(["/bin/sh", "-c", f'control="${{0#--control-fd=}}"; {script}'], folder),
            on_listening=self.events.append,
            on_lines=self.lines.append,
            on_exit=self.status.append,
        )


async def test_what_is_written_is_told_before_the_end(tmp_path: Path) -> None:
    listened = Listened("printf 'one\\ntwo\\nno end'; echo error >&2; exit 3", tmp_path)

    assert await listened.process.exited == 3
    assert "\n".join(line for lines in listened.lines for line in lines) == "one\ntwo\nno enderror"
    assert listened.status == [3]


async def test_a_port_is_told_as_soon_as_it_is_known(tmp_path: Path) -> None:
    script = """printf '{"event":"listen","socket":"bridge","port":1}\\n' > "/dev/fd/$control" """
    listened = Listened(script, tmp_path)

    await listened.process.exited
    assert listened.events == [{"event": "listen", "socket": "bridge", "port": 1}]


async def test_a_process_that_is_killed_tells_the_signal(tmp_path: Path) -> None:
    listened = Listened("exec sleep 600", tmp_path)
    listened.process.kill()

    assert await listened.process.exited == -signal.SIGKILL
    listened.process.kill()  # the number may be somebody else's by now
    listened.process.terminate()


async def test_a_process_is_asked_to_end(tmp_path: Path) -> None:
    listened = Listened("trap 'exit 7' TERM; echo ready; while :; do sleep 0.01; done", tmp_path)
    while not listened.lines:
        await asyncio.sleep(0)
    listened.process.terminate()

    assert await listened.process.exited == 7


async def test_a_process_dies_with_a_host_that_is_killed() -> None:
    host = subprocess.Popen(
        [sys.executable, "-c", HOST, "/bin/sh", "-c", "exec sleep 600"], stdout=subprocess.PIPE, text=True
    )
    assert host.stdout is not None
    with host.stdout:
        pid = int(await asyncio.to_thread(host.stdout.readline))
        assert lives(pid)

        host.kill()
        host.wait()

        while lives(pid):
            await asyncio.sleep(0.01)


def lives(pid: int) -> bool:
    """Whether a process runs, and is not just one that nobody has reaped."""
    found = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False)
    return found.stdout.strip()[:1] not in ("", "Z")
