"""The code of a Workflow: which of it runs anew at every replay, and which is inside steps."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

from wrangler_compat.code import nodes
from wrangler_compat.code.classes import Classes, Found
from wrangler_compat.code.module import Module

KINDS = {
    "do": "do",
    "sleep": "sleep",
    "sleepUntil": "sleepUntil",
    "sleep_until": "sleepUntil",
    "waitForEvent": "waitForEvent",
    "wait_for_event": "waitForEvent",
}
# Functions that are called while the call they are given to runs, so their code belongs to the code around.
_AT_ONCE = {
    "map",
    "flatMap",
    "forEach",
    "filter",
    "reduce",
    "some",
    "every",
    "find",
    "all",
    "allSettled",
    "race",
    "any",
}


@dataclass(slots=True, eq=False)
class Step:
    """One place where a step is written down.

    ``name`` is the expression of its name; ``label`` the name when it is a plain text. ``calls`` are where it is
    run: in Python a step function may be called elsewhere, or be called by a step that depends on it.
    """

    kind: str
    definition: nodes.Call
    name: nodes.Node | None
    label: str | None
    callback: nodes.Function | None = None
    calls: list[nodes.Call] = field(default_factory=list)

    @property
    def options(self) -> Iterator[nodes.Object]:
        """The objects that are passed along, such as ``{ retries: ... }``."""
        for value in (*self.definition.args[1:], *(value for _, value in self.definition.keywords)):
            if isinstance(value, nodes.Object):
                yield value


@dataclass(eq=False)
class Flow:
    """A function that a Workflow runs outside its steps: ``run`` itself, or a helper that was given the step object.

    ``code`` holds the nodes that run as part of it, so none of what is inside a step. ``steps`` has no step that is
    written inside another; those are in ``nested``, with the step that holds them.
    """

    module: Module
    owner: Found
    function: nodes.Function
    step_name: str
    event_names: frozenset[str]
    code: list[nodes.Node] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    nested: list[tuple[Step, Step]] = field(default_factory=list)
    by_call: dict[nodes.Node, Step] = field(default_factory=dict)
    defined: dict[nodes.Node, Step] = field(default_factory=dict)

    @property
    def is_run(self) -> bool:
        """Whether this is the Workflow's own ``run``."""
        return self.function in self.owner.node.body and self.function.name == "run"

    @cached_property
    def _code(self) -> frozenset[nodes.Node]:
        return frozenset(self.code)

    def runs(self, node: nodes.Node) -> bool:
        """Whether a node is part of the code outside steps."""
        return node in self._code

    def step_of(self, node: nodes.Node) -> Step | None:
        """The step that a call runs."""
        return self.by_call.get(node)

    def steps_in(self, node: nodes.Node) -> list[Step]:
        """The steps that are run by this node and what it holds, not counting those inside other steps."""
        inside = set(node.walk())
        return [step for step in self.steps for call in step.calls if call in inside and call in self.by_call]

    def around(self, node: nodes.Node) -> Iterator[nodes.Node]:
        """What holds a node, up to the function of the flow."""
        for outer in node.ancestors():
            if outer is self.function:
                return
            yield outer

    def repeats(self, node: nodes.Node) -> Iterator[nodes.Node]:
        """The loops, comprehensions and ``map`` calls that run a node many times, from the inside out."""
        inner = node
        for outer in self.around(node):
            if _repeats(outer, inner):
                yield outer
            inner = outer


def _repeats(outer: nodes.Node, inner: nodes.Node) -> bool:
    match outer:
        case nodes.Loop(iterable=iterable, setup=setup):
            return inner is not iterable and inner not in setup[:1]
        case nodes.Each(value=value):
            return inner in value
        case nodes.Call(callee=nodes.Attribute(name="map" | "flatMap" | "forEach")):
            return isinstance(inner, nodes.Function)
        case _:
            return False


def flows_of(found: Found, classes: Classes) -> Iterator[Flow]:
    """``run`` of a class and the helpers that it hands the step object to."""
    return _Search(classes).of_class(found)


