from __future__ import annotations

import ast

from wrangler_compat.projection import entry_text


def test_the_entry_is_the_fallback_and_what_applies_it_to_the_main_module() -> None:
    text = entry_text("FALLBACK = 1\n", "worker.py", {"Order": "ORDER", "Ünï": 'odd "name"'})

    ast.parse(text)
    assert text.startswith("FALLBACK = 1\n")
    assert text.endswith("""
import worker as _main  # noqa: E402

# How env calls the Workflow of each exported class.
adopt(
    vars(_main),
    {
        'Order': 'ORDER',
        '\\xdcn\\xef': 'odd "name"',
    },
)

from worker import *  # noqa: E402, F403
""")
