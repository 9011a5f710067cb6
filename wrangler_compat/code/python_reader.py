"""Makes the common tree of a Python module."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from wrangler_compat.code import nodes
from wrangler_compat.code.python_expressions import Expressions, params


def read(text: bytes, name: str) -> nodes.Node:
    """The tree of a module in UTF-8; raises `SyntaxError` (or what else `ast.parse` raises)."""
    module = ast.parse(text.decode("utf-8"), name)  # as text: an encoding that its first line declares is done with
    reader = _Statements(Expressions(text))
    return nodes.link(nodes.Other(0, len(text), reader.block(module.body)))


class _Statements:
    def __init__(self, expressions: Expressions) -> None:
        self.of = expressions

    def block(self, body: Iterable[ast.stmt], in_class: bool = False) -> nodes.Nodes:
        return tuple(self.statement(each, in_class) for each in body)

    def statement(self, source: ast.stmt, in_class: bool = False) -> nodes.Node:
        at, of = self.of.span(source), self.of
        match source:
            case ast.Expr(value=value):
                return nodes.Expression(*at, of.one(value))
            case ast.Assign(targets=targets, value=value):
                return nodes.Assign(*at, of.many(targets), of.one(value), declares=True)
            case ast.AnnAssign(target=target, value=value):
                return nodes.Assign(*at, (of.one(target),), of.maybe(value), declares=True)
            case ast.AugAssign(target=target, op=op, value=value):
                return nodes.Assign(*at, (of.one(target),), of.one(value), type(op).__name__)
            case ast.Delete(targets=targets):
                return nodes.Delete(*at, of.many(targets))
            case ast.Return(value=value):
                return nodes.Return(*at, of.maybe(value))
            case ast.Raise(exc=value):
                return nodes.Raise(*at, of.maybe(value))
            case ast.Global(names=names) | ast.Nonlocal(names=names):
                return nodes.Outer(*at, tuple(names))
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                return self._function(source, in_class)
            case ast.ClassDef():
                return self._class(source)
            case ast.Import() | ast.ImportFrom():
                return self._import(source)
            case _:
                return self._compound(source)

    def _compound(self, source: ast.stmt) -> nodes.Node:
        at, of = self.of.span(source), self.of
        match source:
            case ast.If(test=test, body=body, orelse=other):
                return nodes.If(*at, of.one(test), self.block(body), self.block(other))
            case ast.For() | ast.AsyncFor():
                body = [*source.body, *source.orelse]
                return nodes.Loop(*at, of.one(source.target), of.one(source.iter), None, self.block(body))
            case ast.While(test=test, body=body, orelse=other):
                return nodes.Loop(*at, None, None, of.one(test), self.block([*body, *other]))
            case ast.Try() | ast.TryStar():
                after = self.block([*source.orelse, *source.finalbody])
                return nodes.Try(*at, self.block(source.body), self._handlers(source.handlers), after)
            case ast.With(items=items, body=body) | ast.AsyncWith(items=items, body=body):
                targets = of.many(item.optional_vars for item in items)
                return nodes.With(*at, of.many(item.context_expr for item in items), targets, self.block(body))
            case ast.Match(subject=subject, cases=cases):
                arms = tuple(node for case in cases for node in self.block(case.body))
                return nodes.If(*at, of.one(subject), arms)
            case _:
                parts = (child for child in ast.iter_child_nodes(source) if isinstance(child, ast.expr))
                return nodes.Other(*at, of.many(parts))

    def _handlers(self, handlers: Iterable[ast.ExceptHandler]) -> tuple[nodes.Handler, ...]:
        return tuple(
            nodes.Handler(*self.of.span(each), self.of.maybe(each.type), each.name, self.block(each.body))
            for each in handlers
        )

    def _function(self, source: ast.FunctionDef | ast.AsyncFunctionDef, in_class: bool) -> nodes.Function:
        decorators = self.of.many(source.decorator_list)
        static = any(isinstance(each, nodes.Name) and each.id == "staticmethod" for each in decorators)
        return nodes.Function(
            *self.of.span(source),
            source.name,
            params(source.args),
            self.block(source.body),
            decorators,
            self.of.defaults(source.args),
            asynchronous=isinstance(source, ast.AsyncFunctionDef),
            method=in_class,
            static=static,
        )

    def _class(self, source: ast.ClassDef) -> nodes.Class:
        at = self.of.span(source)
        bases = self.of.many(source.bases)
        decorators = self.of.many(source.decorator_list)
        return nodes.Class(*at, source.name, bases, self.block(source.body, in_class=True), decorators)

    def _import(self, source: ast.Import | ast.ImportFrom) -> nodes.Node:
        at = self.of.span(source)
        if isinstance(source, ast.ImportFrom):
            names = tuple(
                (alias.name, "*" if alias.name == "*" else alias.asname or alias.name) for alias in source.names
            )
            return nodes.Import(*at, source.module or "", names, source.level)
        # `import a.b` binds `a`, and brings in `a.b`; with a second name it binds the module itself.
        imports: list[nodes.Node] = []
        for alias in source.names:
            first = alias.name.partition(".")[0]
            local = alias.asname or first
            imports.append(nodes.Import(*at, alias.name if alias.asname else first, (("*", local),)))
            imports.append(nodes.Import(*at, alias.name, ()))
        return nodes.Other(*at, tuple(imports))
