"""Writes sleeping instances straight into a state folder, as creating 100,000 of them would take minutes.

One instance is created the ordinary way and put to sleep by the host. Its journal and its catalog row are then copied
under new ids: a row for every instance, and a journal file, as real as the first, for as many as is reasonable. The
rows without a file stand for instances that nobody looks at; start-up reads no journal of an instance that sleeps.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from runtime.engine import decode, encode
from runtime.engine.events import Created
from runtime.store import Key, Line, Store

TEMPLATE = "template"
WORKFLOW = "sleeper"


def name(number: int) -> str:
    """The id of a fabricated instance."""
    return f"fabricated{number}"


async def sleepers(state: Path, rows: int, files: int) -> None:
    """Add ``rows`` sleeping instances, of which the first ``files`` have a journal, to a folder nobody uses."""
    store = await Store.open(state)
    try:
        await _add(store, rows, files)
    finally:
        await store.close()


async def _add(store: Store, rows: int, files: int) -> None:
    row = await store.catalog.get(Key(WORKFLOW, TEMPLATE))
    assert row is not None and row.status == "waiting" and not row.dirty, row
    journal = await store.journals.open(row.key)
    lines = await journal.read()
    store.journals.release(journal)
    for i in range(files):
        key = Key(WORKFLOW, name(i))
        await store.journals.create(key, _renamed(lines, key.id), created=row.created, class_name=row.class_name)
    await store.catalog.restore(
        [msgspec.structs.replace(row, position=row.position + 1 + i, id=name(i)) for i in range(rows)]
    )


def _renamed(lines: list[Line], id: str) -> list[Line]:
    created = decode(lines[0].data)
    assert isinstance(created, Created)
    return [lines[0]._replace(data=encode(msgspec.structs.replace(created, instance=id))), *lines[1:]]
