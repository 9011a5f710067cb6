"""Bodies that are made and taken piece by piece: nobody runs ahead of the other side, and memory stays flat."""

from __future__ import annotations

import http.client
import os
import socket
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.dev import Dev, dev, eventually, isolates, write_project
from tests.e2e.conftest import Stage

MIB = 1024 * 1024
BIG = (1024 if os.environ.get("CELLD_PY_BIG") == "1" else 200) * MIB
ROOM = 32 * MIB
BETWEEN = 12 * MIB  # what the system's and our buffers hold for a client that reads nothing


def connect(server: Dev) -> socket.socket:
    """A connection whose own buffers are small."""
    address = urlsplit(server.url)
    sock = socket.socket()
    sock.settimeout(30)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 64 * 1024)
    sock.connect((address.hostname, address.port))
    return sock


def test_the_first_chunk_is_at_the_client_before_the_worker_makes_the_second(stage: Stage) -> None:
    path = stage.worker("""
    second = asyncio.Event()

    async def pull(controller):
        controller.enqueue(b"first")
        await second.wait()
        controller.enqueue(b"second")
        controller.close()

    class Default(WorkerEntrypoint):
        def fetch(self, request):
            if request.method == "POST":
                second.set()
                return Response("")
            return Response(js.ReadableStream.new({"pull": pull}))
    """)

    with stage.server.http.stream("GET", path) as answer:
        chunks = answer.iter_raw()
        assert next(chunks) == b"first"
        stage.server.post(path)
        assert b"".join(chunks) == b"second"


def test_a_worker_reads_a_body_while_the_client_still_makes_it(stage: Stage) -> None:
    path = stage.worker("""
    seen = []

    class Default(WorkerEntrypoint):
        async def fetch(self, request):
            if request.method == "GET":
                return Response.json(seen)
            async for chunk in request.body:
                seen.append(bytes(chunk).decode())
            return Response("".join(seen))
    """)

    def upload() -> Iterator[bytes]:
        yield b"first"
        stage.server.until(path, lambda seen: seen == ["first"])
        yield b"second"

    with stage.server.http.stream("POST", path, content=upload()) as answer:
        assert answer.read() == b"firstsecond"


PRODUCER = """
made = 0
ended = []

class Default(WorkerEntrypoint):
    def fetch(self, request):
        global made
        if request.method == "POST":
            return Response.json([made, ended])
        made = 0
        ended.clear()
        return Response(js.ReadableStream.new({"pull": self.pull, "cancel": lambda reason: ended.append("cancel")}))

    async def pull(self, controller):
        global made
        await asyncio.sleep(0)
        made += 1
        controller.enqueue(bytes(65536))
        if made == 1024:
            controller.close()
"""


def at_rest(server: Dev, path: str) -> int:
    """What a producer has made, once it makes no more."""
    seen = [-1]

    def look() -> bool:
        seen.append(server.json(path, "POST")[0])
        return seen[-1] > 0 and len(set(seen[-10:])) == 1 and len(seen) > 10

    eventually(look)
    return seen[-1] * 65536


def test_a_client_that_does_not_read_stops_the_producer(stage: Stage) -> None:
    path = stage.worker(PRODUCER)

    with connect(stage.server) as client:
        client.sendall(f"GET {path} HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n\r\n".encode())
        assert at_rest(stage.server, path) < BETWEEN
        answer = http.client.HTTPResponse(client)
        answer.begin()
        assert len(answer.read()) == 1024 * 65536  # and it goes on when the client does
    assert stage.server.json(path, "POST") == [1024, []]


def test_a_client_that_leaves_stops_the_producer(stage: Stage) -> None:
    path = stage.worker(PRODUCER)
    mark = len(stage.server.lines)

    with connect(stage.server) as client:
        client.sendall(f"GET {path} HTTP/1.1\r\nHost: a.test\r\n\r\n".encode())
        assert client.recv(10) == b"HTTP/1.1 2"

    eventually(lambda: stage.server.json(path, "POST")[1] == ["cancel"])
    assert stage.server.json(path, "POST")[0] < 1024
    assert stage.server.printed(f"GET {path} 499", since=mark)


