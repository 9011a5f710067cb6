"""Asks the real wrangler, where there is one: CELLD_PY_BENCH_NODE and CELLD_PY_BENCH_WRANGLER name it."""

from __future__ import annotations

import json
import os
import re
import selectors
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from bench.sides import NotHere, wrangler
from tests.wrangler_compat.messages.rows import HERE, Row

_READER = HERE / "read_with_wrangler.cjs"
_ANSI = re.compile(r"\x1b\[[0-9;]*m")
_ITEM = re.compile(r"( *)- (.*)")
_GROUP = re.compile(r'"env\.[^"]+" environment configuration|"[^"]*bindings\[\d+\]": .*')
_ENVIRONMENT = re.compile(r'"env\.([^"]+)" environment configuration')
_WHOLE_ADVICE = ("Bindings must have unique names,", "Allowed properties are:")  # ours are hints of the error before
_DEV_SECONDS = 40
_SUBDOMAIN = {"enabled": True, "previews_enabled": True, "url": "https://shop.example.test"}
_RESULT = {**_SUBDOMAIN, "subdomain": _SUBDOMAIN}  # of every request: what a deployment looks at

Said = Counter[tuple[str, str, str | None]]


class RealWrangler:
    """The installed wrangler; raises `NotHere` when there is none."""

    def __init__(self) -> None:
        side = wrangler()
        self._node, self._script, *_ = side.command(Path(), 0, Path())
        match = re.search(r"wrangler ([^,]+)", side.version)
        assert match
        self.version = match[1]
        self._environment = {**os.environ, **side.environment, "NO_COLOR": "1"}
        self._environment.pop("CLOUDFLARE_ENV", None)

    def read(self, projects: Sequence[tuple[Path, str | None]]) -> list[Said]:
        """What it says when it reads each file: level, first line of the message, environment."""
        package = Path(self._script).parent.parent
        asked = json.dumps([{"path": str(path), "env": env} for path, env in projects])
        command = [self._node, str(_READER), str(package)]
        done = subprocess.run(
            command, input=asked, env=self._environment, capture_output=True, text=True, check=True, timeout=300
        )
        return [_verdict(each) for each in json.loads(done.stdout)]

    def later(self, phase: str, project: Path) -> str:
        """What it says at one of the later phases."""
        return {"bundle": self.bundle, "deploy": self.deploy, "dev": self.dev}[phase](project)

    def deploy(self, project: Path) -> str:
        """What `wrangler triggers deploy` says, against an API that knows nothing."""
        with _empty_api() as url:
            environment = {
                "CLOUDFLARE_API_BASE_URL": url,
                "CLOUDFLARE_API_TOKEN": "t",
                "CLOUDFLARE_ACCOUNT_ID": "a" * 32,
            }
            return self._run(project, ["triggers", "deploy"], environment)

    def bundle(self, project: Path) -> str:
        """What `wrangler deploy --dry-run` says."""
        return self._run(project, ["deploy", "--dry-run", "--outdir", str(project.parent / "out")], {})

    def dev(self, project: Path) -> str:
        """What `wrangler dev` says until it is ready or has said an error."""
        options = ["--port", "0", "--inspector-port", "0", "--show-interactive-dev-session=false"]
        process = subprocess.Popen(
            [self._node, self._script, "dev", *options],
            cwd=project.parent,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        try:
            return _plain(_until_settled(process))
        finally:
            process.terminate()
            process.communicate(timeout=30)

    def _run(self, project: Path, arguments: list[str], environment: dict[str, str]) -> str:
        done = subprocess.run(
            [self._node, self._script, *arguments],
            cwd=project.parent,
            env={**self._environment, **environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=120,
        )
        return _plain(done.stdout)


def expected_of_reading(row: Row) -> Said:
    """The messages of the row that wrangler has when it reads the file.

    Clashing names are those of the flattened configuration: it does not nest them under the environment.
    """
    return Counter(
        (each.level, each.text, None if " assigned to " in each.text else each.environment)
        for each in row.said_at("read")
    )


def _verdict(raw: dict[str, Any]) -> Said:
    said = [("warning", *each) for each in _items(raw["warnings"])]
    said += [("error", *each) for each in _items(raw["error"] or "")]
    return Counter(each for each in said if not each[1].startswith(_WHOLE_ADVICE))


def _items(text: str) -> Iterator[tuple[str, str | None]]:
    """The first line of each message in a list, with the environment that it is nested under."""
    environment, level = None, None
    lines = _plain(text).splitlines()
    if lines and not any(_ITEM.fullmatch(line) for line in lines):
        yield lines[0], None
    for line in lines:
        match = _ITEM.fullmatch(line)
        if match is None:
            continue
        indent = len(match[1])
        level = indent if level is None else level
        if _GROUP.fullmatch(match[2]):
            level = indent + 2
            if named := _ENVIRONMENT.fullmatch(match[2]):
                environment = named[1]
        elif indent <= level:
            level = indent
            yield match[2], environment


def _plain(text: str) -> str:
    return _ANSI.sub("", text)


def _until_settled(process: subprocess.Popen[bytes]) -> str:
    assert process.stdout is not None
    said, end = b"", time.monotonic() + _DEV_SECONDS
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        while time.monotonic() < end and b"Ready on" not in said and b"[ERROR]" not in _plain(said.decode()).encode():
            if selector.select(1):
                part = os.read(process.stdout.fileno(), 65536)
                if not part:
                    break
                said += part
    return said.decode()


@contextmanager
def _empty_api() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _EmptyApi)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class _EmptyApi(BaseHTTPRequestHandler):
    def answer(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        body = json.dumps({"success": True, "errors": [], "messages": [], "result": _RESULT}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = answer

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


__all__ = ["NotHere", "RealWrangler", "expected_of_reading"]
