"""What the text of a Worker says about its Workflows, without running it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from wrangler_compat.code import nodes
from wrangler_compat.code.classes import Classes, Found
from wrangler_compat.code.files import Files
from wrangler_compat.code.flow import Flow, flows_of
from wrangler_compat.code.module import Module, Place, Problem
from wrangler_compat.code.settings import Declared, read_settings


@dataclass(frozen=True, slots=True)
class WorkflowClass:
    """A class that the main module exports and that derives from WorkflowEntrypoint.

    ``name`` is the exported name, which ``class_name`` or the key in ``exports`` has to be. ``settings`` holds what
    the class sets, as JSON values, in the order in which a configuration is written.
    """

    name: str
    place: Place
    workflow_name: str | None
    settings: Mapping[str, Any]
    places: Mapping[str, Place]
    is_base: bool = False  # other classes derive from it, or it has no run: perhaps it is not meant to be started


class Code:
    """The sources of one Worker, as far as they can be read."""

    def __init__(self, main: Path, root: Path) -> None:
        self._files = Files(main, root)
        self._classes = Classes(self._files)
        self.main = self._files.main
        self._main = self._files.modules[self.main]
        self._exports = self._classes.exports(self._main)
        self._declared = {name: read_settings(each, self._classes) for name, each in self._exports.workflows.items()}

    @property
    def modules(self) -> tuple[Module, ...]:
        """All sources of the project that the main module reaches, the main module first."""
        return tuple(self._files.modules.values())

    @property
    def complete(self) -> bool:
        """Whether no other name of the main module can hold a Workflow class."""
        return self._exports.complete

    @cached_property
    def classes(self) -> tuple[WorkflowClass, ...]:
        """The exported Workflow classes, in the order of the main module."""
        return tuple(
            _workflow(name, each, self._declared[name], self._is_base(each))
            for name, each in self._exports.workflows.items()
        )

    def _is_base(self, found: Found) -> bool:
        return found.node in self._parents or not self._flows_by_class.get(found.node)

    @cached_property
    def _parents(self) -> frozenset[nodes.Node]:
        """The classes that others derive from."""
        return frozenset(
            parent.node
            for module in self.modules
            for node in module.root.walk()
            for base in (node.bases if isinstance(node, nodes.Class) else ())
            for parent in self._classes.classes_of(module, base) or ()
        )

    @cached_property
    def problems(self) -> tuple[Problem, ...]:
        """What is wrong with the sources: files that cannot be read, settings that are not literals."""
        unread = (module.problem for module in self.modules if module.problem is not None)
        settings = (problem for declared in self._declared.values() for problem in declared.problems)
        return (*unread, *settings)

    def get(self, name: str) -> WorkflowClass | None:
        """The exported Workflow class of this name."""
        return next((each for each in self.classes if each.name == name), None)

    def lacks(self, name: str) -> bool:
        """Whether certainly no Workflow class is exported under this name."""
        if name in self._exports.workflows or name in self._exports.unknown:
            return False
        return self.complete or name in self._exports.others

    def is_other(self, name: str) -> Place | None:
        """Where something is that is exported under this name and certainly is no Workflow class."""
        other = self._exports.others.get(name)
        return None if other is None or name in self._exports.workflows else other[0].place(other[1])

    def mentions(self, word: str) -> bool:
        """Whether the sources may use a binding of this name; comments do not count."""
        return word in self._words or self._computes_names or any(not module.readable for module in self.modules)

    @cached_property
    def _words(self) -> frozenset[str]:
        return frozenset(word for module in self.modules for node in module.root.walk() for word in _words(node))

    @cached_property
    def _computes_names(self) -> bool:
        """Whether a binding is somewhere looked up by a name that is made at run time."""
        return any(_is_computed(module, node) for module in self.modules for node in module.root.walk())

    @cached_property
    def _flows_by_class(self) -> dict[nodes.Node, tuple[Flow, ...]]:
        found = (
            Found(module, node)
            for module in self.modules
            for node in module.root.walk()
            if isinstance(node, nodes.Class)
        )
        return {each.node: tuple(flows_of(each, self._classes)) for each in found if self._classes.is_workflow(each)}

    @cached_property
    def flows(self) -> tuple[Flow, ...]:
        """The functions that Workflows run outside their steps, for every Workflow class of the sources.

        One that several classes share is there once.
        """
        once: dict[nodes.Node, Flow] = {}
        for flows in self._flows_by_class.values():
            for flow in flows:
                once.setdefault(flow.function, flow)
        return tuple(once.values())

    def flows_of(self, name: str) -> tuple[Flow, ...]:
        """The flows of one exported class, inherited ones too."""
        owner = self._exports.workflows.get(name)
        return () if owner is None else self._flows_by_class.get(owner.node, ())


def _workflow(name: str, found: Found, declared: Declared, is_base: bool) -> WorkflowClass:
    place = found.module.place(found.node)
    return WorkflowClass(name, place, declared.name, declared.settings, declared.places, is_base)


def _words(node: nodes.Node) -> tuple[str, ...]:
    match node:
        case nodes.Name(id=word) | nodes.Attribute(name=word):
            return (word,)
        case nodes.Literal(value=str() as word):
            return (word,)
        case nodes.Import(names=names) | nodes.Export(names=names):
            return tuple(word for pair in names for word in pair)
        case _:
            return ()


def _is_computed(module: Module, node: nodes.Node) -> bool:
    match node:
        case nodes.Item(value=value, index=index) if not isinstance(index, nodes.Literal):
            return _is_environment(module, value)
        case nodes.Call(callee=nodes.Name(id="getattr"), args=(value, name, *_)) if not isinstance(name, nodes.Literal):
            return _is_environment(module, value)
        case _:
            return False


def _is_environment(module: Module, node: nodes.Node) -> bool:
    chain = module.names.chain(node)
    return chain is not None and chain[-1] in ("env", "param:env")


def read_code(main: Path, root: Path) -> Code:
    """Read the Worker whose main module is ``main``; only files below ``root`` are looked at, and none is run."""
    return Code(main, root)


def step_outline(code: Code) -> dict[str, list[str]]:
    """The steps of each exported class in the order of its text: ``do:charge card``; a computed name is ``*``."""
    return {
        each.name: [f"{step.kind}:{step.label or '*'}" for flow in code.flows_of(each.name) for step in flow.steps]
        for each in code.classes
    }
