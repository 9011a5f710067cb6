"""The steps of the code against those of the last deploy."""

from __future__ import annotations

import json
from collections.abc import Iterator
from difflib import SequenceMatcher
from pathlib import Path

from wrangler_compat.code import step_outline
from wrangler_compat.lints.lint import Example, Hit, Lint, Subject

RECORD = Path(".celld") / "deployed.json"
STEPS = "steps"  # its key for what step_outline gave


def _changed(subject: Subject) -> Iterator[Hit]:
    before = _deployed(subject.project.root / RECORD)
    for name, steps in step_outline(subject.code).items():
        old = before.get(name)
        declared = subject.code.get(name)
        if old is None or declared is None or _fits(old, steps):
            continue
        text = f"The steps of {name} differ from those of the last deploy: {_difference(old, steps)}."
        yield Hit(text, declared.place)


def _deployed(path: Path) -> dict[str, list[str]]:
    """The outline that the last deploy recorded; empty when there is none that can be read."""
    try:
        record = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):  # never deployed from here, or by another version
        return {}
    steps = record.get(STEPS) if isinstance(record, dict) else None
    if not isinstance(steps, dict):
        return {}
    return {name: [str(step) for step in listed] for name, listed in steps.items() if isinstance(listed, list)}


def _fits(old: list[str], new: list[str]) -> bool:
    """Whether an instance under way finds its steps again: the old ones are there in the old order, new ones after."""
    return new[: len(old)] == old


def _difference(old: list[str], new: list[str]) -> str:
    parts = []
    for kind, first, last, start, end in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind != "equal":
            parts += [f"- {step}" for step in old[first:last]] + [f"+ {step}" for step in new[start:end]]
    return ", ".join(parts)


LINTS = (
    Lint(
        "versioned_step_change",
        "note",
        "Instances under way replay on the new code, and find their steps by kind, name and number.",
        "Keep the old steps in their order and add new ones at the end, or let the instances finish first.",
        _changed,
        (
            Example(
                "python",
                bad="""
from workers import WorkflowEntrypoint


class Order(WorkflowEntrypoint):  # <-
    async def run(self, event, step):
        await step.sleep("a day", "1 day")
""",
                good="""
from workers import WorkflowEntrypoint


class Order(WorkflowEntrypoint):
    async def run(self, event, step):
        await step.sleep("an hour", "1 hour")
        await step.sleep("a day", "1 day")
""",
                deployed={"Order": ["sleep:an hour"]},
            ),
        ),
    ),
)
