"""The rules that bring the exports of one block in line with the classes of the code (R2 to R13 and R20).

They work on plain data: what is to be done comes out as operations, which know nothing of the text either.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from wrangler_compat.code import Code, WorkflowClass
from wrangler_compat.diagnostics import KeyPath, dotted
from wrangler_compat.edits import Carry, Drop, Export, Field, Reshape
from wrangler_compat.reconcile.entries import KNOWN, Bound, Entries
from wrangler_compat.reconcile.names import kebab
from wrangler_compat.reconcile.plan import Plan
from wrangler_compat.reconcile.settings import (
    ORDER,
    absent,
    at,
    changes,
    conflicts,
    filled,
    merged,
    undeclared,
    without,
)
from wrangler_compat.rendering import written


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules at work on one block.

    ``suffix`` is what a new name gets at its end. ``unread`` names the settings of a class that could not be read.
    Where bindings are ``fixed``, the list of them is not touched.
    """

    code: Code
    entries: Entries
    plan: Plan
    unread: Mapping[str, frozenset[str]]
    suffix: str = ""
    fixed: bool = False

    def reconcile(self) -> None:
        """Go through the classes of the code, then through what the configuration has besides."""
        for each in self.code.classes:
            if each.name in self.entries.exports:
                self._present(each, self.entries.exports[each.name])
            else:
                self._absent(each)
        self._strangers()
        self._empty_list()

    def declared_name(self, each: WorkflowClass) -> str:
        """The name that a class has when it was never deployed."""
        return (each.workflow_name or kebab(each.name)) + self.suffix

    # ---------------------------------------------------------------------------------------- the export is there

    def _present(self, each: WorkflowClass, export: Any) -> None:
        path = (*self.entries.path, each.name)
        if not isinstance(export, dict) or export.get("type") != "workflow":
            kind = export.get("type") if isinstance(export, dict) else export
            text = f'"{dotted(path)}" is declared as {written(kind)}, but the code exports a Workflow under this name.'
            self.plan.error("R13", text, path, hint="Rename the class, or mend the entry.", blocks=True)
            return
        other = [bound for bound in self.entries.own(each.name) if bound.name != export.get("name")]
        if other:
            self._two_names(each, [export.get("name"), *(bound.name for bound in other)], other[0].path)
            return
        if each.workflow_name and export.get("name") not in (each.workflow_name, self.declared_name(each)):
            self._keep_name("R6", each, export.get("name"), path)
        current = export
        for bound in self.entries.own(each.name):
            if bound.settings:  # R20: wrangler takes a bare binding beside an export, and code may need it
                current = self._merge(each, bound, path, export)
        self._tell_settings(each, path, current)
        moved = list(absent(current, export))
        wanted = without(merged(current, each.settings), moved)
        if written(wanted) != written(export):
            self.plan.do(Reshape(path, wanted))

    def _merge(self, each: WorkflowClass, bound: Bound, path: KeyPath, export: Mapping[str, Any]) -> dict[str, Any]:
        """Move the settings of a binding into its export; gives the export with them."""
        settings = {key: bound.entry[key] for key in bound.settings}
        for key in conflicts(settings, export):
            source, target = (*bound.path, *key), (*path, *key)
            text = f'"{dotted(source)}" is {written(at(settings, key))}, but "{dotted(target)}" is '
            self.plan.warn("R7c", f"{text}{written(at(export, key))}, which is kept.", source)
        filled_up = filled(export, settings)
        final = merged(filled_up, each.settings)
        moved = list(absent(filled_up, export))
        self.plan.do(*(Carry((*bound.path, *key), (*path, *key), at(final, key)) for key in moved))
        self._release(bound, path, moved)
        return filled_up

    def _release(self, bound: Bound, path: KeyPath, moved: list[KeyPath]) -> None:
        """Let a binding go, or keep it bare where the code uses it."""
        if not self.code.mentions(bound.binding):
            self.plan.info("R7c", f'"{dotted(bound.path)}" goes: "{dotted(path)}" declares this workflow.', bound.path)
            self.plan.do(Drop(bound.path, path))
            return
        text = f'"{dotted(bound.path)}" keeps only its names, because the code uses env.{bound.binding}.'
        self.plan.info("R7e", text, bound.path)
        self.plan.do(*(Drop((*bound.path, key), path) for key in bound.settings if (key,) not in moved))

    # -------------------------------------------------------------------------------------------- the export is missing

    def _absent(self, each: WorkflowClass) -> None:
        path = (*self.entries.path, each.name)
        bindings = self.entries.own(each.name)
        if len(bindings) > 1:
            self._two_names(each, [bound.name for bound in bindings], bindings[1].path)
        elif bindings:
            self._move(each, bindings[0], path)
        else:
            name = self.declared_name(each)
            self.plan.info("R2", f'{each.name} becomes the Workflow "{name}".', path)
            self.plan.do(Export(path, (*_head(name), *_fields(merged({}, each.settings)))))

    def _move(self, each: WorkflowClass, bound: Bound, path: KeyPath) -> None:
        bare = self.fixed or self.code.mentions(bound.binding)
        wanted = merged({key: bound.entry[key] for key in bound.settings}, each.settings)
        name = Field("name", bound.name, None if bare else (*bound.path, "name"))
        fields = [Field("type", "workflow"), name, *_fields(wanted, bound)]
        if bare and not bound.settings:
            self.plan.info(
                "R7e", f'"{dotted(path)}" declares what "{dotted(bound.path)}" binds, which stays.', bound.path
            )
        elif bare:
            text = f'"{dotted(path)}" takes the settings of "{dotted(bound.path)}"; the code uses env.{bound.binding}.'
            self.plan.info("R7e", text, bound.path)
        else:
            fields += [Field(key, bound.entry[key], (*bound.path, key)) for key in bound.entry if key not in KNOWN]
            self.plan.info("R7", f'"{dotted(bound.path)}" moves to "{dotted(path)}".', bound.path)
        self.plan.do(Export(path, tuple(fields), None if bare else bound.path))
        if bound.name != self.declared_name(each):
            self._keep_name("R7b", each, bound.name, bound.path)
        self._tell_settings(each, path, {key: bound.entry[key] for key in bound.settings}, bound.path)

    # ----------------------------------------------------------------------------------------------------- what is told

    def _keep_name(self, rule: str, each: WorkflowClass, name: Any, path: KeyPath) -> None:
        declared = self.declared_name(each)
        text = f'{each.name} keeps its deployed name {written(name)}; "{declared}" is not applied.'
        if each.workflow_name:
            hint = "Instances live under the deployed name. Give the class this workflow_name, or rename by hand."
            self.plan.warn(rule, text, path, hint)
        else:
            self.plan.info(rule, text, path)

    def _two_names(self, each: WorkflowClass, names: list[Any], path: KeyPath) -> None:
        listed = " and ".join(written(name) for name in names)
        hint = "Keep the one under which instances live, and remove the other by hand."
        self.plan.error("R7d", f"{each.name} has more than one entry: {listed}. Nothing is done.", path, hint=hint)

    def _tell_settings(
        self, each: WorkflowClass, path: KeyPath, current: Mapping[str, Any], at: KeyPath | None = None
    ) -> None:
        for key, old, new in changes(current, each.settings):
            place = dotted((*path, *key))
            told = (
                f'"{place}" is added: {written(new)}' if old is None else f'"{place}": {written(old)} -> {written(new)}'
            )
            self.plan.info("R4", told, (*(at or path), *key))
        for key in undeclared(current, each.settings):
            if key[0] not in self.unread.get(each.name, ()):
                text = f'"{dotted((*path, *key))}" is in the configuration only, and stays.'
                hint = "Delete it by hand if you have removed it from the code."
                self.plan.warn("R5", text, (*(at or path), *key), hint)

    def _strangers(self) -> None:
        known = {each.name for each in self.code.classes}
        for bound in self.entries.workflows:
            class_name = bound.entry.get("class_name")
            if self.entries.is_own(bound) and class_name not in known and self.code.lacks(str(class_name)):
                text = f'"{dotted(bound.path)}" is of the class {class_name}, which the code does not export; it stays.'
                self.plan.info("R9", text, bound.path)
        for key, export in self.entries.exports.items():
            is_workflow = isinstance(export, dict) and export.get("type") == "workflow"
            if is_workflow and key not in known and self.code.lacks(key):
                path = (*self.entries.path, key)
                text = f'"{dotted(path)}" stays, but the code exports no Workflow {key}: the Worker would not start.'
                self.plan.warn("R12", text, path, "Remove the entry by hand when the workflow is no longer wanted.")

    def _empty_list(self) -> None:
        listed = [bound.path for bound in self.entries.workflows]
        gone = {
            operation.path if isinstance(operation, Drop) else operation.item
            for operation in self.plan.operations
            if isinstance(operation, Drop | Export)
        }
        if listed and gone.issuperset(listed):
            path = (*self.entries.base, "workflows")
            self.plan.info("R11", f'"{dotted(path)}" would be empty, and goes.', path)
            self.plan.do(Drop(path, self.entries.path))


def _head(name: str) -> tuple[Field, Field]:
    return Field("type", "workflow"), Field("name", name)


def _fields(settings: Mapping[str, Any], bound: Bound | None = None) -> list[Field]:
    """The settings in the order in which they are written; those of a binding move."""
    return [
        Field(key, settings[key], (*bound.path, key) if bound and key in bound.entry else None)
        for key in ORDER
        if key in settings
    ]
