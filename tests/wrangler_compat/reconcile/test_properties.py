"""Whatever a configuration looks like: reconciling changes what it means to, and no other byte.

The oracle does not use the scanner: `texts.Writer` knows what it wrote, pyjson5 reads the result, and a model of a few
lines says what it should be.
"""

from __future__ import annotations

import json
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyjson5
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.wrangler_compat.reconcile.case import project, run, workflow
from tests.wrangler_compat.reconcile.texts import writers
from wrangler_compat.reconcile import replace_text

CLASSES = ("Alpha", "BetaFlow", "Gamma")
ROUNDS = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])

STEPS = st.fixed_dictionaries({"steps": st.integers(1, 25_000)})
LIMIT = st.fixed_dictionaries({"limit": st.integers(1, 9)})
RETENTION = st.fixed_dictionaries(
    {}, optional={"success_retention": st.sampled_from([1000, "1 day"]), "error_retention": st.just("3 days")}
)
SCHEDULES = st.lists(st.sampled_from(["0 1 * * *", "0 2 * * *", "0 3 * * *"]), min_size=1, max_size=3, unique=True)
SETTINGS = st.fixed_dictionaries(
    {},
    optional={
        "limits": STEPS,
        "concurrency": LIMIT,
        "schedules": SCHEDULES | SCHEDULES.map(lambda texts: texts[0]),
        "default_retention": RETENTION.filter(bool),
    },
)
UNRELATED = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(st.characters(codec="utf-8"), max_size=8),
    lambda values: st.lists(values, max_size=3) | st.dictionaries(st.text(max_size=4), values, max_size=3),
    max_leaves=6,
)


@dataclass
class Case:
    """A project, and what the result has to keep and to say."""

    text: str
    code: str
    expected: dict[str, Any]
    kept: list[str]
    comments: list[str]


def filled(value: Any, more: Any) -> Any:
    """Two settings, one laid over the other."""
    if isinstance(value, dict) and isinstance(more, dict):
        return {**value, **{key: filled(value.get(key), item) for key, item in more.items()}}
    return more


@st.composite
def cases(draw: st.DrawFn) -> Case:
    writer = draw(writers())
    code = ""
    listed: list[dict[str, Any]] = []
    remaining: list[dict[str, Any]] = []
    exported: dict[str, Any] = {}
    expected: dict[str, Any] = {}
    kept: list[str] = []
    for name in CLASSES:
        declared, own = draw(SETTINGS), draw(SETTINGS)
        kebab = "beta-flow" if name == "BetaFlow" else name.lower()
        code += workflow(name, *(f"{key} = {value!r}" for key, value in declared.items()))
        binding = {"name": kebab, "binding": f"B_{name}", "class_name": name}
        state = draw(st.sampled_from(["absent", "bound", "used", "exported", "exported", "both"]))
        export = {"type": "workflow", "name": kebab}
        if state in ("bound", "used"):
            listed.append({**dict(draw(st.permutations(list({**binding, **own}.items()))))})
            expected[name] = filled({**export, **own}, declared)
        elif state in ("exported", "both"):
            exported[name] = {**export, **own}
            expected[name] = filled(exported[name], declared)
        else:
            expected[name] = {**export, **declared}
        if state == "both":
            listed.append(binding)
        if state in ("used", "both"):
            code += f"def use_{name}(env):\n    return env.B_{name}\n"
            remaining.append(binding)
    foreign = [
        {"name": f"foreign-{index}", "binding": f"F{index}", "class_name": "Alpha", "script_name": "other"}
        for index in range(draw(st.integers(0, 2)))
    ]
    items = [(writer.value(entry), entry) for entry in foreign]
    kept += [text for text, _ in items]
    texts = draw(st.permutations([*(text for text, _ in items), *(writer.value(entry) for entry in listed)]))
    members = {"main": "entry.py", "vars": draw(UNRELATED.filter(lambda value: isinstance(value, dict)) | st.just({}))}
    parts = [writer.member(key, value) for key, value in members.items()]
    kept += parts
    with_list, with_map = draw(st.booleans()), draw(st.booleans())
    if texts or with_list:
        parts.append(f'"workflows"{writer.gap()}:{writer.gap()}' + writer.joined("[", list(texts), "]"))
    if exported or with_map:
        parts.append(writer.member("exports", exported))
    parts = list(draw(st.permutations(parts)))
    text = writer.gap() + writer.joined("{", parts, "}") + writer.gap()
    bom = draw(st.sampled_from(["", "\ufeff"]))
    result = {**members, "workflows": [*foreign, *remaining], "exports": expected}
    return Case(bom + text, code, result, kept, writer.comments)


def same_meaning(one: Any, other: Any) -> bool:
    """Schedules have no order, and a single one is a list of it."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(
            (as_set(one[key]) == as_set(other[key])) if key == "schedules" else same_meaning(one[key], other[key])
            for key in one
        )
    return bool(one == other)


def as_set(value: Any) -> set[str]:
    return {value} if isinstance(value, str) else set(value)


@given(case=cases())
@ROUNDS
def test_the_result_says_what_was_meant_and_keeps_every_other_byte(case: Case) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        found = run(folder, case.text, case.code)

        assert not found.refused, found.findings
        data = pyjson5.decode(found.result.removeprefix("\ufeff"))
        expected = dict(case.expected)
        listed = sorted(json.dumps(entry, sort_keys=True) for entry in data.pop("workflows", []))
        assert listed == sorted(json.dumps(entry, sort_keys=True) for entry in expected.pop("workflows"))
        if data.get("exports") or expected["exports"]:
            assert same_meaning(data, expected)

        for text in case.kept:
            assert text in found.result
        for comment in case.comments:
            assert found.result.count(comment) == 1
        check_spans(case.text, found.result, [(each.start, each.end, each.text) for each in found.splices])

        folder.joinpath("wrangler.jsonc").unlink()
        again = run(folder, found.result, case.code)
        assert (again.splices, again.result) == ((), found.result)


def check_spans(before: str, after: str, spans: list[tuple[int, int, str]]) -> None:
    """What stands outside the declared spans is the same, and in the same order."""
    at = place = 0
    for start, end, text in spans:
        untouched = before[at:start]
        assert after[place : place + len(untouched)] == untouched
        place += len(untouched) + len(text)
        at = end
    assert after[place:] == before[at:]


@given(case=cases(), mode=st.sampled_from([0o600, 0o644, 0o755]))
@settings(max_examples=20, deadline=None)
def test_what_is_written_is_what_was_shown(case: Case, mode: int) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        file = project(folder, case.text, case.code) / "wrangler.jsonc"
        file.chmod(mode)
        found = run(folder, case.text, case.code)

        replace_text(file, case.text, found.result)

        assert file.read_bytes() == found.result.encode()
        assert file.stat().st_mode & 0o777 == mode