class _Search:
    """Follows the step object from function to function."""

    def __init__(self, classes: Classes) -> None:
        self._classes = classes
        self._seen: set[nodes.Function] = set()

    def of_class(self, found: Found) -> Iterator[Flow]:
        method = self._method(found, "run", 0)
        if method is None:
            return
        module, function = method
        params = _positional(function)
        if len(params) < 2 or len(params[1]) != 1:
            return
        pending = [Flow(module, found, function, params[1][0], frozenset(params[0]))]
        while pending:
            flow = pending.pop(0)
            if flow.function in self._seen:
                continue
            self._seen.add(flow.function)
            _Reader(flow).read()
            yield flow
            pending.extend(self._helpers(flow))

    def _method(self, found: Found, name: str, depth: int) -> tuple[Module, nodes.Function] | None:
        for member in found.node.body:
            if isinstance(member, nodes.Function) and member.name == name:
                return found.module, member
        for base in found.node.bases if depth < 8 else ():
            for parent in self._classes.classes_of(found.module, base) or ():
                if method := self._method(parent, name, depth + 1):
                    return method
        return None

    def _helpers(self, flow: Flow) -> Iterator[Flow]:
        for node in flow.code:
            if not isinstance(node, nodes.Call):
                continue
            passed = [flow.module.names.chain(arg) for arg in node.args]
            if (f"param:{flow.step_name}",) not in passed:
                continue
            target = self._called(flow, node.callee)
            if target is None:
                continue
            params = _positional(target[1])
            step = _param(params, passed, flow.step_name)
            if step is not None:
                event = (_param(params, passed, name) for name in flow.event_names)
                names = frozenset(name for name in event if name is not None)
                yield Flow(target[0], flow.owner, target[1], step, names)

    def _called(self, flow: Flow, callee: nodes.Node) -> tuple[Module, nodes.Function] | None:
        chain = flow.module.names.chain(callee)
        if chain is not None and len(chain) == 2 and chain[0] == "this":
            return self._method(flow.owner, chain[1], 0)
        if not isinstance(callee, nodes.Name):
            return None
        value = flow.module.names.value(callee.id, callee)
        if isinstance(value, nodes.Function):
            return flow.module, value
        if isinstance(value, nodes.Import):
            target = self._classes.files.of_import(flow.module, value)
            original = next((first for first, local in value.names if local == callee.id), "*")
            inner = target.names.table(target.root).get(original, []) if target else []
            if target and len(inner) == 1 and isinstance(inner[0], nodes.Function):
                return target, inner[0]
        return None


def _positional(function: nodes.Function) -> tuple[tuple[str, ...], ...]:
    """The parameters without Python's self."""
    has_self = function.method and not function.static and function.params[:1] in ((("self",),), (("cls",),))
    return function.params[1:] if has_self else function.params


def _param(params: tuple[tuple[str, ...], ...], passed: list[tuple[str, ...] | None], name: str) -> str | None:
    """The parameter that takes the local variable ``name``."""
    for names, value in zip(params, passed, strict=False):
        if value == (f"param:{name}",) and len(names) == 1:
            return names[0]
    return None


