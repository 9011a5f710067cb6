"""JSON inside workerd's configuration."""

from __future__ import annotations

from typing import Any

from wrangler_compat.rendering import written


def json_text(value: Any) -> str:
    """The value as wrangler's ``JSON.stringify`` gives it to a Worker: TOML's dates as texts, endless numbers as null.

    A lone surrogate stays an escape, so that it reaches the code as the configuration has it.
    """
    return written(value)
