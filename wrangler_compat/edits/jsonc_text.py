"""Does operations to a JSONC text, touching only the bytes that they need."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from wrangler_compat.diagnostics import KeyPath
from wrangler_compat.edits.layout import BREAK, Slot, comments_within, layout
from wrangler_compat.edits.operations import Carry, Drop, Export, Field, Operation, Reshape
from wrangler_compat.edits.pieces import Piece, block, one_line
from wrangler_compat.edits.rows import Change, Row
from wrangler_compat.edits.splices import Splice, ordered, spliced
from wrangler_compat.edits.style import style_of
from wrangler_compat.jsonc import ArrayNode, Document, Node, ObjectNode, Span, plain
from wrangler_compat.rendering import written

_LONG = 100  # columns; a new entry that would be longer is opened up


def jsonc_splices(document: Document, operations: Iterable[Operation]) -> tuple[Splice, ...]:
    """The splices that do the operations. No key of the text may be repeated: paths would be ambiguous."""
    draft = _Draft(document)
    for operation in operations:
        draft.do(operation)
    return draft.splices()


class _Draft:
    def __init__(self, document: Document) -> None:
        self._document = document
        self._text = document.text
        self._style = style_of(document)
        root = document.root
        self._trailing = isinstance(root, ObjectNode) and layout(document, root).trailing_comma
        self._changes: dict[KeyPath, Change] = {}
        self._replaced: list[Splice] = []
        self._maps: dict[KeyPath, list[tuple[str, Piece]]] = {}  # maps of exports that are to be made
        self._above: dict[KeyPath, list[str]] = {}  # comments for members that are to be made
        self._taken: set[Span] = set()  # comments that have found a new place

    def do(self, operation: Operation) -> None:
        match operation:
            case Reshape(path, value):
                self._reshape(path, self._node(path), value)
            case Export():
                self._export(operation)
            case Carry(source, target, value):
                self._change(target[:-1]).added.append(self._moved(source, str(target[-1]), value))
                self._remove(source)
            case Drop(path, above):
                slot = self._slot(path)
                self._put_above(above, self._take(comments_within(self._document, slot.first, slot.last)))
                self._remove(path)

    def splices(self) -> tuple[Splice, ...]:
        for path, members in self._maps.items():
            self._make_map(path, members)
        removed = {(*path, key) for path, change in self._changes.items() for key in self._keys(path, change.removed)}
        result = list(self._replaced)
        for path, change in self._changes.items():
            if not any(path[: len(gone)] == gone for gone in removed):
                result += self._row(path).splices(change)
        return ordered(result)

    # ------------------------------------------------------------------------------------------------- values in place

    def _reshape(self, path: KeyPath, node: Node, value: Any) -> None:
        if written(plain(node)) == written(value):
            return
        if isinstance(node, ObjectNode) and isinstance(value, dict):
            for key, wanted in value.items():
                below = node.get(key)
                if below is None:
                    self._change(path).added.append(Piece(self._style.key(key) + self._style.value(wanted)))
                else:
                    self._reshape((*path, key), below, wanted)
        elif isinstance(node, ArrayNode) and isinstance(value, list) and value and node.items:
            self._reshape_list(path, node, value)
        else:
            self._replace(path, node, value)

    def _replace(self, path: KeyPath, node: Node, value: Any) -> None:
        self._put_above(path, self._take(comments_within(self._document, node.span.start, node.span.end)))
        self._replaced.append(Splice(node.span.start, node.span.end, self._style.value(value)))

    def _reshape_list(self, path: KeyPath, node: ArrayNode, value: list[Any]) -> None:
        """Items that stay keep their place and their comments."""
        old, new = [written(item) for item in plain(node)], [written(item) for item in value]
        kept = list(range(len(old))) if len(old) == len(new) else _kept(old, new)
        if not kept:
            self._replace(path, node, value)
            return
        for index, item in zip(kept, value, strict=False):
            self._reshape((*path, index), node.items[index].value, item)
        change = self._change(path)
        for index in sorted(set(range(len(old))) - set(kept)):
            slot = self._slot((*path, index))
            self._put_above(path, self._take(comments_within(self._document, slot.first, slot.last)))
            change.removed.add(index)
        change.added += [Piece(self._style.value(item)) for item in value[len(kept) :]]

    # ---------------------------------------------------------------------------------------------------- new entries

    def _export(self, operation: Export) -> None:
        pieces = [self._field(field) for field in operation.fields]
        if operation.item is None:
            for field in operation.fields:
                if field.source:
                    self._remove(field.source)
        lead, tail = self._item_comments(operation.item)
        key, parent = str(operation.path[-1]), operation.path[:-1]
        entry = Piece(self._style.key(key) + self._entry(operation, pieces), lead, tail)
        if isinstance(self._document.find(parent), ObjectNode):
            self._change(parent).added.append(entry)
        else:
            self._maps.setdefault(parent, []).append((key, entry))
        if operation.item is not None:
            self._remove(operation.item)

    def _field(self, field: Field) -> Piece:
        if field.source is None:
            return Piece(self._style.key(field.key) + self._style.value(field.value))
        return self._moved(field.source, field.key, field.value)

    def _item_comments(self, item: KeyPath | None) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Comments of a dissolved entry: those above it and of what it loses, and those behind it."""
        if item is None:
            return (), ()
        slot = self._slot(item)
        lead, tail = self._take(slot.lead), self._take(slot.tail)
        lost = self._take(comments_within(self._document, slot.start, slot.end))
        return (*lead, *lost), tuple(tail)

    def _entry(self, operation: Export, pieces: Sequence[Piece]) -> str:
        indent = self._entry_indent(operation.path[:-1])
        opened = self._opened(operation)
        if indent is None:
            return one_line(pieces, self._style)
        inline = one_line(pieces, self._style)
        if opened is None:
            opened = len(indent) + len(inline) > _LONG
        if opened or any(piece.ends_line for piece in pieces):
            return block(pieces, indent, self._trailing, self._style)
        return inline

    def _opened(self, operation: Export) -> bool | None:
        """Whether the entry is written over several lines, as its like are; None when there is no example."""
        base = operation.path[:-2]
        examples = [operation.item] if operation.item else []
        examples += self._members(operation.path[:-1]) + self._items((*base, "workflows"))
        examples += self._members(("exports",)) + self._items(("workflows",))
        for path in examples:
            node = self._document.find(path)
            if isinstance(node, ObjectNode) and node.members:
                return bool(BREAK.search(self._text, node.span.start, node.members[0].key_span.start))
        return None

    def _members(self, path: KeyPath) -> list[KeyPath]:
        node = self._document.find(path)
        return [(*path, member.key) for member in reversed(node.members)] if isinstance(node, ObjectNode) else []

    def _items(self, path: KeyPath) -> list[KeyPath]:
        node = self._document.find(path)
        return [(*path, index) for index in reversed(range(len(node.items)))] if isinstance(node, ArrayNode) else []

    def _entry_indent(self, parent: KeyPath) -> str | None:
        """The indentation of entries in a map that exists or will; None where all stands on one line."""
        node = self._document.find(parent)
        if isinstance(node, ObjectNode):
            if node.members and not BREAK.search(self._text, node.span.start, node.span.end):
                return None
            return self._row(parent).indent()
        outer = self._map_indent(parent)
        return None if outer is None else outer + self._style.indent

    def _map_indent(self, path: KeyPath) -> str | None:
        parent = self._node(path[:-1])
        return self._row(path[:-1]).indent() if BREAK.search(self._text, parent.span.start, parent.span.end) else None

    def _make_map(self, path: KeyPath, members: Sequence[tuple[str, Piece]]) -> None:
        pieces = [piece.under(self._above.pop((*path, key), [])) for key, piece in members]
        indent = self._map_indent(path)
        style = self._style
        text = one_line(pieces, style) if indent is None else block(pieces, indent, self._trailing, style)
        node = self._document.find(path)
        if node is not None:  # `"exports": null` counts as none
            self._replaced.append(Splice(node.span.start, node.span.end, text))
        else:
            piece = Piece(self._style.key(str(path[-1])) + text).under(self._above.pop(path, []))
            self._change(path[:-1]).added.append(piece)

    # -------------------------------------------------------------------------------------------------- moved members

    def _moved(self, source: KeyPath, key: str, value: Any) -> Piece:
        """The member at ``source`` as it stands, its value brought to ``value``."""
        assert key == source[-1], "a member keeps its key"
        slot = self._slot(source)
        inner = _Draft(self._document)
        inner._reshape(source, self._node(source), value)
        shifted = [Splice(s.start - slot.start, s.end - slot.start, s.text) for s in inner.splices()]
        lead, tail = self._take(slot.lead), self._take(slot.tail)
        self._take(comments_within(self._document, slot.start, slot.end))
        return Piece(spliced(self._text[slot.start : slot.end], shifted), tuple(lead), tuple(tail))

    def _take(self, comments: Iterable[Span]) -> list[str]:
        fresh = [span for span in comments if span not in self._taken]
        self._taken.update(fresh)
        return [self._text[span.start : span.end] for span in fresh]

    def _put_above(self, path: KeyPath, comments: list[str]) -> None:
        if not comments:
            return
        if self._document.find(path) is None:
            self._above.setdefault(path, []).extend(comments)
        else:
            self._change(path[:-1]).above.setdefault(self._index(path), []).extend(comments)

    def _remove(self, path: KeyPath) -> None:
        self._change(path[:-1]).removed.add(self._index(path))

    # ---------------------------------------------------------------------------------------------------------- places

    def _change(self, path: KeyPath) -> Change:
        return self._changes.setdefault(path, Change())

    def _node(self, path: KeyPath) -> Node:
        node = self._document.find(path)
        assert node is not None, f"nothing stands at {path}"
        return node

    def _row(self, path: KeyPath) -> Row:
        node = self._node(path)
        assert isinstance(node, ObjectNode | ArrayNode)
        return Row(self._text, layout(self._document, node), self._style, self._trailing)

    def _slot(self, path: KeyPath) -> Slot:
        return self._row(path[:-1]).layout.slots[self._index(path)]

    def _index(self, path: KeyPath) -> int:
        part = path[-1]
        if isinstance(part, int):
            return part
        node = self._node(path[:-1])
        assert isinstance(node, ObjectNode)
        return next(index for index, member in enumerate(node.members) if member.key == part)

    def _keys(self, path: KeyPath, indexes: Iterable[int]) -> list[str | int]:
        node = self._node(path)
        return [node.members[index].key if isinstance(node, ObjectNode) else index for index in indexes]


def _kept(old: list[str], new: list[str]) -> list[int]:
    """Where the first items of ``new`` stand in ``old``, in order, as far as they do."""
    found: list[int] = []
    for item in new:
        start = found[-1] + 1 if found else 0
        if item not in old[start:]:
            break
        found.append(old.index(item, start))
    return found
