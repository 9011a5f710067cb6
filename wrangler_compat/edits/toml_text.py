"""Does operations to a TOML text.

A ``[[workflows]]`` table that becomes an export stays where it is: its header is rewritten, and so are those of the
tables below it. Tables that are written inline are not edited.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from wrangler_compat.diagnostics import KeyPath, dotted
from wrangler_compat.edits.errors import CannotEdit
from wrangler_compat.edits.layout import BREAK
from wrangler_compat.edits.operations import Carry, Drop, Export, Operation, Reshape
from wrangler_compat.edits.splices import Splice, ordered
from wrangler_compat.edits.style import line_start
from wrangler_compat.edits.toml_scan import Pair, Scan, Table
from wrangler_compat.jsonc import ObjectNode, Span

_BARE = re.compile(r"[A-Za-z0-9_-]+")


def toml_splices(text: str, scan: Scan, operations: Iterable[Operation]) -> tuple[Splice, ...]:
    """The splices that do the operations; raises `CannotEdit` for forms of TOML that are not edited."""
    draft = _Draft(text, scan)
    for operation in operations:
        draft.do(operation)
    return ordered(draft.outermost())


def toml_value(value: Any) -> str:
    """A value on one line."""
    if isinstance(value, dict):
        inner = ", ".join(f"{_key(key)} = {toml_value(item)}" for key, item in value.items() if item is not None)
        return f"{{ {inner} }}" if inner else "{}"
    if isinstance(value, list):
        return f"[{', '.join(map(toml_value, value))}]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else json.dumps(key, ensure_ascii=False)


class _Draft:
    def __init__(self, text: str, scan: Scan) -> None:
        self.text = text
        self.scan = scan
        self.splices: list[Splice] = []
        self._tables: list[Splice] = []  # new ones
        self._moved: set[int] = set()  # where headers and comments stand that have found a new place
        found = BREAK.search(text)
        self._newline = found.group() if found else "\n"

    def do(self, operation: Operation) -> None:
        match operation:
            case Export(path, item=None) if any(field.source for field in operation.fields):
                self._split(operation)
            case Export(path, item=None):
                self._append(self._last_like(path[:-1]), [self._header(path), *self._rows(operation.value)])
            case Export():
                self._rename(operation)
            case Reshape(path, value):
                self._reshape(path, value)
            case Carry(source, target, value):
                self._carry(source, target, value)
            case Drop(path, above) if isinstance(path[-1], int):
                self._drop_item(path, above)
            case Drop(path, above):
                self._drop_key(path, above)

    def outermost(self) -> list[Splice]:
        """The splices without those inside of a removal; at one place, rows of a table come before a new table."""
        removals = [splice for splice in self.splices if not splice.text]
        outermost = [
            splice
            for splice in self.splices
            if not any(r.start <= splice.start and splice.end <= r.end and r is not splice for r in removals)
            or splice.text
        ]
        return outermost + self._tables

    # ------------------------------------------------------------------------------------------------------ new exports

    def _rename(self, operation: Export) -> None:
        """A table of the list becomes the export, where it stands."""
        item = operation.item
        assert item is not None
        table = self._table(item)
        assert table.header is not None
        kept = {field.key for field in operation.fields}
        above = []
        for pair in table.pairs:
            if pair.path[len(item)] not in kept:
                above += self._remove_pair(pair)
        comments = "".join(comment + self._newline for comment in above)
        self.splices.append(Splice(table.header.start, table.header.end, comments + self._header(operation.path)))
        self._insert_after(table.header.end, ['type = "workflow"'])
        self._rename_below(item, operation.path)
        fresh = {field.key: field.value for field in operation.fields[1:] if field.source is None}
        self._add_rows(table, self._rows(fresh))
        for field in operation.fields:
            if field.source is not None:
                self._reshape(field.source, field.value)

    def _split(self, operation: Export) -> None:
        """Settings leave a binding for a new table behind it."""
        rows = [self._header(operation.path)]
        item: KeyPath = ()
        for field in operation.fields:
            if field.source is None:
                rows += self._rows({field.key: field.value})
                continue
            item = field.source[:-1]
            if below := [table for table in self.scan.tables if table.path == field.source]:
                self._retitle(below[0], (*operation.path, field.key))
                self._reshape(field.source, field.value)
            else:
                rows += self._lifted(field.source, field.value)
        self._append(self._last_under(item), rows)

    def _carry(self, source: KeyPath, target: KeyPath, value: Any) -> None:
        below = [table for table in self.scan.tables if table.path == source]
        if below:
            self._retitle(below[0], target)
            self._reshape(source, value)
        else:
            self._add_rows(self._table(target[:-1]), self._lifted(source, value))

    def _lifted(self, source: KeyPath, value: Any) -> list[str]:
        """The line of a setting taken out of its table, with its comments."""
        pair = self._pair(source)
        if pair is None or pair.path != source:
            raise CannotEdit(f'"{dotted(source)}" is written in a way that is not moved')
        lead, tail = self._comments_of(pair)
        self._remove_pair(pair)
        kept = self.text[pair.key.start : pair.value.span.end]
        if self._differs(pair, value):
            kept = f"{_key(str(source[-1]))} = {toml_value(value)}"
        return [*lead, " ".join([kept, *tail])]

    def _differs(self, pair: Pair, value: Any) -> bool:
        import tomllib

        span = pair.value.span
        return bool(tomllib.loads(f"v = {self.text[span.start : span.end]}")["v"] != value)

    # ------------------------------------------------------------------------------------------------- values in place

    def _reshape(self, path: KeyPath, value: Any) -> None:
        pair = self._pair(path)
        if pair is not None and pair.path == path:
            self._reshape_pair(pair, value)
            return
        if not isinstance(value, dict):
            raise CannotEdit(f'"{dotted(path)}" is written in a way that is not edited')
        for key, item in value.items():
            if self._exists((*path, key)):
                self._reshape((*path, key), item)
            elif item is not None:
                self._add_key((*path, key), item)

    def _add_key(self, path: KeyPath, value: Any) -> None:
        """A new key in a table, or beside the dotted keys that make one."""
        table = next((table for table in self.scan.tables if table.path == path[:-1]), None)
        if table is not None:
            self._add_rows(table, self._rows({str(path[-1]): value}))
            return
        beside = [(t, pair) for t in self.scan.tables for pair in t.pairs if pair.path[: len(path) - 1] == path[:-1]]
        if not beside:
            raise CannotEdit(f'"{dotted(path[:-1])}" is not written as a table')
        owner, last = beside[-1]
        key = ".".join(_key(str(part)) for part in path[len(owner.path) :])
        self._insert_after(last.value.span.end, [f"{key} = {toml_value(value)}"])

    def _reshape_pair(self, pair: Pair, value: Any) -> None:
        if not self._differs(pair, value):
            return
        node = pair.value
        if isinstance(node, ObjectNode) and isinstance(value, dict):
            known = {member.key: member for member in node.members}
            for key, member in known.items():
                self._reshape_pair(Pair((*pair.path, key), member.key_span, member.value), value[key])
            added = [f"{_key(key)} = {toml_value(item)}" for key, item in value.items() if key not in known]
            if added and node.members:
                end = node.members[-1].value.span.end
                self.splices.append(Splice(end, end, "".join(f", {row}" for row in added)))
                return
            if not added:
                return
        self.splices.append(Splice(node.span.start, node.span.end, toml_value(value)))

    def _exists(self, path: KeyPath) -> bool:
        return any(
            place[: len(path)] == path
            for table in self.scan.tables
            for place in (table.path, *(pair.path for pair in table.pairs))
        )

    # ---------------------------------------------------------------------------------------------------------- removal

    def _drop_item(self, path: KeyPath, above: KeyPath) -> None:
        comments: list[str] = []
        for table in self._under(path):
            assert table.header is not None
            if table.header.start in self._moved:
                continue
            start, end = self._owned(Span(table.header.start, table.end))
            inside = [s for s in self.scan.comments if start <= s.start < end and s.start not in self._moved]
            comments += [self.text[s.start : s.end] for s in inside]
            self.splices.append(Splice(start, end, ""))
        self._put_above(above, comments)

    def _drop_key(self, path: KeyPath, above: KeyPath) -> None:
        if path[-1] == "workflows":  # the last of its tables is gone, and with it the list
            if self._pair(path) is not None:
                raise CannotEdit(f'"{dotted(path)}" is written inline')
            return
        if any(table.path == path for table in self.scan.tables):
            self._drop_item(path, above)
        elif pair := self._pair(path):
            self._put_above(above, self._remove_pair(pair))

    def _remove_pair(self, pair: Pair) -> list[str]:
        """Take a pair's lines out; gives its comments."""
        lead, tail = self._comments_of(pair)
        start, end = self._owned(Span(pair.key.start, pair.value.span.end))
        self.splices.append(Splice(start, end, ""))
        return [*lead, *tail]

    def _put_above(self, path: KeyPath, comments: Sequence[str]) -> None:
        header = self._table(path).header
        assert header is not None
        rows = "".join(comment + self._newline for comment in comments)
        if rows:
            self.splices.append(Splice(header.start, header.start, rows))

    def _comments_of(self, pair: Pair) -> tuple[list[str], list[str]]:
        start, end = self._owned(Span(pair.key.start, pair.value.span.end))
        inside = [s for s in self.scan.comments if start <= s.start < end]
        self._moved.update(s.start for s in inside)
        lead = [self.text[s.start : s.end] for s in inside if s.start < pair.key.start]
        return lead, [self.text[s.start : s.end] for s in inside if s.start >= pair.value.span.end]

    def _owned(self, span: Span) -> tuple[int, int]:
        """The lines of a stretch, with the comment lines straight above it."""
        start = line_start(self.text, span.start)
        for comment in reversed(self.scan.comments):
            if comment.end <= start and not self.text[comment.end : start].strip(" \t\r\n"):
                begin = line_start(self.text, comment.start)
                one_break = BREAK.sub("\n", self.text[comment.end : start]).count("\n") == 1
                if not one_break or self.text[begin : comment.start].strip(" \t\ufeff"):
                    break
                start = begin
        end = BREAK.search(self.text, span.end)
        return start, end.end() if end else len(self.text)

    # ----------------------------------------------------------------------------------------------------------- places

    def _rename_below(self, item: KeyPath, path: KeyPath) -> None:
        for table in self._under(item)[1:]:
            self._retitle(table, (*path, *table.path[len(item) :]))

    def _retitle(self, table: Table, path: KeyPath) -> None:
        assert table.header is not None
        self._moved.add(table.header.start)
        self.splices.append(Splice(table.header.start, table.header.end, self._header(path)))

    def _header(self, path: KeyPath) -> str:
        return f"[{'.'.join(_key(str(part)) for part in path)}]"

    def _rows(self, values: dict[str, Any]) -> list[str]:
        return [f"{_key(key)} = {toml_value(value)}" for key, value in values.items() if value is not None]

    def _add_rows(self, table: Table, rows: Sequence[str]) -> None:
        self._insert_after(table.end, rows)

    def _insert_after(self, at: int, rows: Sequence[str]) -> None:
        """Put rows below the line on which ``at`` is."""
        end = BREAK.search(self.text, at)
        place = end.end() if end else len(self.text)
        text = "".join(row + self._newline for row in rows)
        if text:
            self.splices.append(Splice(place, place, text if end else self._newline + text))

    def _append(self, after: Table | None, rows: Sequence[str]) -> None:
        """Put a new table behind another one, or at the end of the text."""
        line_end = BREAK.search(self.text, after.end) if after is not None else None
        place = line_end.end() if line_end else len(self.text)
        begun = self.text[:place].endswith(("\n", "\r"))
        lead = "" if not self.text[:place].strip() else self._newline if begun else 2 * self._newline
        self._tables.append(Splice(place, place, lead + self._newline.join(rows) + self._newline))

    def _last_like(self, path: KeyPath) -> Table | None:
        """The last table of the same map, or nothing."""
        tables = self._under(path)
        if not tables and self._exists(path) and path:
            raise CannotEdit(f'"{dotted(path)}" is written inline')
        return tables[-1] if tables else None

    def _last_under(self, path: KeyPath) -> Table:
        return self._under(path)[-1]

    def _under(self, path: KeyPath) -> list[Table]:
        return [table for table in self.scan.tables if table.header and table.path[: len(path)] == path]

    def _table(self, path: KeyPath) -> Table:
        found = next((table for table in self.scan.tables if table.path == path and table.header), None)
        if found is None:
            raise CannotEdit(f'"{dotted(path)}" is not written as a table')
        return found

    def _pair(self, path: KeyPath) -> Pair | None:
        return next((pair for pair in self._pairs() if path[: len(pair.path)] == pair.path), None)

    def _pairs(self) -> Iterator[Pair]:
        return (pair for table in self.scan.tables for pair in table.pairs)
