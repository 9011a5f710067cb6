"""JSON inside workerd's configuration."""

from __future__ import annotations

import json
from typing import Any


def json_text(value: Any) -> str:
    """The value in ASCII, so that a lone surrogate reaches the code as the configuration has it."""
    return json.dumps(value, separators=(",", ":"))
