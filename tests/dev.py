"""The real command as a test drives it: started, spoken to over HTTP, killed, started again.

    with dev(fixture("orders", tmp_path)) as server:
        id = server.json("/start")["id"]
        server.kill()
        server.offset(60 * 60 * 1000)
        server.start()
        assert server.json(f"/status?id={id}")["status"] == "complete"

It needs no pytest, so that the crash harness can use it too. Every wait ends; a wait that ends in vain raises
`NotSeen` with what the command printed. At the end of the block every process is gone, and the output is printed,
which pytest shows for a failed test.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent
from typing import Any, TypeVar

import httpx

ROOT = Path(__file__).parent.parent
FIXTURES = ROOT / "fixtures"
COMMAND = (sys.executable, "-P", "-m", "runtime.cli.main")  # -P: the project's folder is not on the command's path
PATIENCE = 30.0  # seconds until a test gives up; only failing tests wait so long
LOOK_AGAIN = 0.02  # seconds between two looks
READY = re.compile(r'Ready on (http://[^\s"]+)')
CLOCK_OFFSET = "clock_offset_ms"

Found = TypeVar("Found")


class NotSeen(AssertionError):
    """What was waited for did not come."""


def fixture(name: str, folder: Path) -> Path:
    """A copy of a project of fixtures/ in ``folder``, without state that somebody left there."""
    ours = shutil.ignore_patterns(".celld", ".venv*", "__pycache__")
    return Path(shutil.copytree(FIXTURES / name, folder / name, ignore=ours))


def isolates(host: int) -> list[int]:
    """The isolates of a host process, as /proc lists them. A check of the code is a child of it too, for a moment."""
    found = []
    for listed in Path(f"/proc/{host}/task").glob("*/children"):
        for pid in listed.read_text().split():
            with suppress(OSError):  # it has just ended
                if b"isolate.py\0" in Path(f"/proc/{pid}/cmdline").read_bytes():
                    found.append(int(pid))
    return found


def workerds(host: int) -> list[int]:
    """The workerd processes of a host process, as /proc lists them."""
    found = []
    for listed in Path(f"/proc/{host}/task").glob("*/children"):
        for pid in listed.read_text().split():
            with suppress(OSError):  # it has just ended
                if Path(f"/proc/{pid}/exe").readlink().name == "workerd":
                    found.append(int(pid))
    return found


def write_project(folder: Path, code: str, *workflows: str, **config: Any) -> Path:
    """Make a project from the text of its Worker and the names of its Workflow classes.

    The class ``ReportFlow`` is bound as ``env.REPORT_FLOW`` and called ``report-flow``. ``config`` goes into
    wrangler.jsonc as it is, over what stands there.
    """
    settings: dict[str, Any] = {
        "name": "worker",
        "main": "src/main.py",
        "compatibility_date": "2026-11-01",
        "compatibility_flags": ["python_workers"],
        "workflows": [workflow(class_name) for class_name in workflows],
    }
    settings |= config
    main = folder / settings["main"]
    main.parent.mkdir(parents=True, exist_ok=True)
    main.write_text(dedent(code), "utf-8")
    (folder / "wrangler.jsonc").write_text(json.dumps(settings, indent=2))
    return folder


def workflow(class_name: str) -> dict[str, str]:
    """The entry of a Workflow in the configuration, named after its class."""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", class_name).lower()
    return {"name": words, "binding": words.replace("-", "_").upper(), "class_name": class_name}


@dataclass(slots=True)
class _Life:
    """One process of the command, and what reads its output."""

    process: subprocess.Popen[str]
    reader: threading.Thread | None = None
    silent: bool = False  # it and its isolates have closed the pipe


@contextmanager
def dev(
    project: Path, *options: str, env: Mapping[str, str] | None = None, others: Sequence[Path] = ()
) -> Iterator[Dev]:
    """Run `celld-py dev` on a project (and on others with it), on a free port, until the end of the block."""
    server = Dev(project, options, env or {}, others)
    try:
        server.start()
        yield server
    finally:
        server.close()


class Dev:
    """A project under `celld-py dev`. ``lines`` is everything it printed, over all its lives."""

    def __init__(
        self, project: Path, options: Sequence[str], env: Mapping[str, str], others: Sequence[Path] = ()
    ) -> None:
        self.project = project
        self.others = [str(other) for other in others]
        self.options = list(options)
        self.env = dict(env)  # over the test's own; read at each start, so a test may arm a fault for one life
        self.state = project / ".celld" / "state"
        self.lines: list[str] = []
        self.url = ""
        self.http = httpx.Client(timeout=PATIENCE, trust_env=False)
        self.process: subprocess.Popen[str] | None = None
        self._lives: list[_Life] = []
        self._printed = threading.Condition()

    # ------------------------------------------------------------------------------------------------ life and death

    def launch(self) -> None:
        """Start the command without waiting for anything it may print."""
        assert not self.running, "the command runs already"
        self.process = subprocess.Popen(
            [*COMMAND, "dev", str(self.project), *self.others, "--port", "0", *self.options],
            cwd=self.project,
            env={**os.environ, "PYTHONPATH": str(ROOT), **self.env},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,  # a group of its own, so that `close` reaches its isolates
        )
        life = _Life(self.process)
        life.reader = threading.Thread(target=self._read, args=(life,), daemon=True)
        self._lives.append(life)
        life.reader.start()

    def start(self) -> None:
        """Start the command and wait until it serves."""
        mark = len(self.lines)
        self.launch()
        match = READY.search(self.printed("Ready on http://", since=mark))
        assert match is not None
        self.url = match[1]
        self.http.base_url = self.url

    def kill(self) -> None:
        """kill -9 the host, and only it: its isolates have to notice by themselves."""
        self.signal(signal.SIGKILL)
        self.exited()

    def stop(self) -> int:
        """Ctrl-C, once; gives the exit status."""
        self.signal(signal.SIGINT)
        return self.exited()

    def restart(self) -> None:
        """Ctrl-C, and start again."""
        self.stop()
        self.start()

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to the host."""
        assert self.process is not None and self.running, "the command does not run"
        self.process.send_signal(number)

    def exited(self) -> int:
        """Wait until the command ends; gives its exit status."""
        assert self.process is not None
        try:
            return self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            raise self._not_seen("the end of the command") from None

    @property
    def running(self) -> bool:
        """Whether the host's process lives."""
        return self.process is not None and self.process.poll() is None

    def offset(self, ms: int) -> None:
        """Move the stored clock, as if ``ms`` had passed while the server was down."""
        assert not self.running, "the clock is moved while the server is down"
        with closing(sqlite3.connect(self.state / "catalog.db", timeout=PATIENCE, isolation_level=None)) as db:
            row = db.execute("SELECT value FROM meta WHERE name = ?", (CLOCK_OFFSET,)).fetchone()
            total = str(ms + int(row[0] if row else 0))
            db.execute("INSERT OR REPLACE INTO meta (name, value) VALUES (?, ?)", (CLOCK_OFFSET, total))

    def close(self) -> None:
        """Kill every process that was started, and print what they printed."""
        for life in self._lives:
            with suppress(ProcessLookupError):
                os.killpg(life.process.pid, signal.SIGKILL)
            life.process.wait()
        for life in self._lives:
            assert life.reader is not None and life.process.stdout is not None
            life.reader.join(PATIENCE)
            life.process.stdout.close()
        self.http.close()
        print("\n".join(self.lines))

    # ---------------------------------------------------------------------------------------------- what it tells us

    def printed(self, text: str, *, since: int = 0, timeout: float = PATIENCE) -> str:
        """Wait for a line that holds the text, and give it; ``since`` leaves out that many lines."""
        end = time.monotonic() + timeout
        with self._printed:
            while True:
                found = next((line for line in self.lines[since:] if text in line), None)
                if found is not None:
                    return found
                left = end - time.monotonic()
                if left <= 0 or self._lives[-1].silent:
                    raise self._not_seen(f"a line with {text!r}")
                self._printed.wait(left)

    def get(self, path: str, **settings: Any) -> httpx.Response:
        """GET, with whatever status."""
        return self.http.get(path, **settings)

    def post(self, path: str, **settings: Any) -> httpx.Response:
        """POST, with whatever status."""
        return self.http.post(path, **settings)

    def json(self, path: str, method: str = "GET", **settings: Any) -> Any:
        """The JSON of an answer that has to be a success."""
        answer = self.http.request(method, path, **settings)
        assert answer.is_success, f"{method} {path}: {answer.status_code} {answer.text}"
        return answer.json()

    def until(
        self, path: str, holds: Callable[[Any], bool], *, timeout: float = PATIENCE, look_again: float = LOOK_AGAIN
    ) -> Any:
        """Ask for the JSON of ``path`` until it ``holds``, and give it."""
        seen: Any = None

        def look() -> bool:
            nonlocal seen
            seen = self.json(path)
            return holds(seen)

        with self._telling(lambda: f"{path} as wanted, but {seen!r}"):
            eventually(look, timeout=timeout, look_again=look_again)
        return seen

    # ------------------------------------------------------------------------------------------------------- inside

    def _read(self, life: _Life) -> None:
        assert life.process.stdout is not None
        for line in life.process.stdout:
            with self._printed:
                self.lines.append(line.rstrip("\n"))
                self._printed.notify_all()
        with self._printed:
            life.silent = True
            self._printed.notify_all()

    @contextmanager
    def _telling(self, what: Callable[[], str]) -> Iterator[None]:
        try:
            yield
        except NotSeen:
            raise self._not_seen(what()) from None

    def _not_seen(self, what: str) -> NotSeen:
        return NotSeen("\n".join([f"waited in vain for {what}; the command printed:", *self.lines[-60:]]))


def eventually(look: Callable[[], Found], *, timeout: float = PATIENCE, look_again: float = LOOK_AGAIN) -> Found:
    """Call ``look`` until it gives something true, and give that."""
    end = time.monotonic() + timeout
    while True:
        found = look()
        if found:
            return found
        if time.monotonic() > end:
            raise NotSeen(f"it did not become true in {timeout:g} s")
        time.sleep(look_again)