class _Reader:
    """Sorts the nodes of one function into code and steps."""

    def __init__(self, flow: Flow) -> None:
        self.flow = flow
        self.names = flow.module.names
        self._python = flow.module.language == "python"

    def read(self) -> None:
        flow = self.flow
        self._collect(flow.function.body, None)
        for node in flow.code:
            if isinstance(node, nodes.Call) and isinstance(node.callee, nodes.Name):
                step = self._run_by(node.callee.id, node)
                if step is not None:
                    step.calls.append(node)
                    flow.by_call[node] = step

    def _run_by(self, name: str, at: nodes.Node) -> Step | None:
        """The step function of this name; of several, the last one written before the call."""
        values = [value for value in self.names.values(name, at) if value is not None and value.start < at.start]
        return self.flow.defined.get(values[-1]) if values else None

    def _collect(self, start: nodes.Nodes, holder: Step | None) -> None:
        pending = list(reversed(start))
        while pending:
            node = pending.pop()
            if holder is None:
                self.flow.code.append(node)
            taken = node in self.flow.defined  # the function of a step that was met as its argument
            step = None if taken else self._step(node)
            if step is not None:
                self._take(step, holder)
            if isinstance(node, nodes.Function):
                pending.extend((*node.decorators, *node.defaults))
                if not taken and step is None and (holder is not None or self._runs_here(node)):
                    pending.extend(reversed(node.body))
            elif not isinstance(node, nodes.Class):
                pending.extend(reversed(list(node.children())))

    def _take(self, step: Step, holder: Step | None) -> None:
        if holder is not None:
            self.flow.nested.append((holder, step))
        else:
            self.flow.steps.append(step)
        if step.callback is not None and step.callback not in self.flow.defined:
            self.flow.defined[step.callback] = step
            self._collect(step.callback.body, step)
        if holder is None:
            for call in step.calls:
                self.flow.by_call[call] = step

    def _step(self, node: nodes.Node) -> Step | None:
        """The step that a node writes down: a decorated function, or a call."""
        if isinstance(node, nodes.Function):
            for decorator in node.decorators:
                if isinstance(decorator, nodes.Call) and self.kind(decorator) == "do":
                    name = _argument(decorator, 0, "name")
                    absent = name is None or (isinstance(name, nodes.Literal) and name.value is None)
                    label = node.name if absent else _label(name)
                    return Step("do", decorator, None if absent else name, label, node)
            return None
        if not isinstance(node, nodes.Call) or node in self.flow.by_call:
            return None
        if isinstance(node.parent, nodes.Function) and node in node.parent.decorators:
            return None
        return self._called(node)

    def _called(self, node: nodes.Call) -> Step | None:
        if self._python and isinstance(node.callee, nodes.Call) and self.kind(node.callee) == "do":
            name = _argument(node.callee, 0, "name")
            return Step("do", node.callee, name, _label(name), self._function(node.args), [node])
        kind = self.kind(node)
        if kind is None or (kind == "do" and self._python):
            return None
        name = _argument(node, 0, "name")
        return Step(kind, node, name, _label(name), self._function(node.args) if kind == "do" else None, [node])

    def _function(self, args: nodes.Nodes) -> nodes.Function | None:
        for arg in args:
            value = self.names.value(arg.id, arg) if isinstance(arg, nodes.Name) else arg
            if isinstance(value, nodes.Function):
                return value
        return None

    def kind(self, call: nodes.Call) -> str | None:
        """Which call on the step object this is."""
        callee = call.callee
        if not isinstance(callee, nodes.Attribute) or callee.name not in KINDS:
            return None
        if self.names.chain(callee.value) != (f"param:{self.flow.step_name}",):
            return None
        root = callee.value
        if isinstance(root, nodes.Name) and root.id == self.flow.step_name:
            return KINDS[callee.name] if self.names.scope(root.id, root) is self.flow.function else None
        return KINDS[callee.name]

    def _runs_here(self, function: nodes.Function) -> bool:
        """Whether the code of an inner function is certainly part of the flow."""
        parent = function.parent
        if isinstance(parent, nodes.Call):
            if parent.callee is function:
                return True
            if isinstance(parent.callee, nodes.Attribute) and parent.callee.name in _AT_ONCE:
                return True
        return any(isinstance(node, nodes.Call) and self.kind(node) is not None for node in function.walk())


def _argument(call: nodes.Call, position: int, name: str) -> nodes.Node | None:
    named = call.keyword(name)
    if named is not None:
        return named
    return call.args[position] if len(call.args) > position else None


def _label(name: nodes.Node | None) -> str | None:
    return name.value if isinstance(name, nodes.Literal) and isinstance(name.value, str) else None
