"""What is not HTTP, or too much of it, gets a refusal or a closed connection, and the next client is served."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest

from tests.e2e.conftest import Stage

WORKER = """
class Default(WorkerEntrypoint):
    async def fetch(self, request):
        return Response(f"{request.url} {len(await request.bytes())}")
"""


@pytest.fixture
def path(stage: Stage) -> Iterator[str]:
    """The path of a Worker that has to be served after the test too."""
    path, mark = stage.worker(WORKER), len(stage.server.lines)
    yield path
    assert stage.server.get(path).status_code == 200
    assert not any("Traceback" in line for line in stage.server.lines[mark:])


def exchange(stage: Stage, *pieces: bytes, more: bool = False) -> bytes:
    """Everything that the server says until it closes the connection; without ``more`` we have closed it before."""
    address = urlsplit(stage.server.url)
    answer = b""
    with socket.create_connection((address.hostname, address.port), timeout=20) as sock:
        try:
            for piece in pieces:
                sock.sendall(piece)
            if not more:
                sock.shutdown(socket.SHUT_WR)
            while data := sock.recv(65536):
                answer += data
        except ConnectionError:
            pass  # it closed while we spoke
    return answer


def refused(answer: bytes) -> bool:
    return not answer or answer.startswith(b"HTTP/1.1 4")


@pytest.mark.parametrize(
    "request_line",
    [
        b"GET",
        b"GET /\r\n",
        b"GET HTTP/1.1\r\nHost: a\r\n\r\n",
        b"GET / HTTP/9.9\r\nHost: a\r\n\r\n",
        b"BREW / HTTP/1.1\r\nHost: a\r\n\r\n",
        b"GET / FTP/1.1\r\nHost: a\r\n\r\n",
        b"GET /\xff\xfe HTTP/1.1\r\nHost: a\r\n\r\n",
        b"GET /\x00 HTTP/1.1\r\nHost: a\r\n\r\n",
        b"CONNECT a.test:443 HTTP/1.1\r\nHost: a\r\n\r\n",
        b"OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",  # a TLS greeting
        b"\x00" * 5000,
    ],
)
def test_a_request_line_that_is_none(stage: Stage, path: str, request_line: bytes) -> None:
    assert refused(exchange(stage, request_line))


@pytest.mark.parametrize(
    "header",
    [
        b"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n",
        b"Content-Length: 3\r\nContent-Length: 4\r\n",
        b"Content-Length: -3\r\n",
        b"Content-Length: 3x\r\n",
        b"Transfer-Encoding: chunked, identity\r\n",
        b"X Y: 1\r\n",
        b"X: a\x00b\r\n",
        b": no name\r\n",
        b"Host: b\r\n",
    ],
)
def test_headers_that_mean_nothing_or_two_things(stage: Stage, path: str, header: bytes) -> None:
    assert refused(exchange(stage, b"POST %s HTTP/1.1\r\nHost: a\r\n%s\r\nabc" % (path.encode(), header)))


@pytest.mark.parametrize("host", [b"a b", b"a/b", b"a:99999", b"a:port", b"user@a", b"[::1", b"a%00"])
def test_a_host_that_is_none(stage: Stage, path: str, host: bytes) -> None:
    answer = exchange(
        stage, b"GET %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n" % (path.encode(), host), more=True
    )

    assert answer.startswith(b"HTTP/1.1 400 ")


@pytest.mark.parametrize("body", [b"x\r\nabc\r\n0\r\n\r\n", b"3\r\nabcdef\r\n", b"-1\r\n", b"fffffffffffffffff\r\nabc"])
def test_chunks_that_are_none(stage: Stage, path: str, body: bytes) -> None:
    head = b"POST %s HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n" % path.encode()

    assert refused(exchange(stage, head, body))


@pytest.mark.parametrize("line", [b"X: %s\r\n" % (b"x" * 1000), b"x" * 1000], ids=["many", "one"])
def test_a_head_without_end_is_refused(stage: Stage, path: str, line: bytes) -> None:
    answer = exchange(stage, b"GET %s HTTP/1.1\r\nHost: a\r\nX: " % path.encode(), *(line for _ in range(20_000)))

    assert not answer or answer.startswith(b"HTTP/1.1 431 ")


def test_an_address_without_end_is_refused(stage: Stage, path: str) -> None:
    answer = exchange(stage, b"GET /", *(b"x" * 1000 for _ in range(20_000)))

    assert not answer or answer.startswith(b"HTTP/1.1 431 ")


def test_a_body_that_stays_out_holds_nobody_up(stage: Stage, path: str) -> None:
    address = urlsplit(stage.server.url)
    with socket.create_connection((address.hostname, address.port), timeout=20) as sock:
        sock.sendall(b"POST %s HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nhalf" % path.encode())

        assert stage.server.get(path).status_code == 200


def test_requests_one_behind_the_other_are_answered_in_order(stage: Stage, path: str) -> None:
    one = b"POST %s?1 HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc" % path.encode()
    two = b"GET %s?2 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n" % path.encode()

    answer = exchange(stage, one + two, more=True)

    assert answer.count(b"HTTP/1.1 200 OK") == 2
    assert answer.index(b"?1 3") < answer.index(b"?2 0")


def test_trailers_do_not_become_headers(stage: Stage) -> None:
    path = stage.worker("""
    class Default(WorkerEntrypoint):
        async def fetch(self, request):
            await request.bytes()
            return Response(str(request.js_object.headers.get("x-late")))
    """)
    head = b"POST %s HTTP/1.1\r\nHost: a\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n" % path.encode()

    answer = exchange(stage, head, b"3\r\nabc\r\n0\r\nX-Late: yes\r\n\r\n", more=True)

    assert answer.startswith(b"HTTP/1.1 200 OK")
    assert b"yes" not in answer


def test_a_wish_for_a_websocket_is_a_plain_request(stage: Stage, path: str) -> None:
    wish = {"connection": "Upgrade", "upgrade": "websocket", "sec-websocket-version": "13", "sec-websocket-key": "a2V5"}

    assert stage.server.get(path, headers=wish).status_code == 200
