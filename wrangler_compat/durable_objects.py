"""Durable Objects: the classes that ``migrations`` or ``exports`` leave a Worker with, and the bindings to them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from wrangler_compat.diagnostics import Diagnostics
from wrangler_compat.environments import Resolved
from wrangler_compat.reading import entries, table, text, texts

_LIVE = (None, "created", "expecting-transfer")  # states of an export
_CREATING = ("new_classes", "new_sqlite_classes")


@dataclass(frozen=True, slots=True)
class DurableObjectClass:
    """A class of this Worker.

    ``key`` names its storage: the name that the class was created under, so that a rename keeps the data, and a class
    that is created again after its deletion begins with none. ``declared`` is false for one that is only bound.
    """

    name: str
    key: str
    sqlite: bool
    declared: bool = True


@dataclass(frozen=True, slots=True)
class DurableObjectBinding:
    """A name on ``env``. ``script_name`` is only kept when the class lives in another Worker."""

    binding: str
    class_name: str
    script_name: str | None = None


@dataclass(frozen=True, slots=True)
class DurableObjects:
    """All that a configuration says about Durable Objects."""

    classes: tuple[DurableObjectClass, ...]
    bindings: tuple[DurableObjectBinding, ...]

    def own(self, name: str) -> DurableObjectClass | None:
        """The class of that name, if it is this Worker's."""
        return next((each for each in self.classes if each.name == name), None)


def read_durable_objects(data: Mapping[str, Any], worker: str) -> DurableObjects:
    """What the configuration of ``worker`` declares and binds."""
    bindings = tuple(_bindings(data, worker))
    classes = _migrated(data) | _exported(data)
    for bound in bindings:
        if bound.script_name is None and bound.class_name not in classes:
            classes[bound.class_name] = DurableObjectClass(bound.class_name, bound.class_name, False, declared=False)
    return DurableObjects(tuple(classes.values()), bindings)


def check_classes(resolved: Resolved, found: Diagnostics) -> None:
    """Migrations that do not fit the ones before, in the words with which `wrangler dev` refuses them."""
    known: set[str] = set()
    path = resolved.path_of("migrations")
    for number, step in enumerate(entries(resolved.data, "migrations")):
        for change in _changes(step):
            place = (*path, number, change.kind)
            if change.before is not None and change.before not in known:
                problem = f"Cannot apply {change.kind} migration to non-existent class {change.before}"
                found.error("migration", problem, place, "An earlier migration must create it.", "dev")
            elif change.before is None and change.after in known and change.kind in _CREATING:
                problem = f"Cannot apply {change.kind} migration to existing class {change.after}"
                found.error("migration", problem, place, "Create each class once.", "dev")
            known.discard(change.before or "")
            known.update(filter(None, [change.after]))


def _bindings(data: Mapping[str, Any], worker: str) -> Iterator[DurableObjectBinding]:
    for entry in entries(table(data, "durable_objects"), "bindings"):
        name, class_name, script = text(entry, "name"), text(entry, "class_name"), text(entry, "script_name")
        if name and class_name:
            yield DurableObjectBinding(name, class_name, script if script != worker else None)


@dataclass(frozen=True, slots=True)
class _Change:
    """What one line of a migration does: a class that was there before, and the one that is there after it."""

    kind: str
    before: str | None
    after: str | None


def _changes(step: Mapping[str, Any]) -> Iterator[_Change]:
    """The changes of a migration, in the order in which wrangler makes them."""
    for name in texts(step, "deleted_classes"):
        yield _Change("deleted_classes", name, None)
    for rename in entries(step, "renamed_classes"):
        if (before := text(rename, "from")) and (after := text(rename, "to")):
            yield _Change("renamed_classes", before, after)
    for kind in _CREATING:
        yield from (_Change(kind, None, name) for name in texts(step, kind))
    # What comes from another Worker begins empty here: only a deployment can move objects.
    for transfer in entries(step, "transferred_classes"):
        yield _Change("transferred_classes", None, text(transfer, "to"))


def _migrated(data: Mapping[str, Any]) -> dict[str, DurableObjectClass]:
    """The classes after all migrations."""
    classes: dict[str, DurableObjectClass] = {}
    generations: Counter[str] = Counter()
    for change in (change for step in entries(data, "migrations") for change in _changes(step)):
        earlier = classes.pop(change.before, None) if change.before else None
        if change.after is None:
            continue
        if earlier is not None:
            classes[change.after] = replace(earlier, name=change.after)
        elif change.before is None:
            generations[change.after] += 1
            classes[change.after] = _created(change.after, change.kind, generations[change.after])
    return classes


def _created(name: str, kind: str, generation: int) -> DurableObjectClass:
    key = name if generation == 1 else f"{name}.{generation}"
    return DurableObjectClass(name, key, sqlite=kind != "new_classes")


def _exported(data: Mapping[str, Any]) -> dict[str, DurableObjectClass]:
    exports = table(data, "exports")
    objects = {name: each for name, each in exports.items() if isinstance(each, dict)}
    objects = {name: each for name, each in objects.items() if each.get("type") == "durable-object"}
    before = {each.get("renamed_to"): name for name, each in objects.items() if each.get("state") == "renamed"}
    return {
        name: DurableObjectClass(name, _first_name(name, before), each.get("storage") == "sqlite")
        for name, each in objects.items()
        if each.get("state") in _LIVE
    }


def _first_name(name: str, before: Mapping[Any, str]) -> str:
    """Follow renames back; a circle of them ends where it began."""
    seen = {name}
    while (earlier := before.get(name)) is not None and earlier not in seen:
        seen.add(earlier)
        name = earlier
    return name
