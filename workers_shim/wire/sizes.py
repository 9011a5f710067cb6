"""The size of a value in structured-clone bytes, as V8's serializer would write it.

The rule: what the user's value holds counts, what the format puts around it does not. So the serializer's header is
left out, and of a value that *is* a string or bytes only the content counts: a string of 1,048,576 one-byte characters
has exactly that size and passes a limit of 1 MiB, one character more does not. Inside containers every member counts as
V8 writes it, with its tag and length. Strings of Latin-1 count one byte a character, others two a UTF-16 unit. Big
integers are counted from their number of digits, V8's alignment bytes are ignored.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from workers_shim.wire.flatten import Flattening
from workers_shim.wire.neutral import ELEMENT_SIZES
from workers_shim.wire.unflatten import SPARSE, DevalueError, Raw, load

Weigh = Callable[[int], int]  # what a reference to a value adds

_REFERENCE = 2  # tag and number of a value met again
_CONSTANTS = [9, 9, 9, 9, 1, 1]  # devalue's -6 to -1: four doubles, hole, undefined


def clone_size(value: Any) -> int:
    """Give the size of a value; a ``str`` is taken to be devalue text, anything else a neutral value."""
    if isinstance(value, str):
        flat = load(value)
        return _CONSTANTS[flat] if isinstance(flat, int) else flat_size(flat)
    flattening = Flattening()
    root = flattening.run(value)
    return _CONSTANTS[root] if root < 0 else flat_size(flattening.flat)


def flat_size(flat: list[Raw]) -> int:
    """Give the size of the value that a flat list describes."""
    try:
        return _root_content(flat) if type(flat[0]) is not dict else _sum(flat)
    except (IndexError, TypeError) as error:
        raise DevalueError(f"a value that is not in the list is referred to: {error}") from None


def text_size(text: str) -> int:
    """Give the bytes of a string's characters."""
    if text.isascii():
        return len(text)
    try:
        return len(text.encode("latin-1"))
    except UnicodeEncodeError:
        return len(text.encode("utf-16-le", "surrogatepass"))


def _root_content(flat: list[Raw]) -> int:
    root = flat[0]
    if isinstance(root, str):
        return text_size(root)
    if isinstance(root, list) and root and isinstance(root[0], str):
        if root[0] == "ArrayBuffer":
            return _base64_size(root[1])
        if root[0] == "ReadableStream":
            return 0  # its bytes have a limit of their own
        if root[0] in ELEMENT_SIZES and isinstance(root[1], int):
            return _base64_size(flat[root[1]][1])
    return _sum(flat)


def _sum(flat: list[Raw]) -> int:
    """Add up the containers, each once, and what their members weigh where they stand."""
    weights: list[int] = []
    containers: list[Raw] = []
    for raw in flat:
        kind = type(raw)
        if kind is str:
            size = len(raw) if raw.isascii() else text_size(raw)
            weights.append(size + (2 if size < 128 else 1 + _varint(size)))
        elif kind is dict or kind is list:
            containers.append(raw)
            weights.append(_REFERENCE)
        else:
            weights.append(2 if kind is int and -64 < raw < 64 else _scalar(raw))
    if not containers:
        return weights[0]
    weights += _CONSTANTS  # at the end, so that negative references find theirs
    weigh = weights.__getitem__
    total = -_REFERENCE * (len(containers) - 1)  # the first mention of a container is the container itself
    for raw in containers:
        if type(raw) is dict:
            total += 2 + (1 if len(raw) < 128 else _varint(len(raw))) + sum(map(weigh, raw.values())) + _keys(raw)
        else:
            total += _array(raw, weigh)
    return total


def _keys(raw: dict[str, int]) -> int:
    joined = "".join(raw)
    if joined.isascii() and len(joined) < 128:
        return len(joined) + 2 * len(raw)
    return sum(1 + _varint(size) + size for size in map(text_size, raw))


def _array(raw: list[Raw], weigh: Weigh) -> int:
    tag = raw[0] if raw else None
    if isinstance(tag, str):
        return _tagged(tag, raw, weigh)
    if tag == SPARSE:
        members = sum(map(weigh, raw[3::2])) + sum(map(_scalar, raw[2::2]))
        return 2 + 2 * _varint(raw[1]) + _varint(len(raw) // 2 - 1) + members
    return 3 + 2 * _varint(len(raw)) + sum(map(weigh, raw))


def _tagged(tag: str, raw: list[Raw], weigh: Weigh) -> int:
    if tag in ("Set", "Map"):
        return 2 + _varint(len(raw) - 1) + sum(map(weigh, raw[1:]))
    if tag == "null":
        fields = dict(zip(raw[1::2], raw[2::2], strict=True))
        return 2 + _varint(len(fields)) + sum(map(weigh, fields.values())) + _keys(fields)
    if tag == "ArrayBuffer":
        size = _base64_size(raw[1])
        return 1 + _varint(size) + size
    if tag == "Date":
        return 9
    if tag == "BigInt":
        digits: int = math.ceil(len(raw[1].lstrip("-")) * math.log2(10) / 64)
        return 1 + _varint(16 * digits) + 8 * digits
    if tag in ELEMENT_SIZES:
        return 3 + sum(map(_varint, raw[2:] or (0, 0))) + weigh(raw[1])
    if isinstance(raw[1], str):
        size = text_size(raw[1])
        return 3 + _varint(size) + size  # RegExp: two tags, and the flags as a number
    return 1 + weigh(raw[1])


def _scalar(raw: Raw) -> int:
    if raw is None or isinstance(raw, bool):
        return 1
    if isinstance(raw, int) and -(2**31) <= raw < 2**31:
        return 1 + _varint(2 * abs(raw))
    return 9


def _varint(value: int) -> int:
    return max(1, (value.bit_length() + 6) // 7)


def _base64_size(text: str) -> int:
    return len(text.rstrip("=")) * 3 // 4
