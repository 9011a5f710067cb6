"""The JSON-shaped view of a value: what ``status().output`` shows."""

from __future__ import annotations

from typing import Any

from workers_shim.wire.graph import find_cycle
from workers_shim.wire.neutral import UNDEFINED, ArrayBuffer, ErrorValue, ReadableStream, View
from workers_shim.wire.unflatten import DevalueError, Made, NeutralModel, Raw, load, pairs, unflatten


def to_json(text: str) -> Any:
    """Give what ``JSON.stringify`` keeps of a devalue text's value, with Cloudflare's texts for big integers and bytes.

    A value that contains itself has no such view: `DevalueError`. Shared values are shared in the result.
    """
    flat = load(text)
    value = unflatten(text, _MODEL)
    if isinstance(flat, list) and find_cycle(flat) is not None:
        raise DevalueError("a value that contains itself has no JSON")
    return None if value is UNDEFINED else value


class _JsonModel(NeutralModel):
    constants: Made = {-1: UNDEFINED, -2: None, -3: None, -4: None, -5: None, -6: 0}  # noqa: RUF012

    def date(self, text: str) -> Any:
        super().date(text)  # refuses what is no date
        return text or None

    def bigint(self, text: str) -> Any:
        return f"[BigInt({text})]"

    def regexp(self, source: str, flags: str) -> Any:
        return {}

    def text(self, kind: str, text: str) -> Any:
        return {} if kind in _WITHOUT_JSON else text  # all others have a toJSON()

    def view(self, view: View) -> Any:
        return {} if view.kind == "DataView" else f"[{view.kind}({len(view.data)} bytes)]"

    def buffer(self, buffer: ArrayBuffer) -> Any:
        return f"[ArrayBuffer({len(buffer.data)} bytes)]"

    def boxed(self, value: Any) -> Any:
        return value

    def error(self, error: ErrorValue) -> Any:
        return {}

    def stream(self, stream: ReadableStream) -> Any:
        return stream.preview

    def null_object(self) -> Any:
        return {}

    def set(self) -> Any:
        return {}

    def map(self) -> Any:
        return {}

    def sparse(self, length: int) -> Any:
        return [None] * length if length <= _MAX_SPARSE else []

    def fill_object(self, made: Made, shell: Any, raw: dict[str, int]) -> None:
        for key, ref in raw.items():
            value = made[ref]
            if value is not UNDEFINED:
                shell[key] = value

    def fill_array(self, made: Made, shell: Any, raw: list[int]) -> None:
        shell += (None if (value := made[ref]) is UNDEFINED else value for ref in raw)

    def fill_set(self, made: Made, shell: Any, raw: list[Raw]) -> None:
        return None  # JSON has no members of a Set or a Map

    fill_map = fill_set

    def fill_sparse(self, made: Made, shell: Any, raw: list[Raw]) -> None:
        for slot, ref in pairs(raw, 2):
            if slot >= len(shell):
                raise DevalueError(f"a sparse array with slot {slot} is too long to show")
            shell[slot] = None if made[ref] is UNDEFINED else made[ref]


_WITHOUT_JSON = ("Blob", "Headers", "URLSearchParams")
_MAX_SPARSE = 1 << 20  # a text of 20 characters can name an array of four billion slots
_MODEL = _JsonModel()
