"""Finds the workflow classes of a Python Worker without running it.

Best effort, for messages that come before the isolate has started: only the isolate, which imports the
module, knows.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

BASE = "WorkflowEntrypoint"


@dataclass(frozen=True, slots=True)
class ModuleClasses:
    """What a module shows at first sight.

    ``workflows`` are its classes derived from ``WorkflowEntrypoint``, ``imported`` the names that may be such
    classes from elsewhere; both give the line. ``complete`` says that no other name can hold a class: there
    is no star import, no class made at run time.
    """

    workflows: dict[str, int]
    imported: dict[str, int]
    complete: bool

    def lacks(self, class_name: str) -> bool:
        """Whether the module certainly has no such workflow class."""
        return self.complete and class_name not in self.workflows and class_name not in self.imported


def workflow_classes(main: Path) -> ModuleClasses:
    """Scan the main module; one that cannot be read or parsed yields nothing and claims nothing."""
    try:
        tree = ast.parse(main.read_bytes(), str(main))
    except (OSError, SyntaxError, ValueError, RecursionError):
        return ModuleClasses({}, {}, complete=False)
    scan = _Scan()
    scan.block(tree.body)
    return ModuleClasses(scan.workflows(), scan.imported, scan.complete)


class _Scan:
    def __init__(self) -> None:
        self.imported: dict[str, int] = {}
        self.complete = True
        self._classes: dict[str, ast.ClassDef] = {}
        self._roots: set[str] = set()  # local names of WorkflowEntrypoint itself
        self._aliases: dict[str, tuple[str, int]] = {}  # Name = OtherName

    def block(self, body: Iterable[ast.stmt]) -> None:
        for statement in body:
            self.statement(statement)

    def statement(self, statement: ast.stmt) -> None:
        match statement:
            case ast.ClassDef(name=name):
                self._classes[name] = statement
            case ast.ImportFrom(names=names):
                for alias in names:
                    self.import_name(alias, statement.lineno)
            case ast.Assign(targets=[ast.Name(id=target)], value=ast.Name(id=source)):
                self._aliases[target] = (source, statement.lineno)
            case ast.Assign(value=ast.Call()):
                self.complete = False
            case ast.If(body=body, orelse=other) | ast.Try(body=body, orelse=other):
                self.block([*body, *other])
                for handler in getattr(statement, "handlers", ()):
                    self.block(handler.body)
            case ast.With(body=body):
                self.block(body)

    def import_name(self, alias: ast.alias, line: int) -> None:
        local = alias.asname or alias.name
        if alias.name == "*":
            self.complete = False
        elif alias.name == BASE:
            self._roots.add(local)
        else:
            self.imported[local] = line

    def workflows(self) -> dict[str, int]:
        found: dict[str, int] = {}
        grown = True
        while grown:  # until no class is left whose base turned out to be a workflow class
            grown = False
            for name, node in self._classes.items():
                if name not in found and any(self.is_workflow(base, found) for base in node.bases):
                    found[name] = node.lineno
                    grown = True
        for name, (source, line) in self._aliases.items():
            if source in found:
                self.imported.setdefault(name, line)
        for name, node in self._classes.items():
            if name not in found and any(self.may_be_workflow(base) for base in node.bases):
                self.imported.setdefault(name, node.lineno)
        return found

    def is_workflow(self, base: ast.expr, found: dict[str, int]) -> bool:
        match base:
            case ast.Name(id=name):
                return name in self._roots or name in found
            case ast.Attribute(attr=name):
                return name == BASE
            case ast.Subscript(value=value):
                return self.is_workflow(value, found)
            case _:
                return False

    def may_be_workflow(self, base: ast.expr) -> bool:
        """A base class that this module only imports may derive from WorkflowEntrypoint."""
        match base:
            case ast.Name(id=name):
                return name in self.imported
            case ast.Subscript(value=value):
                return self.may_be_workflow(value)
            case _:
                return not isinstance(base, ast.Name)
