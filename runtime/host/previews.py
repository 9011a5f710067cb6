"""How a stream is shown where a value is shown: by the text that it begins with, if it is text."""

from __future__ import annotations

import codecs

SHOWN = 1024  # UTF-16 units
HEAD = 4 * SHOWN  # bytes that are looked at: no character takes more than four in UTF-8


def preview(head: bytes, size: int) -> str:
    """The text for a stream of this size whose first `HEAD` bytes are these; in Cloudflare's words when it is cut, and
    when it is no text."""
    cut = size > len(head)
    try:
        text = codecs.getincrementaldecoder("utf-8")().decode(head, final=not cut).removeprefix("\ufeff")
    except UnicodeDecodeError:
        return f"[ReadableStream (binary): {size} bytes]"
    units = text.encode("utf-16-le", "surrogatepass")
    if not cut and len(units) <= 2 * SHOWN:
        return text
    return units[: 2 * SHOWN].decode("utf-16-le", "surrogatepass") + "[truncated output]"
