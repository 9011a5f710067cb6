"""docs/targets.md: what each target has, and where its limits are, from the table of rules."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

from runtime.engine.durations import DAY, HOUR, MINUTE, SECOND
from runtime.engine.failures import outside_await
from runtime.engine.rules import CELLD, CLOUDFLARE, Rules
from runtime.host.target_check import refused_keys
from tests.targets.limits import DEFAULTS, LIMITS, Limit

PAGE = Path(__file__).parent.parent.parent / "docs" / "targets.md"
UNITS = ((365 * DAY + DAY // 4, "year"), (DAY, "day"), (HOUR, "hour"), (MINUTE, "minute"), (SECOND, "second"))

INTRODUCTION = """\
# Targets

A project is run for the target that it will be deployed to: `celld-py dev --target cloudflare`, the default, or
`--target celld`. A target is a table of data, [`runtime/engine/rules.py`](../runtime/engine/rules.py); this page is
written from it by `make docs`.

"""

# What a field of the table means to a user; a field that differs between targets must stand here.
MEANINGS = {
    "max_outside_await": "the longest that a single `await` outside a step may take; then the run fails with "
    "`{outside}`, within about a second",
    "rollback": "rollback functions of steps",
    "streams": "a `ReadableStream` as a step's result",
    "schedules": "`schedules` of a workflow",
    "retention_config": "`retention` of `create`, and `default_retention`; without it, instances are kept {retention}",
    "limits_config": "`limits` of a workflow",
    "concurrency_config": "`concurrency` of a workflow; without it, a warning is shown and instances are not held back",
    "script_name": "bindings to a workflow of another Worker (`script_name`)",
    "workflow_exports": "workflows on `ctx.exports`; without them, each is on `env` under its class name (or under its "
    "binding's), and the [generated entry](deploy.md) looks there when code asks `ctx.exports`",
}

SILENT = """\
celld's documentation says nothing of these, so this target keeps Cloudflare's:

* statuses, and texts of errors: they are Cloudflare's to the letter; the text of an await that takes too long is ours
* lengths and patterns of ids, step names and event types; sizes of params and payloads; the longest sleep and wait
* how many steps an instance may have: celld has a cap of its own, whose number it does not name
* what `status` says while an instance waits

celld's page also has no `subscribe`, no restart from a step, no `delete` of an instance, no per-item errors of
`createBatch`, no `sensitive` and no `default_retention`. This target lets the methods of that list work, as on
Cloudflare: a program that uses them will fail on celld.
"""

CONCURRENCY = """\
## concurrency.limit

At most so many instances of a workflow run at once. The others are `queued`, oldest first; their rows and their
journals are on disk, and nothing of them is in memory.

* An instance that sleeps, waits for an event or for a retry is `waiting` and holds no slot: with a limit it leaves
  memory at once. One that is paused or has ended holds none either. One that rolls back holds its slot until it ends.
* An instance that has begun and wants to go on (its sleep is over, its event has come, it was resumed) is `queued`
  again until it gets a slot, and goes before those that have not begun.
* After a restart of the server, also after `kill -9`, those that had begun go first, then the others, oldest first.
* A restarted instance stands in line like a new one.

Without a limit, 256 instances run at once: the machine's bound and not Cloudflare's, which `status` does not show.
"""


def page() -> str:
    """The text of docs/targets.md."""
    parts = [
        INTRODUCTION,
        "## What `--target celld` changes\n\n",
        _table(("what", "cloudflare", "celld"), _changes()),
        f"\nThe configuration may not hold {_listed(refused_keys(CELLD))} then: `dev` ends at once with exit code 2,\n",
        "and names file, key and what to do.\n\n",
        f"{SILENT}\n{CONCURRENCY}\n## Limits\n\nThe same on both targets, unless the table above says otherwise.\n\n",
        _table(("what", "limit", "beyond it", "source"), map(_limit, LIMITS)),
        "\n## Defaults\n\n",
        _table(("what", "default", "source"), ((each.what, _amount(each), each.source) for each in DEFAULTS)),
    ]
    return "".join(parts)


def _changes() -> Iterator[tuple[str, str, str]]:
    for name in changed(CELLD):
        celld = getattr(CELLD, name)
        words = MEANINGS[name].format(
            retention=_shown(CELLD.max_retention, "ms"),
            outside=outside_await(CELLD.max_outside_await or 0, "FILE:LINE in FUNCTION").message,
        )
        yield words, _shown(getattr(CLOUDFLARE, name), "ms"), _shown(celld, "ms")


def changed(rules: Rules) -> list[str]:
    """The fields in which a target differs from Cloudflare."""
    names = (field.name for field in fields(Rules))
    return [n for n in names if n != "target" and getattr(rules, n) != getattr(CLOUDFLARE, n)]


def _limit(limit: Limit) -> tuple[str, ...]:
    return limit.what, _amount(limit), "; ".join(limit.beyond), limit.source


def _amount(limit: Limit) -> str:
    value = _shown(limit.amount or getattr(CLOUDFLARE, limit.field), limit.unit)
    return value if limit.unit in ("", "ms") else f"{value} {limit.unit}"


def _shown(value: Any, unit: str) -> str:
    """A value as people write it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value is None:
        return "no limit"
    if not isinstance(value, int):
        return str(value)
    for size, word in UNITS if unit == "ms" else ():
        if value % size == 0:
            return f"{value // size} {word}{'' if value == size else 's'}"
    return f"{value:,}"


def _listed(keys: list[str]) -> str:
    quoted = [f"`{key}`" for key in keys]
    return f"{', '.join(quoted[:-1])} or {quoted[-1]}"


def _table(heads: tuple[str, ...], rows: Iterable[Iterable[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "".join(f"| {' | '.join(cell.replace('|', '&#124;') for cell in line)} |\n" for line in lines)
