"""The table of messages: one row per configuration, with all that is to be said about it.

A row is data, so that the same configuration can be given to the real wrangler. ``compared`` names the version of
wrangler whose verdict the row was last compared with, null when it never was.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
BASE: dict[str, Any] = {"name": "shop", "main": "entry.js", "compatibility_date": "2026-01-01"}

CODE = """import { WorkflowEntrypoint } from "cloudflare:workers";
export class C extends WorkflowEntrypoint {}
export class D extends WorkflowEntrypoint {}
export default { fetch() { return new Response("here"); } };
"""


@dataclass(frozen=True)
class Message:
    """One expected message. ``at`` is the path of the value at which it stands; ``phase`` says who finds it."""

    level: str
    text: str
    at: tuple[str | int, ...]
    phase: str

    @property
    def environment(self) -> str | None:
        """The environment block under which wrangler nests it."""
        return str(self.at[1]) if len(self.at) > 1 and self.at[0] == "env" else None


@dataclass(frozen=True)
class Row:
    """One configuration with its messages."""

    group: str
    case: str
    config: dict[str, Any]
    env: str | None
    says: tuple[Message, ...]
    compared: str | None
    wrangler: dict[str, str | None]  # by phase, what wrangler says later than when it reads: null is nothing

    @property
    def data(self) -> dict[str, Any]:
        """The whole configuration."""
        return {**BASE, **self.config}

    def said_at(self, phase: str) -> list[Message]:
        """The messages of one phase."""
        return [message for message in self.says if message.phase == phase]

    def write(self, folder: Path, suffix: str = ".json") -> Path:
        """The configuration as a project in a folder."""
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "entry.js").write_text(CODE)
        (folder / "entry.py").touch()
        path = folder / f"wrangler{suffix}"
        path.write_text(as_toml(self.data) if suffix == ".toml" else as_json(self.data), encoding="utf-8")
        return path


def all_rows() -> list[Row]:
    """Every row of every file."""
    return [_row(path.stem, raw) for path in sorted(HERE.glob("*.json")) for raw in json.loads(path.read_text())]


def _row(group: str, raw: dict[str, Any]) -> Row:
    says = tuple(Message(each["level"], each["text"], tuple(each["at"]), each["phase"]) for each in raw["says"])
    return Row(group, raw["case"], raw["config"], raw.get("env"), says, raw["compared"], raw.get("wrangler", {}))


def as_json(data: Any) -> str:
    """The configuration as a JSON text."""
    return json.dumps(data, indent=2, ensure_ascii=False) + "\n"


def as_toml(data: dict[str, Any]) -> str:
    """The configuration as a TOML text with tables, and arrays of tables; `ValueError` when it holds a null."""
    plain = {key: value for key, value in data.items() if not isinstance(value, dict) and not _is_tables(value)}
    lines = [f"{_key(key)} = {toml_value(value)}" for key, value in plain.items()]
    for key, value in data.items():
        if key not in plain:
            header = f"[{_key(key)}]" if isinstance(value, dict) else f"[[{_key(key)}]]"
            for table in [value] if isinstance(value, dict) else value:
                lines += ["", header, *(f"{_key(name)} = {toml_value(item)}" for name, item in table.items())]
    return "\n".join(lines) + "\n"


def toml_value(value: Any) -> str:
    """One value, tables inline."""
    match value:
        case None:
            raise ValueError("TOML has no null")
        case dict():
            return "{ " + ", ".join(f"{_key(key)} = {toml_value(item)}" for key, item in value.items()) + " }"
        case list():
            return "[" + ", ".join(map(toml_value, value)) + "]"
        case float() if math.isfinite(value):
            return repr(value) if "e" not in repr(value) else repr(value).replace("e+", "e")
        case _:
            return json.dumps(value, ensure_ascii=False)


def _is_tables(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(item, dict) for item in value)


def _key(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else json.dumps(key, ensure_ascii=False)
