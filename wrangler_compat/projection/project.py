"""Projects a configuration onto what celld takes: ``workflows[]`` with three keys, and no workflow exports.

The rules have the numbers that the tests and the remarks show:

    P1  an export becomes a binding that is named after its class
    P2-P5  schedules, limits, default_retention, concurrency, jurisdiction are dropped (`dropping`)
    P6  of a binding that is there already, three keys stay
    P7  a binding to a workflow of another Worker cannot be deployed; P8  one that names its own Worker can
    P9  an export that has a binding gets no second one: the generated entry knows the binding's name
    P10  two bindings of one name, and P11  a class name that no class can have, are refused
    P12  exports of other types pass through
    P13  the environment is flattened first, and the result has none
    P14  there must be a main module, inside the project
    P15  the result is strict JSON, in an order of its own
    P16  the way back is in `back`
"""

from __future__ import annotations

import keyword
import os
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any

from wrangler_compat.code import Code
from wrangler_compat.diagnostics import KeyPath, dotted
from wrangler_compat.environments import Resolved
from wrangler_compat.projection.dropping import KEPT, dropped
from wrangler_compat.projection.entry import ENTRY
from wrangler_compat.projection.projected import Level, Projection, Remark, Row, strict_json
from wrangler_compat.rendering import keys
from wrangler_compat.unserved import binding_names

_FIRST = ("name", "main", "compatibility_date", "compatibility_flags", "vars", "workflows", "exports")
# Said to editors, or by wrangler to itself; nothing of the Worker.
_LEFT_OUT = {"$schema", "configPath", "definedEnvironments", "targetEnvironment", "topLevelName", "userConfigPath"}


def project(resolved: Resolved, code: Code | None = None, *, allow_drop: bool = False) -> Projection:
    """The configuration of one environment (P13), checked by wrangler's rules before, as celld takes it.

    ``code`` is what is known of the Worker's text. ``allow_drop`` accepts the loss of what makes a promise.
    """
    return _Work(resolved, code, allow_drop).projection()


