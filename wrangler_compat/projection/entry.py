"""The entry that is generated beside the main module, where something is exported."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePosixPath

ENTRY = "celld_entry.py"

_TAIL = """

# ------------------------------------------------------------------ made by `celld-py deploy` from "main" and "exports"

import {module} as _main  # noqa: E402

# How env calls the Workflow of each exported class.
adopt(
    vars(_main),
    {{
{on_env}
    }},
)

from {module} import *  # noqa: E402, F403
"""


def entry_text(fallback: str, main: str, on_env: Mapping[str, str]) -> str:
    """The entry for a main module: the text of the fallback, and what applies it.

    ``fallback`` is the source of `workers_shim.exports_fallback`, which `celld-py dev --target celld` runs as well.
    """
    lines = [f"        {class_name!a}: {binding!a}," for class_name, binding in on_env.items()]
    return fallback + _TAIL.format(module=PurePosixPath(main).stem, on_env="\n".join(lines))
