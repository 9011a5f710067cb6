"""The devalue text format (npm package ``devalue`` 6), in which values cross the wire and are stored.

A value is a JSON array: its first element is the root, containers name their members by index, negative numbers stand
for what JSON lacks (-1 undefined, -2 hole, -3 NaN, -4 and -5 the infinities, -6 negative zero), arrays that start with
a string are tagged values (``["Date", "1970-01-01T00:00:00.000Z"]``), and four custom tags are ours: ``["Error", i]``
with an object of name, message and, where there is one, stack; ``["ReadableStream", i]`` with one of step, attempt,
size and preview, which names a stream that the host has stored; and ``["Headers", text]`` and ``["Blob", text]``, of
JavaScript Workers, with JSON pairs and a data: URL. Texts are ASCII; lone surrogates are escaped in them.
"""

from __future__ import annotations

from typing import Any

from workers_shim.wire.flatten import stringify
from workers_shim.wire.json_view import to_json
from workers_shim.wire.sizes import clone_size
from workers_shim.wire.unflatten import DevalueError, NeutralModel, unflatten

__all__ = ["DevalueError", "clone_size", "parse", "stringify", "to_json"]

_NEUTRAL = NeutralModel()


def parse(text: str) -> Any:
    """Read a devalue text into the neutral model (`neutral.py`)."""
    return unflatten(text, _NEUTRAL)