class _Work:
    """One projection while it is made."""

    def __init__(self, resolved: Resolved, code: Code | None, allow_drop: bool) -> None:
        self._resolved = resolved
        self._data = resolved.data
        self._code = code
        self._allow_drop = allow_drop
        self._entries: list[dict[str, str]] = []
        self._rows: list[Row] = []
        self._remarks: list[Remark] = []
        self._on_env: dict[str, str] = {}

    def projection(self) -> Projection:
        """Apply the rules, the bindings first."""
        self._inherited()
        for index, entry in enumerate(self._list("workflows")):
            self._binding(entry, (*self._resolved.path_of("workflows"), index))
        exports = self._map("exports")
        others = {name: exports[name] for name in keys(exports) if exports[name].get("type") != "workflow"}
        for name in keys(exports):
            path = (*self._resolved.path_of("exports"), name)
            if name in others:
                self._other_export(others[name], path)
            else:
                self._export(exports[name], name, path)
        config = self._config(others)
        return Projection(config, tuple(self._rows), tuple(self._remarks), self._on_env)

    # ------------------------------------------------------------------------------------------------- the entries

    def _binding(self, entry: dict[str, Any], path: KeyPath) -> None:
        script = entry.get("script_name")
        if script and script != self._data.get("name"):
            hint = "Remove the binding, and let the other Worker be called in another way."
            text = f'{dotted(path)}: env.{entry["binding"]} lives in the Worker "{script}"; celld binds only own ones.'
            self._say("P7", "error", (*path, "script_name"), text, hint)
            self._rows.append(Row(path, None))
            return
        if script:
            text = f"{dotted(path)}.script_name: dropped, since it names this Worker."
            self._say("P8", "note", (*path, "script_name"), text)
        self._check_class(entry["class_name"], (*path, "class_name"))
        self._entries.append({key: entry[key] for key in KEPT})
        left_out = dropped(entry, path, (*KEPT, "script_name"), self._allow_drop)
        self._rows.append(Row(path, _becomes(entry["binding"], entry["name"]), left_out))

    def _export(self, export: dict[str, Any], class_name: str, path: KeyPath) -> None:
        self._check_class(class_name, path)
        left_out = dropped(export, path, ("type", "name"), self._allow_drop)
        by_hand = next((entry for entry in self._entries if entry["name"] == export["name"]), None)
        if by_hand is not None:
            binding = by_hand["binding"]
            text = f"{dotted(path)}: env.{binding} binds it already; ctx.exports.{class_name} leads there."
            self._say("P9", "note", path, text)
        else:
            binding = class_name
            self._check_free(class_name, path)
            self._entries.append({"name": export["name"], "binding": class_name, "class_name": class_name})
        self._on_env[class_name] = binding
        self._rows.append(Row(path, _becomes(binding, export["name"]), left_out))

    def _other_export(self, export: dict[str, Any], path: KeyPath) -> None:
        text = f'{dotted(path)}: an export of the type "{export.get("type")}" is passed on as it is.'
        self._say("P12", "note", path, text)
        self._rows.append(Row(path, "unchanged"))

    # ------------------------------------------------------------------------------------------------ what is refused

    def _check_class(self, name: str, path: KeyPath) -> None:
        if not name.isidentifier() or keyword.iskeyword(name):
            self._say("P11", "error", path, f'{dotted(path)}: no class can be called "{name}".', "Rename it.")
        elif self._code is not None and self._code.lacks(name):
            other = self._code.is_other(name)
            found = f"what is exported under this name is none ({other})" if other else "it exports none of this name"
            text = f"{dotted(path)}: the code has no Workflow class {name}: {found}."
            self._say("class", "error", path, text, "Export the class from the main module, or remove the entry.")

    def _check_free(self, class_name: str, path: KeyPath) -> None:
        kind = next((kind for name, kind in binding_names(self._resolved) if name == class_name), None)
        if kind is not None:
            text = f"{dotted(path)}: it becomes env.{class_name}, but that is a {kind} binding."
            self._say("P10", "error", path, text, "Rename the binding, or bind the Workflow under a name of its own.")

    def _inherited(self) -> None:
        environment = self._resolved.environment
        if environment is None or "exports" in self._resolved.own:
            return
        if any(export.get("type") == "workflow" for export in self._map("exports").values()):
            text = f"env.{environment} has no exports of its own: it deploys the top level's, under the same names."
            self._say("P13", "note", ("exports",), text)

    # --------------------------------------------------------------------------------------------------- the result

    def _config(self, others: dict[str, Any]) -> dict[str, Any]:
        data = {key: value for key, value in self._data.items() if key not in _LEFT_OUT and key != "env"}
        data |= {"main": self._main(), "workflows": self._entries, "exports": others}
        order = [*_FIRST, *(key for key in data if key not in _FIRST)]
        config = {key: data[key] for key in order if key in data and (data[key] or key not in ("workflows", "exports"))}
        for key, value in config.items():
            try:
                strict_json(value)
            except (TypeError, ValueError):
                text = f"{key}: it holds a value that JSON has no word for, such as a date."
                self._say("P15", "error", self._resolved.path_of(key), text, "Write it as a text.")
        return config

    def _main(self) -> str | None:
        """Where the Worker begins in the output: the generated entry, beside the main module, where there is one."""
        main = self._data.get("main")
        if not isinstance(main, str) or not main:
            hint = 'Add "main": "src/entry.py" (the path is relative to the configuration file).'
            self._say("P14", "error", ("main",), 'There is no "main": nothing says which file is the Worker.', hint)
            return None
        path = PurePosixPath(os.path.normpath(main))
        if path.is_absolute() or ".." in path.parts:
            text = f'"main" names {main}, which is outside the project\'s folder.'
            self._say("P14", "error", self._resolved.path_of("main"), text, "Move the Worker into the project.")
        if not self._on_env:
            return str(path)
        if path.stem == PurePosixPath(ENTRY).stem or not path.stem.isidentifier() or keyword.iskeyword(path.stem):
            text = f'"main" names {main}; a module of this name cannot be imported by the generated entry.'
            self._say("P14", "error", self._resolved.path_of("main"), text, "Rename it, such as entry.py.")
        return str(path.with_name(ENTRY))

    def _say(self, rule: str, level: Level, path: KeyPath, text: str, hint: str | None = None) -> None:
        self._remarks.append(Remark(rule, level, path, text, hint))

    def _list(self, key: str) -> Iterator[dict[str, Any]]:
        value = self._data.get(key)
        return iter(value if isinstance(value, list) else ())

    def _map(self, key: str) -> dict[str, Any]:
        value = self._data.get(key)
        return value if isinstance(value, dict) else {}


def _becomes(binding: str, name: str) -> str:
    return f"env.{binding} = {name}"
