"""The packets that esbuild's service speaks: length, number, and one value.

The form is that of esbuild 0.28 (cmd/esbuild/stdio_protocol.go); it is little-endian and carries no field names other
than those in maps.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any

Value = Any  # None, bool, int, str, bytes, or a list or map of these

_LENGTH = struct.Struct("<I")
_NULL, _BOOL, _NUMBER, _TEXT, _BYTES, _LIST, _MAP = range(7)


@dataclass(frozen=True, slots=True)
class Packet:
    """One message. An answer has the number of its request; each side counts its own requests."""

    number: int
    is_request: bool
    value: Value


def encode_packet(packet: Packet) -> bytes:
    """A packet with its length before it."""
    parts = [_LENGTH.pack(packet.number << 1 | (not packet.is_request))]
    _encode(packet.value, parts)
    body = b"".join(parts)
    return _LENGTH.pack(len(body)) + body


def decode_packet(body: bytes) -> Packet:
    """A packet from what stands behind its length."""
    (head,) = _LENGTH.unpack_from(body)
    value, end = _decode(body, _LENGTH.size)
    assert end == len(body), "a packet of esbuild's ends where its value ends"
    return Packet(head >> 1, not head & 1, value)


def _encode(value: Value, parts: list[bytes]) -> None:
    match value:
        case None:
            parts.append(bytes([_NULL]))
        case bool():
            parts.append(bytes([_BOOL, value]))
        case int():
            parts += [bytes([_NUMBER]), _LENGTH.pack(value & 0xFFFFFFFF)]
        case str():
            parts += [bytes([_TEXT]), _with_length(value.encode())]
        case bytes():
            parts += [bytes([_BYTES]), _with_length(value)]
        case list():
            parts += [bytes([_LIST]), _LENGTH.pack(len(value))]
            for item in value:
                _encode(item, parts)
        case dict():
            parts += [bytes([_MAP]), _LENGTH.pack(len(value))]
            for key, item in value.items():
                parts.append(_with_length(key.encode()))
                _encode(item, parts)
        case _:
            raise TypeError(f"esbuild knows no {type(value).__name__}")


def _with_length(data: bytes) -> bytes:
    return _LENGTH.pack(len(data)) + data


def _decode(body: bytes, at: int) -> tuple[Value, int]:
    kind, at = body[at], at + 1
    if kind == _NULL:
        return None, at
    if kind == _BOOL:
        return bool(body[at]), at + 1
    if kind == _NUMBER:
        return _LENGTH.unpack_from(body, at)[0], at + _LENGTH.size
    if kind in (_TEXT, _BYTES):
        data, at = _decode_bytes(body, at)
        return (data.decode(errors="replace") if kind == _TEXT else data), at
    return _decode_many(kind, body, at)


def _decode_many(kind: int, body: bytes, at: int) -> tuple[Value, int]:
    assert kind in (_LIST, _MAP), f"esbuild sent a value of kind {kind}"
    (count,) = _LENGTH.unpack_from(body, at)
    at += _LENGTH.size
    items: list[Value] = []
    named: dict[str, Value] = {}
    for _ in range(count):
        if kind == _MAP:
            key, at = _decode_bytes(body, at)
            named[key.decode()], at = _decode(body, at)
        else:
            item, at = _decode(body, at)
            items.append(item)
    return (named if kind == _MAP else items), at


def _decode_bytes(body: bytes, at: int) -> tuple[bytes, int]:
    (length,) = _LENGTH.unpack_from(body, at)
    start = at + _LENGTH.size
    return body[start : start + length], start + length
