"""The parts of a program that checks look at, the same for Python and JavaScript.

Two readers make this tree, so that a check is written once. What no check asks for is an `Other` that keeps its
parts. Offsets count the bytes of the UTF-8 text, because both parsers do.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field


@dataclass(slots=True, eq=False)
class Node:
    """A part of a source text, from ``start`` up to ``end``; ``parent`` is None at the top."""

    start: int
    end: int
    parent: Node | None = field(default=None, init=False, repr=False)

    def children(self) -> Iterator[Node]:
        """The nodes directly inside, in the order of the fields."""
        for name in _parts(type(self)):
            yield from _nodes(getattr(self, name))

    def walk(self) -> Iterator[Node]:
        """This node and all below it, in source order as far as the fields have it."""
        pending: list[Node] = [self]
        while pending:
            node = pending.pop()
            yield node
            pending.extend(reversed(list(node.children())))

    def ancestors(self) -> Iterator[Node]:
        """What holds this node, from the inside out."""
        node = self.parent
        while node is not None:
            yield node
            node = node.parent


Nodes = tuple[Node, ...]


_PARTS: dict[type[Node], tuple[str, ...]] = {}


def _parts(kind: type[Node]) -> tuple[str, ...]:
    """The fields of a kind of node that hold other nodes."""
    found = _PARTS.get(kind)
    if found is None:
        found = _PARTS[kind] = _fields(kind)
    return found


def _fields(kind: type[Node]) -> tuple[str, ...]:
    return tuple(name for name in kind.__dataclass_fields__ if name not in ("start", "end", "parent"))


def _nodes(value: object) -> Iterator[Node]:
    if isinstance(value, Node):
        yield value
    elif isinstance(value, tuple):
        for item in value:
            yield from _nodes(item)


def link(root: Node) -> Node:
    """Tell every node below ``root`` what holds it."""
    for node in root.walk():
        for child in node.children():
            child.parent = node
    return root


# ------------------------------------------------------------------------------------------------------ expressions


@dataclass(slots=True, eq=False)
class Name(Node):
    """A variable; ``this`` in JavaScript is one, called ``this``."""

    id: str


@dataclass(slots=True, eq=False)
class Attribute(Node):
    """``value.name``."""

    value: Node
    name: str


@dataclass(slots=True, eq=False)
class Item(Node):
    """``value[index]``."""

    value: Node
    index: Node


@dataclass(slots=True, eq=False)
class Literal(Node):
    """A text, number, boolean or None (null)."""

    value: str | int | float | bool | None


@dataclass(slots=True, eq=False)
class Text(Node):
    """An f-string or a template: literal parts and expressions."""

    parts: Nodes


@dataclass(slots=True, eq=False)
class Operation(Node):
    """Operands joined by operators."""

    operator: str
    operands: Nodes


@dataclass(slots=True, eq=False)
class Call(Node):
    """A call; ``new`` in JavaScript. Keywords of Python are (name, value)."""

    callee: Node
    args: Nodes
    keywords: tuple[tuple[str, Node], ...] = ()
    new: bool = False

    def keyword(self, name: str) -> Node | None:
        """The value that is passed under this name."""
        return next((value for key, value in self.keywords if key == name), None)


@dataclass(slots=True, eq=False)
class Spread(Node):
    """``*value``, ``**value`` or ``...value``."""

    value: Node


@dataclass(slots=True, eq=False)
class Await(Node):
    """``await value``."""

    value: Node


@dataclass(slots=True, eq=False)
class Entry(Node):
    """One entry of an object; without a key it is spread."""

    key: Node | None
    value: Node


@dataclass(slots=True, eq=False)
class Object(Node):
    """A dict display or an object literal; as a target of an assignment, a pattern."""

    entries: tuple[Entry, ...]

    def get(self, key: str) -> Node | None:
        """The value under a literal key."""
        found = None
        for entry in self.entries:
            if isinstance(entry.key, Literal) and entry.key.value == key:
                found = entry.value
        return found

    @property
    def open(self) -> bool:
        """Whether it may hold more than its literal keys."""
        return any(not isinstance(entry.key, Literal) for entry in self.entries)


@dataclass(slots=True, eq=False)
class Items(Node):
    """A display of values; ``kind`` is list, tuple or set."""

    kind: str
    values: Nodes


@dataclass(slots=True, eq=False)
class Each(Node):
    """A comprehension or generator expression: ``kind`` is list, set, dict or generator."""

    kind: str
    sources: tuple[tuple[Node, Node], ...]  # target, iterable
    tests: Nodes
    value: Nodes


@dataclass(slots=True, eq=False)
class Choice(Node):
    """``then if test else other``."""

    test: Node
    then: Node
    other: Node


@dataclass(slots=True, eq=False)
class Function(Node):
    """A function, method, lambda or arrow function. A parameter is the names that it binds."""

    name: str | None
    params: tuple[tuple[str, ...], ...]
    body: Nodes
    decorators: Nodes = ()
    defaults: Nodes = ()
    asynchronous: bool = False
    method: bool = False
    static: bool = False
    returns: bool = False  # the body is one expression, and the result

    @property
    def bound(self) -> frozenset[str]:
        """All names that the parameters bind."""
        return frozenset(name for names in self.params for name in names)


# ------------------------------------------------------------------------------------------------------- statements


@dataclass(slots=True, eq=False)
class Class(Node):
    """A class; its ``body`` holds functions and assignments."""

    name: str | None
    bases: Nodes
    body: Nodes
    decorators: Nodes = ()


@dataclass(slots=True, eq=False)
class Expression(Node):
    """An expression as a statement."""

    value: Node


@dataclass(slots=True, eq=False)
class Assign(Node):
    """An assignment. ``operator`` is "+" for ``+=``; ``declares`` is true for const, let, var and imports of names."""

    targets: Nodes
    value: Node | None
    operator: str = ""
    declares: bool = False


@dataclass(slots=True, eq=False)
class Delete(Node):
    """``del`` or ``delete``."""

    targets: Nodes


@dataclass(slots=True, eq=False)
class If(Node):
    """A condition; ``switch`` of JavaScript and ``match`` of Python are one with all cases in ``body``."""

    test: Node
    body: Nodes
    orelse: Nodes = ()


@dataclass(slots=True, eq=False)
class Loop(Node):
    """A loop: over ``iterable`` into ``target``, or while ``test`` holds."""

    target: Node | None
    iterable: Node | None
    test: Node | None
    body: Nodes
    setup: Nodes = ()  # the first and last part of a C-style for


@dataclass(slots=True, eq=False)
class Handler(Node):
    """``except type as name`` or ``catch (name)``."""

    type: Node | None
    name: str | None
    body: Nodes


@dataclass(slots=True, eq=False)
class Try(Node):
    """``try``; ``after`` holds else and finally."""

    body: Nodes
    handlers: tuple[Handler, ...]
    after: Nodes = ()


@dataclass(slots=True, eq=False)
class With(Node):
    """``with items as targets``."""

    items: Nodes
    targets: Nodes
    body: Nodes


@dataclass(slots=True, eq=False)
class Return(Node):
    """``return value``."""

    value: Node | None


@dataclass(slots=True, eq=False)
class Raise(Node):
    """``raise`` or ``throw``."""

    value: Node | None


@dataclass(slots=True, eq=False)
class Outer(Node):
    """``nonlocal`` or ``global``."""

    names: tuple[str, ...]


@dataclass(slots=True, eq=False)
class Import(Node):
    """``names`` pairs what the module calls it with the local name; the former is "*" for the module itself, and
    the latter is "*" when everything is taken over."""

    module: str
    names: tuple[tuple[str, str], ...]
    level: int = 0  # dots of a relative import in Python


@dataclass(slots=True, eq=False)
class Export(Node):
    """``export`` of JavaScript: pairs of the local name and the exported one, from ``module`` if there is one.

    ("*", "*") takes over everything. ``declared`` is what ``export`` stands before.
    """

    names: tuple[tuple[str, str], ...]
    module: str | None = None
    declared: Node | None = None


@dataclass(slots=True, eq=False)
class Other(Node):
    """Anything else."""

    parts: Nodes


def bound_names(pattern: Node) -> Iterator[str]:
    """The names that a pattern of an assignment or a parameter binds."""
    match pattern:
        case Name(id=name):
            yield name
        case Spread(value=value):
            yield from bound_names(value)
        case Items(values=values):
            for value in values:
                yield from bound_names(value)
        case Object(entries=entries):
            for entry in entries:
                yield from bound_names(entry.value)
