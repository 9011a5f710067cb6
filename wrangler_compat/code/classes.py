"""Which classes are Workflows, and which of them the main module exports.

Best effort, for messages that come before the code runs: only the runtime, which imports the module, knows. So there
are three answers: yes, no, and "cannot be told".
"""

from __future__ import annotations

import builtins
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field

from wrangler_compat.code import nodes
from wrangler_compat.code.files import Files
from wrangler_compat.code.module import Module

BASE = "WorkflowEntrypoint"
_OTHER_BASES = {"WorkerEntrypoint", "DurableObject", "RpcTarget", "object", "Enum", "Exception", "Error", "Protocol"}
_PLATFORM = {"workers", "js", "pyodide", "asgi", "cloudflare:workers", "cloudflare:workflows"}
_UNSEEN = {"globals", "setattr", "exec", "eval", "vars"}  # by these a module may get names that the text does not show


@dataclass(frozen=True, slots=True)
class Found:
    """A class, and the module that it is written in."""

    module: Module
    node: nodes.Class


@dataclass(slots=True)
class Exports:
    """What a module offers under which names."""

    workflows: dict[str, Found] = field(default_factory=dict)
    others: dict[str, tuple[Module, nodes.Node]] = field(default_factory=dict)  # certainly no workflow classes
    unknown: set[str] = field(default_factory=set)
    complete: bool = True

    def add(self, name: str, verdict: bool | None, found: Found) -> None:
        """Take a class under a name."""
        if verdict:
            self.workflows.setdefault(name, found)
        elif verdict is None:
            self.unknown.add(name)
        else:
            self.others.setdefault(name, (found.module, found.node))


