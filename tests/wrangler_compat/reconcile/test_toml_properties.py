"""Whatever a wrangler.toml looks like: every comment and every foreign table stays, and the data is what was meant."""

from __future__ import annotations

import json
import tempfile
import tomllib
from pathlib import Path
from random import Random
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.wrangler_compat.reconcile.case import project, workflow
from tests.wrangler_compat.reconcile.test_properties import SETTINGS, filled, same_meaning
from wrangler_compat.edits.toml_text import toml_value
from wrangler_compat.reconcile import reconcile


class Writer:
    """Writes tables with numbered comments above, behind and between their lines."""

    def __init__(self, random: Random, newline: str) -> None:
        self.random = random
        self.newline = newline
        self.comments: list[str] = []

    def comment(self) -> str:
        self.comments.append(f"# c{len(self.comments)}; [x] = 'é'")
        return self.comments[-1]

    def line(self, text: str) -> str:
        """One line, perhaps with comments above it and behind it."""
        above = "".join(self.comment() + self.newline for _ in range(self.random.choice((0, 0, 1, 2))))
        behind = f" {self.comment()}" if self.random.random() < 0.3 else ""
        blank = self.newline * self.random.choice((0, 0, 1))
        return f"{blank}{above}{text}{behind}{self.newline}"

    def table(self, header: str, name: str, entry: dict[str, Any]) -> str:
        """A table; of its own tables some are written as such, some inline, some dotted."""
        text, below = self.line(header), ""
        for key, value in entry.items():
            form = self.random.choice(("inline", "table", "dotted")) if isinstance(value, dict) else "inline"
            if form == "table":
                below += self.line(f"[{name}.{key}]")
                below += "".join(self.line(f"{part} = {toml_value(item)}") for part, item in value.items())
            elif form == "dotted":
                text += "".join(self.line(f"{key}.{part} = {toml_value(item)}") for part, item in value.items())
            else:
                text += self.line(f"{key} = {toml_value(value)}")
        return text + below


@given(
    seed=st.integers(0, 2**32),
    declared=st.lists(SETTINGS, min_size=3, max_size=3),
    own=st.lists(SETTINGS, min_size=3, max_size=3),
)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_tables_are_reconciled_and_nothing_is_lost(
    seed: int, declared: list[dict[str, Any]], own: list[dict[str, Any]]
) -> None:
    random = Random(seed)
    writer = Writer(random, random.choice(["\n", "\r\n"]))
    code, expected, blocks = "", {}, []
    for name, wanted, present in zip(("Alpha", "Beta", "Gamma"), declared, own, strict=True):
        code += workflow(name, *(f"{key} = {value!r}" for key, value in wanted.items()))
        export = {"type": "workflow", "name": name.lower()}
        binding = {"name": name.lower(), "binding": f"B_{name}", "class_name": name, **present}
        state = random.choice(("absent", "bound", "exported"))
        if state == "bound":
            blocks.append(writer.table("[[workflows]]", "workflows", binding))
        elif state == "exported":
            blocks.append(writer.table(f"[exports.{name}]", f"exports.{name}", {**export, **present}))
        expected[name] = filled({**export, **(present if state != "absent" else {})}, wanted)
    entry = {"name": "x", "binding": "X", "class_name": "Alpha", "script_name": "other"}
    foreign = writer.table("[[workflows]]", "workflows", entry)
    blocks.append(foreign)
    random.shuffle(blocks)
    text = writer.line('main = "entry.py"') + "".join(blocks)

    with tempfile.TemporaryDirectory() as folder:
        found = reconcile(project(Path(folder), text, code, "wrangler.toml"), None, {})
        assert not found.refused, found.findings
        again = reconcile(project(Path(folder), found.result, code, "wrangler.toml"), None, {})

    data = tomllib.loads(found.result)
    assert same_meaning(data.pop("exports"), expected)
    assert data == {"main": "entry.py", "workflows": [entry]}
    assert foreign.strip() in found.result
    assert [comment for comment in writer.comments if found.result.count(comment) != 1] == []
    assert again.splices == (), json.dumps(expected)
