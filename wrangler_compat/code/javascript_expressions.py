"""Makes the common tree of JavaScript's and TypeScript's expressions."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from wrangler_compat.code import nodes

if TYPE_CHECKING:
    from tree_sitter import Node

_TRANSPARENT = {  # (x), x as T, x!, <T>x, x satisfies T
    "parenthesized_expression",
    "as_expression",
    "non_null_expression",
    "type_assertion",
    "satisfies_expression",
}
_FUNCTIONS = {
    "arrow_function",
    "function_expression",
    "function_declaration",
    "generator_function",
    "generator_function_declaration",
    "method_definition",
}
_CLASSES = {"class", "class_declaration", "abstract_class_declaration"}
_CONSTANTS: dict[str, bool | None] = {"true": True, "false": False, "null": None}
_OBJECTS = {"object", "object_pattern"}
_LISTS = {"array", "array_pattern"}
_NAMES = {"identifier", "this", "super", "type_identifier", "shorthand_property_identifier_pattern", "undefined"}


def text_of(node: Node) -> str:
    """The source of a node."""
    return node.text.decode("utf-8", "replace") if node.text is not None else ""


def field(node: Node, name: str) -> Node:
    """A field that the grammar promises; after an error in the text the node itself stands in for it."""
    return node.child_by_field_name(name) or node


def named(node: Node) -> Iterator[Node]:
    """The children that mean something."""
    return (child for child in node.named_children if child.type != "comment")


def string_of(node: Node) -> str:
    """The value of a string literal."""
    parts = []
    for part in node.named_children:
        text = text_of(part)
        parts.append(_escape(text) if part.type == "escape_sequence" else text)
    return "".join(parts)


def _escape(text: str) -> str:
    try:
        return str(json.loads(f'"{text}"'))
    except ValueError:  # an escape that JSON lacks: \x41, \', a line continuation
        return text[1:] if len(text) == 2 else ""


class Expressions:
    """Translates expressions; what holds statements goes back to the reader of statements."""

    def __init__(self, block: Callable[[Node], nodes.Nodes], class_: Callable[[Node], nodes.Class]) -> None:
        self.block = block
        self.class_ = class_

    def many(self, sources: Iterable[Node]) -> nodes.Nodes:
        """The expressions in order."""
        return tuple(self.one(source) for source in sources)

    def maybe(self, source: Node | None) -> nodes.Node | None:
        """The expression, if there is one."""
        return None if source is None else self.one(source)

    def one(self, source: Node) -> nodes.Node:
        """The expression."""
        at, kind = (source.start_byte, source.end_byte), source.type
        if kind in _TRANSPARENT:
            inner = [child for child in named(source) if child.type != "type_arguments"]
            return self.one(inner[0]) if inner else nodes.Other(*at, ())
        if kind in _NAMES:
            return nodes.Name(*at, text_of(source))
        if kind in _FUNCTIONS:
            return self.function(source)
        if kind in _CLASSES:
            return self.class_(source)
        if kind in _OBJECTS:
            return self._object(source)
        if kind in _LISTS:
            return nodes.Items(*at, "list", self.many(named(source)))
        return self._literal(source) or self._chain(source) or self._operation(source)

    def _literal(self, source: Node) -> nodes.Node | None:
        at, kind = (source.start_byte, source.end_byte), source.type
        if kind in _CONSTANTS:
            return nodes.Literal(*at, _CONSTANTS[kind])
        if kind == "string":
            return nodes.Literal(*at, string_of(source))
        if kind == "number":
            return _number(source)
        if kind == "template_string":
            return self._template(source)
        return None

    def _template(self, source: Node) -> nodes.Node:
        at = (source.start_byte, source.end_byte)
        if all(part.type != "template_substitution" for part in source.named_children):
            return nodes.Literal(*at, string_of(source))
        parts: list[nodes.Node] = []
        for part in source.named_children:
            if part.type == "template_substitution":
                parts.extend(self.many(named(part)))
            else:
                parts.append(nodes.Literal(part.start_byte, part.end_byte, text_of(part)))
        return nodes.Text(*at, tuple(parts))

    def _chain(self, source: Node) -> nodes.Node | None:
        at = (source.start_byte, source.end_byte)
        match source.type:
            case "member_expression":
                name = text_of(field(source, "property"))
                return nodes.Attribute(*at, self.one(field(source, "object")), name)
            case "subscript_expression":
                return nodes.Item(*at, self.one(field(source, "object")), self.one(field(source, "index")))
            case "call_expression" | "new_expression":
                new = source.type == "new_expression"
                callee = source.child_by_field_name("constructor" if new else "function")
                args = source.child_by_field_name("arguments")
                # A tagged template has its string in place of the arguments.
                values = (self.one(args),) if args and args.type == "template_string" else self._arguments(args)
                return nodes.Call(*at, self.one(callee) if callee else nodes.Other(*at, ()), values, new=new)
            case "await_expression":
                return nodes.Await(*at, self.one(next(named(source), source)))
            case _:
                return None

    def _arguments(self, source: Node | None) -> nodes.Nodes:
        return () if source is None else self.many(named(source))

    def _operation(self, source: Node) -> nodes.Node:
        at = (source.start_byte, source.end_byte)
        match source.type:
            case "ternary_expression":
                parts = (self.one(field(source, name)) for name in ("condition", "consequence", "alternative"))
                return nodes.Choice(*at, *parts)
            case "assignment_expression":
                return nodes.Assign(*at, (self.one(field(source, "left")),), self.one(field(source, "right")))
            case "augmented_assignment_expression":
                operator = text_of(field(source, "operator")).rstrip("=")
                return nodes.Assign(*at, (self.one(field(source, "left")),), self.one(field(source, "right")), operator)
            case "update_expression":
                return nodes.Assign(*at, (self.one(field(source, "argument")),), None, "+")
            case "unary_expression" if text_of(field(source, "operator")) == "delete":
                return nodes.Delete(*at, (self.one(field(source, "argument")),))
            case "unary_expression" | "binary_expression":
                return self._signed(source) or nodes.Operation(
                    *at, text_of(field(source, "operator")), self.many(named(source))
                )
            case "spread_element" | "rest_pattern":
                return nodes.Spread(*at, self.one(next(named(source), source)))
            case "assignment_pattern" | "object_assignment_pattern":  # a pattern with a default
                return self.one(field(source, "left"))
            case "variable_declarator" | "ERROR":
                return nodes.Other(*at, ())
            case _:
                return nodes.Other(*at, self.many(child for child in named(source) if child.type not in _SKIPPED))

    def _signed(self, source: Node) -> nodes.Node | None:
        argument = source.child_by_field_name("argument")
        if text_of(field(source, "operator")) != "-" or argument is None or argument.type != "number":
            return None
        number = _number(argument)
        value = number.value if isinstance(number, nodes.Literal) else None
        return nodes.Literal(source.start_byte, source.end_byte, -value) if isinstance(value, int | float) else None

    def _object(self, source: Node) -> nodes.Object:
        entries = tuple(self._entry(child) for child in named(source))
        return nodes.Object(source.start_byte, source.end_byte, entries)

    def _entry(self, source: Node) -> nodes.Entry:
        at = (source.start_byte, source.end_byte)
        match source.type:
            case "pair" | "pair_pattern":
                return nodes.Entry(*at, self._key(field(source, "key")), self.one(field(source, "value")))
            case "method_definition":
                return nodes.Entry(*at, self._key(field(source, "name")), self.function(source))
            case "shorthand_property_identifier" | "shorthand_property_identifier_pattern":
                name = text_of(source)
                return nodes.Entry(*at, nodes.Literal(*at, name), nodes.Name(*at, name))
            case "object_assignment_pattern":
                return self._entry(field(source, "left"))
            case _:
                return nodes.Entry(*at, None, self.one(source))

    def _key(self, source: Node) -> nodes.Node:
        at = (source.start_byte, source.end_byte)
        if source.type in ("property_identifier", "private_property_identifier"):
            return nodes.Literal(*at, text_of(source))
        if source.type == "string":
            return nodes.Literal(*at, string_of(source))
        if source.type == "number":
            return nodes.Literal(*at, text_of(source))
        inner = list(named(source)) if source.type == "computed_property_name" else [source]
        return self.one(inner[0]) if inner else nodes.Other(*at, ())

    def function(self, source: Node, decorators: nodes.Nodes = ()) -> nodes.Function:
        """A function of any kind."""
        name = source.child_by_field_name("name")
        body = field(source, "body")
        words = {child.type for child in source.children if not child.is_named}
        returned = body.type != "statement_block"
        params, defaults = self._params(source)
        return nodes.Function(
            source.start_byte,
            source.end_byte,
            text_of(name) if name else None,
            params,
            (self.one(body),) if returned else self.block(body),
            decorators,
            defaults,
            asynchronous="async" in words,
            method=source.type == "method_definition",
            static="static" in words,
            returns=returned,
        )

    def _params(self, source: Node) -> tuple[tuple[tuple[str, ...], ...], nodes.Nodes]:
        single = source.child_by_field_name("parameter")
        listed = [single] if single else list(named(source.child_by_field_name("parameters") or source))
        names, defaults = [], []
        for each in listed if single or source.child_by_field_name("parameters") else []:
            pattern = each.child_by_field_name("pattern") or each.child_by_field_name("left") or each
            value = each.child_by_field_name("value") or each.child_by_field_name("right")
            names.append(tuple(nodes.bound_names(self.one(pattern))))
            if value is not None:
                defaults.append(self.one(value))
        return tuple(names), tuple(defaults)


_SKIPPED = {"type_annotation", "type_arguments", "type_parameters", "return_type", "regex", "regex_pattern"}


def _number(source: Node) -> nodes.Node:
    at, text = (source.start_byte, source.end_byte), text_of(source).replace("_", "")
    try:
        return nodes.Literal(*at, int(text, 0) if not text.isdigit() else int(text))
    except ValueError:
        pass
    try:
        return nodes.Literal(*at, float(text))
    except ValueError:  # a BigInt
        return nodes.Other(*at, ())
