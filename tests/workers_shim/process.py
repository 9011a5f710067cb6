"""The real isolate, started as the host starts it, and spoken to over its sockets."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

import workers_shim
from tests.inbox import Message
from tests.workers_shim.scripted_host import CONFIG, text
from workers_shim.wire.frames import Data, End, FrameReader, FrameWriter

PROGRAM = Path(workers_shim.__file__).with_name("isolate.py")


class Isolate:
    """A running isolate. Its methods block; every wait ends after 20 s."""

    def __init__(self, process: subprocess.Popen[bytes], stream: socket.socket, watch: socket.socket) -> None:
        self.process = process
        self.stream = stream
        self.watch = watch
        self.bodies: dict[int, bytearray] = {}
        self.ended: set[int] = set()
        self._reader = FrameReader()
        self._inbox: deque[Message] = deque()

    def send(self, *messages: Message) -> None:
        """Send messages in one write."""
        writer = FrameWriter()
        for message in messages:
            writer.message(json.dumps(message).encode())
        while writer:
            self.stream.sendall(writer.take(1 << 20))

    def send_body(self, stream: int, data: bytes) -> None:
        """Send a whole body."""
        writer = FrameWriter()
        writer.data(stream, data)
        writer.end(stream)
        while writer:
            self.stream.sendall(writer.take(1 << 20))

    def receive(self) -> None:
        """Take what the isolate sent; an error when it is gone."""
        data = self.stream.recv(1 << 18)
        if not data:
            raise EOFError("the isolate is gone")
        for frame in self._reader.feed(data):
            if isinstance(frame, Data):
                self.bodies.setdefault(frame.stream, bytearray()).extend(frame.data)
            elif isinstance(frame, End):
                self.ended.add(frame.stream)
            else:
                self._inbox.append(msgspec.json.decode(frame))  # as strictly as the host does

    def next(self, *types: str) -> Message:
        """The next message of one of these types; others before it are passed over."""
        while True:
            while self._inbox:
                message = self._inbox.popleft()
                if message["t"] in types:
                    return message
            self.receive()

    def body(self, stream: int) -> bytes:
        """The whole body of a response."""
        while stream not in self.ended:
            self.receive()
        return bytes(self.bodies.get(stream, b""))

    def pulse(self) -> Message:
        """Ask the watch thread."""
        self.watch.sendall(b"?")
        line = b""
        while not line.endswith(b"\n"):
            line += self.watch.recv(4096)
        pulse: Message = msgspec.json.decode(line)
        return pulse

    def finish(self, run: int) -> Message:
        """Answer a run's calls as an engine that never fails, until it is done."""
        while True:
            message = self.next("call", "ran", "done")
            if message["t"] == "done":
                return message
            if message["t"] == "ran":
                self.send({"t": "ret", "run": run, "call": message["call"], "value": message["value"]})
            elif message["kind"] == "do":
                self.send({"t": "exec", "run": run, "call": message["call"], "attempt": 1, "config": CONFIG})
            else:
                self.send({"t": "ret", "run": run, "call": message["call"], "value": text(None)})


@contextmanager
def isolate(main: Path, **load: Any) -> Iterator[Isolate]:
    """Start an isolate and send it `load`."""
    ours, theirs = socket.socketpair()
    watch, their_watch = socket.socketpair()
    fds = (theirs.fileno(), their_watch.fileno())
    command = [sys.executable, "-I", "-S", str(PROGRAM), *map(str, fds)]
    process = subprocess.Popen(command, pass_fds=fds, env={**os.environ, "TZ": "Asia/Tokyo"})
    theirs.close()
    their_watch.close()
    ours.settimeout(20)
    watch.settimeout(20)
    running = Isolate(process, ours, watch)
    try:
        running.send(load_message(main, **load))
        yield running
    finally:
        ours.close()
        watch.close()
        process.wait(20)


def load_message(main: Path, **changes: Any) -> Message:
    """A `load` for a front isolate."""
    return {
        "t": "load",
        "role": "front",
        "main": str(main),
        "compatibility_date": "2026-11-01",
        "compatibility_flags": ["python_workers"],
        "vars": {},
        "env": {},
        "exports": {},
        "workflows": {},
        **changes,
    }


def start_message(class_name: str, run: int = 1) -> Message:
    """A `start` without a journal."""
    return {
        "t": "start",
        "run": run,
        "workflow": "flow",
        "class_name": class_name,
        "instance": "one",
        "event": {"payload": text({}), "timestamp": 0},
        "step_limit": 1_000_000,
        "journal": [],
    }
