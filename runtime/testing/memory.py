"""Finds lines that change module globals: what code keeps there between steps is lost by a crash."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from runtime.isolates.in_process import in_a_run

from .side_effects import SideEffects, shortened

# Values that can be told apart by their text. Objects of classes, such as clients, come and go as they like.
_PLAIN = (int, float, str, bytes, list, dict, set, tuple, deque, type(None))


class KeptInMemory(SideEffects):
    """Watches a project's globals while its Workflows run, inside steps and outside of them."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, lambda: None)
        self._before: dict[str, str] = {}

    def _concerned(self) -> bool:
        return in_a_run()

    def _look(self) -> None:
        now = self._globals()
        if self._line is not None:
            for name in now:
                if now[name] != self._before.get(name, now[name]):
                    change = f"{shortened(self._before[name])} -> {shortened(now[name])}"
                    self.found.setdefault(self._line, f"changes {name}: {change}")
        self._before = now

    def _globals(self) -> dict[str, str]:
        found: dict[str, str] = {}
        for module, members in _loaded():
            if self._is_projects(str(members.get("__file__"))):
                for name, value in list(members.items()):
                    if not name.startswith("__") and isinstance(value, _PLAIN):
                        found[f"{module}.{name}"] = repr(value)
        return found


def _loaded() -> Iterator[tuple[str, dict[str, Any]]]:
    """All modules and what is in them. They are not asked themselves: a lazy one would be imported by it."""
    modules: list[tuple[str, object]] = list(sys.modules.items())
    for name, module in modules:
        if isinstance(module, ModuleType):
            yield name, object.__getattribute__(module, "__dict__")
