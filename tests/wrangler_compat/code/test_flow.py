"""Which code runs anew at every replay, and which is inside steps."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

from wrangler_compat.code import Flow, nodes, read_code

HEAD = 'import { WorkflowEntrypoint } from "cloudflare:workers";\n'


def flows(folder: Path, name: str, text: str) -> dict[str | None, Flow]:
    (folder / name).write_text(dedent(text))
    return {flow.function.name: flow for flow in read_code(folder / name, folder).flows}


def called(flow: Flow) -> set[str]:
    """The functions that the code outside steps calls."""
    return {flow.module.names.dotted(node.callee) for node in flow.code if isinstance(node, nodes.Call)}


def test_what_a_step_does_is_not_code_of_run(tmp_path: Path) -> None:
    run = flows(
        tmp_path,
        "main.py",
        """
        from workers import WorkflowEntrypoint

        class Order(WorkflowEntrypoint):
            async def run(self, event, step):
                @step.do("one")
                async def one():
                    inside()

                def unused_helper():
                    unknown()

                outside()
                await one()
                names = [listed(name) for name in event["payload"]]
        """,
    )["run"]

    assert {"outside", "listed"} <= called(run) and not {"inside", "unknown"} & called(run)
    assert [(step.label, len(step.calls)) for step in run.steps] == [("one", 1)]


def test_inner_functions_that_run_steps_are_code_of_run(tmp_path: Path) -> None:
    run = flows(
        tmp_path,
        "main.ts",
        HEAD
        + """
        export class Order extends WorkflowEntrypoint {
          async run(event, step) {
            const chain = async (name) => { before(name); await step.do(`a ${name}`, async () => inside()); };
            await Promise.all(event.payload.map(async (name) => { mapped(); await chain(name); }));
            const load = async () => loaded();
            await step.do("load", load);
          }
        }
        """,
    )["run"]

    assert {"before", "mapped"} <= called(run) and not {"inside", "loaded"} & called(run)
    assert [step.label for step in run.steps] == [None, "load"]


def test_helpers_are_followed_by_the_step_object_they_are_given(tmp_path: Path) -> None:
    (tmp_path / "helpers.py").write_text("async def later(s, e):\n    await s.sleep('x', 1)\n    e['payload'] = 1\n")

    found = flows(
        tmp_path,
        "main.py",
        """
        from helpers import later
        from workers import WorkflowEntrypoint

        class Base(WorkflowEntrypoint):
            async def part(self, step):
                await step.sleep("part", 1)

        class Order(Base):
            async def run(self, event, step):
                await self.part(step)
                await later(step, event)
                await elsewhere(step)
        """,
    )

    assert found.keys() == {"run", "part", "later"}
    assert found["later"].event_names == {"e"}
    assert [step.label for step in found["part"].steps] == ["part"]


def test_a_step_inside_a_step_is_told_with_the_step_around_it(tmp_path: Path) -> None:
    run = flows(
        tmp_path,
        "main.js",
        HEAD
        + """
        export class Order extends WorkflowEntrypoint {
          async run(event, step) {
            await step.do("outer", async () => { await step.do("inner", async () => 1); });
          }
        }
        """,
    )["run"]

    assert [step.label for step in run.steps] == ["outer"]
    assert [(outer.label, inner.label) for outer, inner in run.nested] == [("outer", "inner")]


def test_another_object_that_is_called_step_is_not_the_step_object(tmp_path: Path) -> None:
    run = flows(
        tmp_path,
        "main.js",
        HEAD
        + """
        export class Order extends WorkflowEntrypoint {
          async run(event, s) {
            const again = s;
            await again.sleep("mine", 1);
            event.payload.forEach((s) => s.sleep("not mine", 1));
            await step.sleep("a global", 1);
          }
        }
        """,
    )["run"]

    assert [step.label for step in run.steps] == ["mine"]


def test_an_inherited_run_belongs_to_each_class_and_is_looked_at_once(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text(
        "from workers import WorkflowEntrypoint\n"
        "class _Base(WorkflowEntrypoint):\n    async def run(self, event, step):\n        await step.sleep('x', 1)\n"
        "class A(_Base): ...\nclass B(_Base): ...\n"
    )

    code = read_code(tmp_path / "main.py", tmp_path)

    assert len(code.flows) == 1
    assert [len(code.flows_of(name)) for name in ("A", "B", "C")] == [1, 1, 0]
