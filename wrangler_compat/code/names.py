"""What a name in a module means: an import, a global of the language, or something that the module binds."""

from __future__ import annotations

from collections.abc import Iterator

from wrangler_compat.code import nodes

Chain = tuple[str, ...]
Values = dict[str, list[nodes.Node | None]]  # what each name is bound to; None for what cannot be told

_HOPS = 8  # aliases of aliases that are followed


class Names:
    """The scopes of one module."""

    def __init__(self, root: nodes.Node, python: bool) -> None:
        self.root = root
        self.python = python
        self._tables: dict[nodes.Node, Values] = {}

    def table(self, scope: nodes.Node) -> Values:
        """The names that a function, or the module, binds."""
        if scope not in self._tables:
            self._tables[scope] = _Table(scope, self.python).values
        return self._tables[scope]

    def scope(self, name: str, at: nodes.Node) -> nodes.Node | None:
        """The function or module that binds ``name`` as seen from ``at``; None when none does."""
        for node in at.ancestors():
            if isinstance(node, nodes.Function) and _sees_inside(node, at) and name in self.table(node):
                return node
        return self.root if name in self.table(self.root) else None

    def values(self, name: str, at: nodes.Node) -> list[nodes.Node | None]:
        """What ``name`` is bound to where it is seen from ``at``."""
        scope = self.scope(name, at)
        return [] if scope is None else self.table(scope)[name]

    def value(self, name: str, at: nodes.Node) -> nodes.Node | None:
        """What ``name`` is bound to, when it is bound once and that can be told."""
        values = self.values(name, at)
        return values[0] if len(values) == 1 else None

    def chain(self, node: nodes.Node | None, hops: int = _HOPS) -> Chain | None:
        """The dotted name that an expression means, through aliases and imports.

        The first part is the module of an import, "this" (Python's self), a global, ``param:NAME`` or ``local:NAME``.
        """
        match node:
            case nodes.Attribute(value=value, name=name):
                inner = self.chain(value, hops)
                return (*inner, name) if inner else None
            case nodes.Item(value=value, index=nodes.Literal(value=str() as key)):
                inner = self.chain(value, hops)
                return (*inner, key) if inner else None
            case nodes.Name(id=name):
                return self._named(name, node, hops)
            case _:
                return None

    def dotted(self, node: nodes.Node | None) -> str:
        """The chain as text; empty when there is none."""
        chain = self.chain(node) or ()
        if chain and chain[0] in ("globalThis", "self", "window") and len(chain) > 1 and not self.python:
            chain = chain[1:]
        return ".".join(chain)

    def _named(self, name: str, at: nodes.Node, hops: int) -> Chain:
        scope = self.scope(name, at)
        if scope is None:
            return (name,)
        if self.python and isinstance(scope, nodes.Function) and _is_self(scope, name):
            return ("this",)
        values = self.table(scope)[name]
        if isinstance(scope, nodes.Function) and name in scope.bound and len(values) == 1:
            return (f"param:{name}",)
        if len(values) == 1 and hops:
            match values[0]:
                case nodes.Import() as imported:
                    return imported_chain(imported, name)
                case nodes.Name(id=same) if same == name:
                    return (f"local:{name}",)
                case nodes.Attribute() | nodes.Name() | nodes.Item() as value:
                    return self.chain(value, hops - 1) or (f"local:{name}",)
        return (f"local:{name}",)


def imported_chain(source: nodes.Import, local: str) -> Chain:
    """The dotted name that an import gives to a local name."""
    module = "." * source.level + source.module
    original = next((name for name, alias in source.names if alias == local), "*")
    return (module,) if original in ("*", "default") else (module, original)


def _is_self(function: nodes.Function, name: str) -> bool:
    return function.method and not function.static and bool(function.params) and function.params[0] == (name,)


def _sees_inside(function: nodes.Function, at: nodes.Node) -> bool:
    """Decorators and defaults stand outside the function that they belong to."""
    inner = at
    while inner.parent is not None and inner.parent is not function:
        inner = inner.parent
    return inner not in function.decorators and inner not in function.defaults


class _Table:
    """Gathers what one function or module binds."""

    def __init__(self, scope: nodes.Node, python: bool) -> None:
        self.values: Values = {}
        self._python = python
        self._outer: set[str] = set()
        if isinstance(scope, nodes.Function):
            for name in scope.bound:
                self.values[name] = [None]
            pending = list(scope.body)
        else:
            pending = list(scope.children())
        found = list(_inside(pending))
        self._outer = {name for node in found if isinstance(node, nodes.Outer) for name in node.names}
        for node in found:
            self._take(node)

    def _take(self, node: nodes.Node) -> None:
        match node:
            case nodes.Assign(targets=targets, value=value, operator=operator, declares=declares):
                if declares or self._python:
                    for target in targets:
                        self._target(target, value if not operator else None)
            case nodes.Function(name=str() as name) | nodes.Class(name=str() as name):
                if not (isinstance(node, nodes.Function) and node.method):
                    self._bind(name, node)
            case nodes.Import(names=pairs):
                for _, local in pairs:
                    self._bind(local, node)
            case nodes.Loop(target=nodes.Node() as target):
                self._target(target, None)
            case nodes.Each(sources=sources):
                for target, _ in sources:
                    self._target(target, None)
            case nodes.With(targets=targets):
                for target in targets:
                    self._target(target, None)
            case nodes.Handler(name=str() as name):
                self._bind(name, None)

    def _target(self, target: nodes.Node, value: nodes.Node | None) -> None:
        if isinstance(target, nodes.Name):
            self._bind(target.id, value)
            return
        if isinstance(target, nodes.Object) and value is not None:  # const { a, b: c } = value
            for entry in target.entries:
                if isinstance(entry.key, nodes.Literal) and isinstance(entry.value, nodes.Name):
                    taken = nodes.Attribute(value.start, value.end, value, str(entry.key.value))
                    self._bind(entry.value.id, taken)
                else:
                    self._target(entry.value, None)
            return
        for name in nodes.bound_names(target):
            self._bind(name, None)

    def _bind(self, name: str, value: nodes.Node | None) -> None:
        if name not in self._outer:
            self.values.setdefault(name, []).append(value)


def _inside(pending: list[nodes.Node]) -> Iterator[nodes.Node]:
    """All nodes of a scope, with the inner functions and classes themselves, but not what these hold."""
    pending = list(reversed(pending))
    while pending:
        node = pending.pop()
        yield node
        if isinstance(node, nodes.Function):
            pending.extend((*node.decorators, *node.defaults))
        elif isinstance(node, nodes.Class):
            pending.extend(node.bases)
        else:
            pending.extend(reversed(list(node.children())))
