"""Makes the common tree of a JavaScript or TypeScript module."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from wrangler_compat.code import grammar, nodes
from wrangler_compat.code.javascript_expressions import Expressions, field, named, string_of, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

_TYPES = {"interface_declaration", "type_alias_declaration", "ambient_declaration", "function_signature"}
_DECLARATIONS = {"lexical_declaration", "variable_declaration"}


def read(text: bytes, suffix: str) -> tuple[nodes.Node, int | None]:
    """The tree of a module, and where the first part begins that was not understood."""
    tree = grammar.parse(text, suffix)
    reader = _Statements()
    root = nodes.Other(0, len(text), reader.block(tree.root_node))
    return nodes.link(root), _first_error(tree.root_node)


def _first_error(node: Node) -> int | None:
    if node.is_error or node.is_missing:
        return node.start_byte
    if not node.has_error:
        return None
    found = (_first_error(child) for child in node.children)
    return next((start for start in found if start is not None), node.start_byte)


class _Statements:
    def __init__(self) -> None:
        self.of = Expressions(self.block, self.class_)

    def block(self, source: Node) -> nodes.Nodes:
        """The statements of a block, or the only one where a block could stand."""
        inner = named(source) if source.type in ("program", "statement_block") else iter([source])
        return tuple(node for child in inner for node in self.statements(child))

    def statements(self, source: Node) -> Iterator[nodes.Node]:
        if source.type in _DECLARATIONS:
            for declarator in named(source):
                if declarator.type == "variable_declarator":
                    yield self._declared(declarator)
        elif source.type not in _TYPES and source.type not in ("empty_statement", "comment", "ERROR"):
            yield self.statement(source)

    def _declared(self, source: Node) -> nodes.Node:
        target = self.of.one(field(source, "name"))
        value = self.of.maybe(source.child_by_field_name("value"))
        return nodes.Assign(source.start_byte, source.end_byte, (target,), value, declares=True)

    def statement(self, source: Node) -> nodes.Node:
        at, of = (source.start_byte, source.end_byte), self.of
        match source.type:
            case "expression_statement":
                value = of.one(next(named(source), source))
                return value if isinstance(value, nodes.Assign | nodes.Delete) else nodes.Expression(*at, value)
            case "function_declaration" | "generator_function_declaration":
                return of.function(source)
            case "class_declaration" | "abstract_class_declaration":
                return self.class_(source)
            case "return_statement":
                return nodes.Return(*at, of.maybe(next(named(source), None)))
            case "throw_statement":
                return nodes.Raise(*at, of.maybe(next(named(source), None)))
            case "import_statement":
                return self._import(source)
            case "export_statement":
                return self._export(source)
            case "statement_block":
                return nodes.Other(*at, self.block(source))
            case "labeled_statement":
                return nodes.Other(*at, self.block(field(source, "body")))
            case "internal_module" | "module":
                return nodes.Other(*at, ())
            case _:
                return self._compound(source)

    def _compound(self, source: Node) -> nodes.Node:
        at, of = (source.start_byte, source.end_byte), self.of
        match source.type:
            case "if_statement":
                other = source.child_by_field_name("alternative")
                orelse = tuple(node for child in named(other) for node in self.block(child)) if other else ()
                body = self.block(field(source, "consequence"))
                return nodes.If(*at, of.one(field(source, "condition")), body, orelse)
            case "switch_statement":
                arms = tuple(node for case in named(field(source, "body")) for node in self._arm(case))
                return nodes.If(*at, of.one(field(source, "value")), arms)
            case "for_in_statement":
                target, iterable = of.one(field(source, "left")), of.one(field(source, "right"))
                return nodes.Loop(*at, target, iterable, None, self.block(field(source, "body")))
            case "for_statement":
                return self._for(source)
            case "while_statement" | "do_statement":
                return nodes.Loop(
                    *at, None, None, of.one(field(source, "condition")), self.block(field(source, "body"))
                )
            case "try_statement":
                return self._try(source)
            case _:
                return nodes.Other(*at, of.many(named(source)))

    def _arm(self, case: Node) -> Iterator[nodes.Node]:
        for child in case.children_by_field_name("body"):
            yield from self.block(child)

    def _for(self, source: Node) -> nodes.Loop:
        at, of = (source.start_byte, source.end_byte), self.of
        first = source.child_by_field_name("initializer")
        last = source.child_by_field_name("increment")
        condition = source.child_by_field_name("condition")
        if condition is not None and condition.type == "expression_statement":
            condition = next(named(condition), None)
        setup = (*(self.block(first) if first else ()), *((of.one(last),) if last else ()))
        test = of.maybe(condition) if condition is not None and condition.type != "empty_statement" else None
        return nodes.Loop(*at, None, None, test, self.block(field(source, "body")), setup)

    def _try(self, source: Node) -> nodes.Try:
        handlers = []
        if caught := source.child_by_field_name("handler"):
            parameter = caught.child_by_field_name("parameter")
            name = text_of(parameter) if parameter is not None else None
            body = self.block(field(caught, "body"))
            handlers.append(nodes.Handler(caught.start_byte, caught.end_byte, None, name, body))
        final = source.child_by_field_name("finalizer")
        after = self.block(field(final, "body")) if final else ()
        return nodes.Try(source.start_byte, source.end_byte, self.block(field(source, "body")), tuple(handlers), after)

    def class_(self, source: Node) -> nodes.Class:
        """A class, declared or as an expression."""
        name = source.child_by_field_name("name")
        heritage = next((child for child in named(source) if child.type == "class_heritage"), None)
        body = tuple(member for child in named(field(source, "body")) for member in self._member(child))
        return nodes.Class(
            source.start_byte,
            source.end_byte,
            text_of(name) if name else None,
            tuple(self._bases(heritage)) if heritage else (),
            body,
        )

    def _bases(self, heritage: Node) -> Iterator[nodes.Node]:
        for child in named(heritage):
            if child.type == "extends_clause":
                yield self.of.one(field(child, "value"))
            elif child.type != "implements_clause":  # plain JavaScript has the expression itself
                yield self.of.one(child)

    def _member(self, source: Node) -> Iterator[nodes.Node]:
        at = (source.start_byte, source.end_byte)
        match source.type:
            case "method_definition":
                yield self.of.function(source)
            case "public_field_definition" | "field_definition":
                key = source.child_by_field_name("name") or source.child_by_field_name("property") or source
                value = self.of.maybe(source.child_by_field_name("value"))
                if isinstance(value, nodes.Function):  # run = async (event, step) => {...}
                    value.name, value.method = text_of(key), True
                    yield value
                else:
                    target = nodes.Name(key.start_byte, key.end_byte, text_of(key))
                    yield nodes.Assign(*at, (target,), value, declares=True)

    def _import(self, source: Node) -> nodes.Node:
        at = (source.start_byte, source.end_byte)
        module = source.child_by_field_name("source")
        if module is None or any(child.type == "type" for child in source.children):
            return nodes.Other(*at, ())
        clause = next((child for child in named(source) if child.type == "import_clause"), None)
        names = tuple(pair for child in named(clause) for pair in _imported(child)) if clause else ()
        return nodes.Import(*at, string_of(module), names)

    def _export(self, source: Node) -> nodes.Node:
        at = (source.start_byte, source.end_byte)
        module = source.child_by_field_name("source")
        path = string_of(module) if module else None
        if any(child.type == "type" for child in source.children):
            return nodes.Other(*at, ())
        if declared := source.child_by_field_name("declaration"):
            default = any(child.type == "default" for child in source.children)
            inner = nodes.Other(declared.start_byte, declared.end_byte, tuple(self.statements(declared)))
            return nodes.Export(*at, (("", "default"),) if default else (), declared=inner)
        if value := source.child_by_field_name("value"):
            return nodes.Export(*at, (("", "default"),), declared=self.of.one(value))
        names = tuple(pair for child in named(source) for pair in _exported_names(child))
        whole = path is not None and all(child == module for child in named(source))
        return nodes.Export(*at, (("*", "*"),) if whole else names, path)


def _imported(source: Node) -> Iterator[tuple[str, str]]:
    if source.type == "identifier":
        yield "default", text_of(source)
    elif source.type == "namespace_import":
        yield "*", text_of(next(named(source), source))
    elif source.type == "named_imports":
        yield from _specifiers(source, "import_specifier")


def _exported_names(source: Node) -> Iterator[tuple[str, str]]:
    if source.type == "namespace_export":
        yield "*", text_of(next(named(source), source))
    elif source.type == "export_clause":
        yield from _specifiers(source, "export_specifier")


def _specifiers(source: Node, kind: str) -> Iterator[tuple[str, str]]:
    """The pairs of ``{ name as alias, ... }``; those of types are left out."""
    for each in named(source):
        if each.type == kind and not any(child.type == "type" for child in each.children):
            name = _specified(field(each, "name"))
            alias = each.child_by_field_name("alias")
            yield name, _specified(alias) if alias else name


def _specified(source: Node) -> str:
    return string_of(source) if source.type == "string" else text_of(source)