def test_a_worker_that_does_not_read_stops_the_client(stage: Stage) -> None:
    path = stage.worker("""
    gate = asyncio.Event()

    class Default(WorkerEntrypoint):
        async def fetch(self, request):
            if request.method == "GET":
                gate.set()
                return Response("")
            await gate.wait()
            return Response(str(len(await request.bytes())))
    """)

    with connect(stage.server) as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 64 * 1024)
        client.sendall(f"PUT {path} HTTP/1.1\r\nHost: a.test\r\nContent-Length: {24 * MIB}\r\n\r\n".encode())
        client.settimeout(0.5)
        sent = 0
        with pytest.raises(TimeoutError):
            while sent < 24 * MIB:
                sent += client.send(bytes(65536))
        assert sent < BETWEEN
        client.settimeout(30)
        stage.server.get(path)
        client.sendall(bytes(24 * MIB - sent))
        answer = http.client.HTTPResponse(client)
        answer.begin()
        assert answer.read() == str(24 * MIB).encode()


def test_a_client_that_leaves_in_its_upload_ends_the_body_with_an_error(stage: Stage) -> None:
    path = stage.worker("""
    ended = []

    class Default(WorkerEntrypoint):
        async def fetch(self, request):
            if request.method == "GET":
                return Response.json(ended)
            try:
                await request.bytes()
            except OSError as error:
                ended.append(str(error))
            return Response("")
    """)

    with connect(stage.server) as client:
        client.sendall(f"PUT {path} HTTP/1.1\r\nHost: a.test\r\nContent-Length: 100\r\n\r\nhalf".encode())

    stage.server.until(path, lambda ended: ended == ["Network connection lost."])


def test_a_client_that_leaves_is_noticed_though_nobody_reads_what_it_sends(stage: Stage) -> None:
    path = stage.worker(PRODUCER.replace('request.method == "POST"', 'request.method == "GET"'))

    with connect(stage.server) as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 64 * 1024)
        client.sendall(f"PUT {path} HTTP/1.1\r\nHost: a.test\r\nContent-Length: {24 * MIB}\r\n\r\n".encode())
        client.settimeout(0.5)
        with pytest.raises(TimeoutError):
            while True:
                client.send(bytes(65536))

    eventually(lambda: stage.server.json(path)[1] == ["cancel"])


def test_the_stream_of_an_answer_to_head_is_not_made(stage: Stage) -> None:
    path = stage.worker("""
    made = []

    def pull(controller):
        made.append(1)
        controller.enqueue(b"endless")

    class Default(WorkerEntrypoint):
        def fetch(self, request):
            if request.method == "POST":
                return Response.json(len(made))
            return Response(js.ReadableStream.new({"pull": pull}))
    """)

    assert stage.server.http.head(path).content == b""

    made = stage.server.json(path, "POST")
    assert stage.server.json(path, "POST") == made


# ----------------------------------------------------------------------------------------------------------------- size

LARGE = """
import asyncio
import js
from workers import Response, WorkerEntrypoint

CHUNK = bytes(65536)

class Default(WorkerEntrypoint):
    async def fetch(self, request):
        if request.method == "PUT":
            size = 0
            async for chunk in request.body:
                size += len(chunk)
            return Response(str(size))
        left = int(request.headers["x-size"]) // len(CHUNK)

        def pull(controller):
            nonlocal left
            controller.enqueue(CHUNK)
            left -= 1
            if not left:
                controller.close()

        return Response(js.ReadableStream.new({"pull": pull}))
"""


def memory(server: Dev) -> int:
    """The resident memory of the host and its isolates at their highest since the last `forget_peak`, in bytes."""
    return sum(_status(pid, "VmHWM") for pid in _family(server))


def forget_peak(server: Dev) -> None:
    for pid in _family(server):
        Path(f"/proc/{pid}/clear_refs").write_text("5")


def _family(server: Dev) -> list[int]:
    assert server.process is not None
    return [server.process.pid, *isolates(server.process.pid)]


def _status(pid: int, name: str) -> int:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{name}:"))


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="peaks are read from Linux's /proc")
@pytest.mark.timeout(300)
@pytest.mark.parametrize("direction", ["response", "request"])
def test_a_large_body_passes_in_little_memory(tmp_path: Path, direction: str) -> None:
    def transfer(server: Dev, size: int) -> int:
        if direction == "request":
            content = (bytes(65536) for _ in range(size // 65536))
            return int(server.http.put("/", content=content, timeout=300).text)
        with server.http.stream("GET", "/", headers={"x-size": str(size)}) as answer:
            return sum(len(chunk) for chunk in answer.iter_raw())

    with dev(write_project(tmp_path, LARGE), "--no-watch") as server:
        transfer(server, MIB)
        forget_peak(server)
        before = memory(server)

        assert transfer(server, BIG) == BIG

        growth = memory(server) - before
        print(f"{direction} of {BIG // MIB} MiB: {growth / MIB:.1f} MiB more")
        assert growth < ROOM
