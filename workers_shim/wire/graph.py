"""The flat list of a devalue text seen as a graph: who refers to whom."""

from __future__ import annotations

from collections.abc import Iterable

from workers_shim.wire.flatten import step_text
from workers_shim.wire.unflatten import SPARSE, Raw


def references(raw: Raw) -> Iterable[int]:
    """The indexes that one element of the flat list names."""
    if isinstance(raw, dict):
        return raw.values()
    if not isinstance(raw, list) or not raw:
        return ()
    tag = raw[0]
    if isinstance(tag, str):
        if tag in ("Set", "Map"):
            return raw[1:]
        if tag == "null":
            return raw[2::2]
        return [ref for ref in raw[1:2] if isinstance(ref, int)]
    return raw[3::2] if tag == SPARSE else raw


def find_cycle(flat: list[Raw]) -> int | None:
    """The index of a value that contains itself, if one does."""
    entered, left = bytearray(len(flat)), bytearray(len(flat))
    stack = [0]
    while stack:
        index = stack[-1]
        if entered[index]:
            stack.pop()
            left[index] = 1
            continue
        entered[index] = 1
        for ref in references(flat[index]):
            if ref < 0 or left[ref]:
                continue
            if entered[ref]:
                return ref
            stack.append(ref)
    return None


def path_to(flat: list[Raw], index: int) -> str:
    """How to get from the root to a value: ``.items[3]``. Empty for the root."""
    steps: list[str] = []
    while index > 0:
        parent = next((at for at, raw in enumerate(flat) if at != index and index in references(raw)), None)
        if parent is None:
            break
        steps.append(_step(flat[parent], index))
        index = parent
    return "".join(reversed(steps))


def _step(parent: Raw, index: int) -> str:
    if isinstance(parent, dict):
        return next(step_text(key) for key, ref in parent.items() if ref == index)
    if isinstance(parent[0], str):
        return f".<{parent[0]}>"
    return f"[{parent.index(index)}]"