class Classes:
    """Answers for the modules of one Worker."""

    def __init__(self, files: Files) -> None:
        self.files = files

    # ---------------------------------------------------------------------------------------------------- the kinds

    def is_workflow(self, found: Found, seen: frozenset[nodes.Node] = frozenset()) -> bool | None:
        """Whether a class derives from WorkflowEntrypoint; None when that cannot be told."""
        if found.node in seen:
            return False
        verdicts = [self._base_is_workflow(found.module, base, seen | {found.node}) for base in found.node.bases]
        if any(verdicts):
            return True
        return None if None in verdicts or found.node.decorators else False

    def _base_is_workflow(self, module: Module, base: nodes.Node, seen: frozenset[nodes.Node]) -> bool | None:
        if isinstance(base, nodes.Item):  # WorkflowEntrypoint[Env]
            base = base.value
        chain = module.names.chain(base)
        if chain is None:
            return None
        if chain[-1] == BASE:
            return True
        if chain[-1] in _OTHER_BASES:
            return False
        known = self.classes_of(module, base)
        if known is None:
            return False if len(chain) == 1 and hasattr(builtins, chain[0]) else None
        verdicts = [self.is_workflow(found, seen) for found in known]
        return True if any(verdicts) else (None if None in verdicts else False)

    def classes_of(self, module: Module, node: nodes.Node) -> list[Found] | None:
        """The classes that an expression names; None when they are not all in the project's own text."""
        if isinstance(node, nodes.Class):
            return [Found(module, node)]
        if isinstance(node, nodes.Name):
            return self._named(module, module.names.values(node.id, node), node.id, 0)
        if isinstance(node, nodes.Attribute) and isinstance(node.value, nodes.Name):
            imported = module.names.value(node.value.id, node)
            target = self._module_of(module, imported, node.value.id)
            return self._in(target, node.name, 0) if target else None
        return None

    def _module_of(self, module: Module, imported: nodes.Node | None, local: str) -> Module | None:
        if not isinstance(imported, nodes.Import):
            return None
        original = next((name for name, alias in imported.names if alias == local), "*")
        if original == "*":
            return self.files.of_import(module, imported)
        return self.files.of_submodule(module, imported, original)

    def _named(self, module: Module, values: list[nodes.Node | None], name: str, depth: int) -> list[Found] | None:
        found: list[Found] = []
        for value in values:
            known = self._bound(module, value, name, depth)
            if known is None:
                return None
            found += known
        return found or None

    def _bound(self, module: Module, value: nodes.Node | None, name: str, depth: int) -> list[Found] | None:
        if depth > 8:  # modules that import each other in a circle
            return None
        match value:
            case nodes.Class():
                return [Found(module, value)]
            case nodes.Name(id=alias) if alias != name:
                return self._named(module, module.names.values(alias, value), alias, depth + 1)
            case nodes.Import():
                target = self.files.of_import(module, value)
                original = next((first for first, local in value.names if local == name), "*")
                return self._in(target, original, depth + 1) if target and original != "*" else None
            case _:
                return None

    def _in(self, module: Module, name: str, depth: int) -> list[Found] | None:
        """The classes that another module offers under a name."""
        if module.language == "python":
            return self._named(module, module.names.table(module.root).get(name, []), name, depth)
        exported = dict(self._javascript(module, depth + 1))
        return exported.get(name)

    # -------------------------------------------------------------------------------------------------- the exports

    def exports(self, module: Module) -> Exports:
        """What the platform finds in the main module."""
        found = Exports(complete=module.readable and self.files.complete)
        if module.language == "python":
            self._export_python(module, found)
        else:
            self._export_javascript(module, found)
        return found

    def _export_python(self, module: Module, found: Exports) -> None:
        for name, (owner, values) in self._public(module, found, 0).items():
            for value in values:
                known = self._bound(owner, value, name, 0)
                if known is None:
                    self._unclear(owner, name, value, found)
                for each in known or ():
                    # The platform calls a class by its own name, whatever the variable is called.
                    found.add(each.node.name or name, self.is_workflow(each), each)
        if any(isinstance(node, nodes.Call) and _name(node.callee) in _UNSEEN for node in _top(module)):
            found.complete = False

    def _unclear(self, module: Module, name: str, value: nodes.Node | None, found: Exports) -> None:
        """A public name that is no class of the project's text."""
        match value:
            case nodes.Import(module=source, level=0) if _is_known_package(source):
                found.others.setdefault(name, (module, value))
            case nodes.Call() if name[:1].isupper() and not name.isupper():  # Order = make_workflow(...)
                found.complete = False
            case nodes.Literal() | nodes.Function() | nodes.Object() | nodes.Items() | nodes.Call():
                found.others.setdefault(name, (module, value))
            case _:
                found.unknown.add(name)

    def _public(self, module: Module, found: Exports, depth: int) -> dict[str, tuple[Module, list[nodes.Node | None]]]:
        """The names that ``from module import *`` takes, with what they are bound to."""
        table = module.names.table(module.root)
        public: dict[str, tuple[Module, list[nodes.Node | None]]] = {}
        for value in table.get("*", []):
            target = self.files.of_import(module, value) if isinstance(value, nodes.Import) else None
            if target is None or not target.readable or depth > 8:
                known = isinstance(value, nodes.Import) and not value.level and _is_known_package(value.module)
                found.complete = found.complete and known
            else:
                public.update(self._public(target, found, depth + 1))
        public.update((name, (module, values)) for name, values in table.items() if name != "*")
        listed = _listed(table)
        if listed is not None:
            return {name: public[name] for name in listed if name in public}
        if "__all__" in table:
            found.complete = False
        return {name: value for name, value in public.items() if not name.startswith("_")}

    def _export_javascript(self, module: Module, found: Exports) -> None:
        for name, known in self._javascript(module, 0):
            if name == "*":
                found.complete = False
            elif known is None:
                found.unknown.add(name)
            for each in known or ():
                found.add(name, self.is_workflow(each), each)
        for node in module.root.walk():
            match node:
                case nodes.Assign(targets=(nodes.Attribute(value=nodes.Name(id="module" | "exports")), *_)):
                    found.complete = False  # CommonJS

    def _javascript(self, module: Module, depth: int) -> Iterator[tuple[str, list[Found] | None]]:
        """The exported names with their classes: none for what is no class, None for what cannot be told."""
        for node in module.root.children():
            if isinstance(node, nodes.Export) and depth <= 8:
                yield from self._exported(module, node, depth)

    def _exported(self, module: Module, node: nodes.Export, depth: int) -> Iterator[tuple[str, list[Found] | None]]:
        if node.module is not None:
            yield from self._from(module, node, depth)
        elif node.names and node.names[0][0] == "":
            declared = node.declared
            inner = next(declared.children(), declared) if isinstance(declared, nodes.Other) else declared
            yield "default", self._valued(module, inner, "", depth)
        elif isinstance(node.declared, nodes.Other):
            for part in node.declared.parts:
                for name, value in _declared(part):
                    yield name, self._valued(module, value, name, depth)
        else:
            for local, name in node.names:
                values = module.names.table(module.root).get(local, [])
                yield name, self._valued(module, values[0], local, depth) if len(values) == 1 else None

    def _from(self, module: Module, node: nodes.Export, depth: int) -> Iterator[tuple[str, list[Found] | None]]:
        target = self.files.of_import(module, node)
        exported = dict(self._javascript(target, depth + 1)) if target and target.readable else None
        for first, name in node.names:
            if (first, name) == ("*", "*"):
                inherited = exported if exported is not None else {"*": None}
                yield from ((each, known) for each, known in inherited.items() if each != "default")
            else:
                yield name, exported.get(first, []) if exported is not None and first != "*" else None

    def _valued(self, module: Module, value: nodes.Node | None, name: str, depth: int) -> list[Found] | None:
        match value:
            case nodes.Function() | nodes.Object() | nodes.Literal() | nodes.Items():
                return []
            case nodes.Name():
                values = module.names.values(value.id, value)
                return self._valued(module, values[0], value.id, depth + 1) if len(values) == 1 and depth < 8 else None
            case _:
                return self._bound(module, value, name, depth)


def _declared(part: nodes.Node) -> Iterator[tuple[str, nodes.Node | None]]:
    match part:
        case nodes.Class(name=str() as name) | nodes.Function(name=str() as name):
            yield name, part
        case nodes.Assign(targets=(nodes.Name(id=name),), value=value):
            yield name, value
        case nodes.Assign(targets=(target,)):
            yield from ((name, None) for name in nodes.bound_names(target))


def _listed(table: dict[str, list[nodes.Node | None]]) -> list[str] | None:
    """The names in ``__all__`` when it is one plain list."""
    match table.get("__all__"):
        case [nodes.Items(values=values)]:
            names = [each.value for each in values if isinstance(each, nodes.Literal) and isinstance(each.value, str)]
            return names if len(names) == len(values) else None
        case _:
            return None


def _is_known_package(module: str) -> bool:
    """Whether a package certainly brings no workflow classes besides WorkflowEntrypoint itself."""
    top = module.partition(".")[0]
    return top in sys.stdlib_module_names or top in _PLATFORM


def _name(node: nodes.Node) -> str | None:
    return node.id if isinstance(node, nodes.Name) else None


def _top(module: Module) -> Iterator[nodes.Node]:
    """The nodes of a module that are outside functions."""
    pending = list(module.root.children())
    while pending:
        node = pending.pop()
        yield node
        if not isinstance(node, nodes.Function):
            pending.extend(node.children())
