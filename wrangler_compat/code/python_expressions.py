"""Makes the common tree of Python's expressions."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable

from wrangler_compat.code import nodes

_LINE_END = re.compile(rb"\r\n|\r|\n")


class Expressions:
    """Translates the expressions of one text; its columns are bytes of the line."""

    def __init__(self, text: bytes) -> None:
        self._lines = [0, *(match.end() for match in _LINE_END.finditer(text))]

    def span(self, node: ast.AST) -> tuple[int, int]:
        """The bytes that a node covers."""
        if isinstance(node, ast.expr | ast.stmt | ast.excepthandler | ast.keyword | ast.arg | ast.pattern):
            start = self._lines[node.lineno - 1] + node.col_offset
            if node.end_lineno is not None and node.end_col_offset is not None:
                return start, self._lines[node.end_lineno - 1] + node.end_col_offset
            return start, start
        return 0, 0

    def many(self, sources: Iterable[ast.expr | None]) -> nodes.Nodes:
        """The expressions, without those that are left out."""
        return tuple(self.one(source) for source in sources if source is not None)

    def maybe(self, source: ast.expr | None) -> nodes.Node | None:
        """The expression, if there is one."""
        return None if source is None else self.one(source)

    def one(self, source: ast.expr) -> nodes.Node:
        """The expression."""
        at = self.span(source)
        match source:
            case ast.Name(id=name):
                return nodes.Name(*at, name)
            case ast.Attribute(value=value, attr=name):
                return nodes.Attribute(*at, self.one(value), name)
            case ast.Subscript(value=value, slice=index):
                return nodes.Item(*at, self.one(value), self.one(index))
            case ast.Constant(value=value) if value is None or isinstance(value, str | int | float):
                return nodes.Literal(*at, value)
            case ast.Call():
                return self._call(source)
            case ast.Await(value=value):
                return nodes.Await(*at, self.one(value))
            case ast.Starred(value=value):
                return nodes.Spread(*at, self.one(value))
            case ast.IfExp(test=test, body=then, orelse=other):
                return nodes.Choice(*at, self.one(test), self.one(then), self.one(other))
            case ast.NamedExpr(target=target, value=value):
                return nodes.Assign(*at, (self.one(target),), self.one(value), declares=True)
            case ast.Lambda(args=args, body=body):
                result = (self.one(body),)
                return nodes.Function(*at, None, params(args), result, defaults=self.defaults(args), returns=True)
            case _:
                return self._structure(source)

    def _structure(self, source: ast.expr) -> nodes.Node:
        at = self.span(source)
        match source:
            case ast.Dict(keys=keys, values=values):
                pairs = zip(keys, values, strict=True)
                entries = (nodes.Entry(*self.span(value), self.maybe(key), self.one(value)) for key, value in pairs)
                return nodes.Object(*at, tuple(entries))
            case ast.List(elts=values) | ast.Tuple(elts=values) | ast.Set(elts=values):
                return nodes.Items(*at, type(source).__name__.lower(), self.many(values))
            case ast.ListComp(elt=value) | ast.SetComp(elt=value) | ast.GeneratorExp(elt=value):
                return self._each(source, source.generators, (value,))
            case ast.DictComp(key=key, value=value):
                return self._each(source, source.generators, (key, value))
            case ast.JoinedStr(values=values):
                return nodes.Text(*at, self.many(values))
            case ast.FormattedValue(value=value, format_spec=format_spec):
                return nodes.Other(*at, self.many([value, format_spec]))
            case _:
                return self._operation(source)

    def _operation(self, source: ast.expr) -> nodes.Node:
        at = self.span(source)
        match source:
            case ast.BinOp(left=left, op=op, right=right):
                return nodes.Operation(*at, type(op).__name__, self.many([left, right]))
            case ast.BoolOp(op=op, values=values):
                return nodes.Operation(*at, type(op).__name__, self.many(values))
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as number)):
                return nodes.Literal(*at, -number)
            case ast.UnaryOp(op=op, operand=operand):
                return nodes.Operation(*at, type(op).__name__, self.many([operand]))
            case ast.Compare(left=left, comparators=others):
                return nodes.Operation(*at, "compare", self.many([left, *others]))
            case _:
                parts = (child for child in ast.iter_child_nodes(source) if isinstance(child, ast.expr))
                return nodes.Other(*at, self.many(parts))

    def _call(self, source: ast.Call) -> nodes.Call:
        args = list(self.many(source.args))
        keywords = []
        for keyword in source.keywords:
            value = self.one(keyword.value)
            if keyword.arg is None:
                args.append(nodes.Spread(value.start, value.end, value))
            else:
                keywords.append((keyword.arg, value))
        return nodes.Call(*self.span(source), self.one(source.func), tuple(args), tuple(keywords))

    def _each(self, source: ast.expr, generators: list[ast.comprehension], value: Iterable[ast.expr]) -> nodes.Each:
        kinds = {ast.ListComp: "list", ast.SetComp: "set", ast.DictComp: "dict", ast.GeneratorExp: "generator"}
        return nodes.Each(
            *self.span(source),
            kinds[type(source)],
            tuple((self.one(each.target), self.one(each.iter)) for each in generators),
            tuple(self.one(test) for each in generators for test in each.ifs),
            self.many(value),
        )

    def defaults(self, args: ast.arguments) -> nodes.Nodes:
        """The default values of parameters."""
        return self.many([*args.defaults, *args.kw_defaults])


def params(args: ast.arguments) -> tuple[tuple[str, ...], ...]:
    """The names of the parameters, in the order of positions, then the others."""
    listed = [*args.posonlyargs, *args.args, args.vararg, *args.kwonlyargs, args.kwarg]
    return tuple((arg.arg,) for arg in listed if arg is not None)
