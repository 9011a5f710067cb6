"""The listening sockets."""

from __future__ import annotations

import contextlib
import errno
import socket

from .errors import CelldError

BACKLOG = 2048
LOOPBACK = {"127.0.0.1": "::1", "localhost": "::1"}


def listen(ip: str, port: int) -> list[socket.socket]:
    """Bind the address; for the IPv4 loopback the IPv6 one too, since ``localhost`` may mean either."""
    try:
        first = _bound(ip, port)
    except (OSError, OverflowError) as error:
        raise _cannot_listen(ip, port, error) from error
    sockets = [first]
    twin = LOOPBACK.get(ip)
    if twin is not None:
        # No IPv6 on this machine, or the port is taken there by another server: IPv4 serves alone.
        with contextlib.suppress(OSError):
            sockets.append(_bound(twin, first.getsockname()[1]))
    return sockets


def _bound(ip: str, port: int) -> socket.socket:
    family, _, _, _, address = socket.getaddrinfo(ip, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
    sock = socket.socket(family, socket.SOCK_STREAM)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        sock.bind(address)
        sock.listen(BACKLOG)
        sock.setblocking(False)
    except BaseException:
        sock.close()
        raise
    return sock


def _cannot_listen(ip: str, port: int, error: Exception) -> CelldError:
    number = getattr(error, "errno", None)
    if number == errno.EADDRINUSE:
        return CelldError(
            f"Port {port} of {ip} is taken by another program.",
            hint=f"Stop it, or choose another port: --port {port + 1} (0 takes any that is free).",
            code="port_taken",
        )
    if number == errno.EACCES:
        return CelldError(
            f"This user may not listen on port {port}.", hint="Choose one above 1023.", code="port_denied"
        )
    return CelldError(f"Cannot listen on {ip}:{port}: {error}.", hint="Check --ip and --port.", code="cannot_listen")
