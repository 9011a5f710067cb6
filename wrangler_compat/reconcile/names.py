"""The names of workflows that code does not name."""

from __future__ import annotations

import re

_EDGE = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|_+")


def kebab(class_name: str) -> str:
    """``OrderPipe`` as ``order-pipe``, ``HTTPSync`` as ``http-sync``."""
    return "-".join(word for word in _EDGE.split(class_name) if word).lower()
