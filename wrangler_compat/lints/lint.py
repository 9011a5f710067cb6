"""What a lint is: a code, why it matters, how to mend it, how to find it, and examples.

The examples of a lint are its documentation and its tests.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from wrangler_compat.code import Code, Flow, Module, Place, nodes
from wrangler_compat.diagnostics import Diagnostics, KeyPath
from wrangler_compat.environments import Resolved, resolve
from wrangler_compat.project import Project
from wrangler_compat.source import Source
from wrangler_compat.unserved import binding_names

Level = Literal["error", "warning", "note"]
Target = Literal["cloudflare", "celld"]


@dataclass(frozen=True, slots=True)
class Insertion:
    """A mechanical mend: text that goes in at a byte of what was parsed."""

    module: Module
    offset: int
    text: str


@dataclass(frozen=True, slots=True)
class Hit:
    """One place where a lint has something to say. ``level`` is for a case that weighs more than the lint's usual."""

    message: str
    place: Place | None
    level: Level | None = None
    mend: Insertion | None = None


@dataclass(frozen=True)
class Subject:
    """What the lints look at: a project in one environment, its sources, and where it will be deployed."""

    project: Project
    source: Source
    code: Code
    target: Target

    @property
    def flows(self) -> tuple[Flow, ...]:
        """The code of all Workflows."""
        return self.code.flows

    def place(self, path: KeyPath) -> Place:
        """Where the configuration says something."""
        found = self.source.locate(path)
        return Place(self.source.path, found.line, found.column) if found else Place(self.source.path, 1, 1)

    @cached_property
    def resolved(self) -> Resolved:
        """The configuration of the environment."""
        return resolve(self.source.data, self.project.environment, Diagnostics(self.source.path))

    @cached_property
    def bindings(self) -> Mapping[str, str]:
        """What ``env`` offers, with the kind of each."""
        return dict(binding_names(self.resolved))


Check = Callable[[Subject], Iterator[Hit]]


@dataclass(frozen=True, slots=True)
class Example:
    """A bad and a good text. In the bad one ``<-`` marks the lines that the lint names.

    In Python and JavaScript the text is the body of ``run``, unless it has a class of its own; ``config`` is laid over
    an ordinary configuration. An example in "jsonc" is a configuration, and ``code`` the Python module beside it.
    """

    language: Literal["python", "javascript", "jsonc"]
    bad: str
    good: str
    config: Mapping[str, Any] = field(default_factory=dict)
    target: Target = "cloudflare"
    code: str = ""
    good_config: Mapping[str, Any] | None = None  # where the good one needs another configuration
    deployed: Mapping[str, list[str]] | None = None  # the steps of the last deploy


@dataclass(frozen=True)
class Lint:
    """One rule. ``reason`` is one sentence; ``hint`` says how to mend it."""

    code: str
    level: Level
    reason: str
    hint: str
    check: Check
    examples: tuple[Example, ...]
    mends: bool = False


def hit(module: Module, node: nodes.Node, message: str, level: Level | None = None) -> Hit:
    """A hit at a node of the code."""
    return Hit(message, module.place(node), level)
