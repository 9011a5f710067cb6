"""What the sources mention, and the outline of their steps."""

from __future__ import annotations

from pathlib import Path

import pytest

from wrangler_compat.code import Code, read_code, step_outline

HEAD = "from workers import WorkerEntrypoint\n# env.GHOST is only in a comment\n"


def read(folder: Path, text: str, name: str = "main.py") -> Code:
    (folder / name).write_text(text)
    return read_code(folder / name, folder)


@pytest.mark.parametrize(
    "use",
    ["self.env.ORDER.create()", 'getattr(self.env, "ORDER")', "ORDER.create()", 'self.env["ORDER"]'],
)
def test_a_name_is_mentioned_by_attribute_variable_or_text(use: str, tmp_path: Path) -> None:
    code = read(tmp_path, HEAD + use + "\n")

    assert code.mentions("ORDER")
    assert not code.mentions("GHOST")
    assert not code.mentions("ORDERS")


@pytest.mark.parametrize("use", ["getattr(self.env, name)", "self.env[name]"])
def test_a_name_made_at_run_time_may_be_any(use: str, tmp_path: Path) -> None:
    code = read(tmp_path, f"class A:\n    def f(self, name):\n        return {use}\n")

    assert code.mentions("ORDER")


def test_javascript_mentions_too(tmp_path: Path) -> None:
    code = read(tmp_path, "export default { fetch(request, env) { const { ORDER } = env; } };\n", "main.ts")

    assert code.mentions("ORDER")
    assert not code.mentions("BILLING")


def test_a_file_that_cannot_be_read_may_mention_any(tmp_path: Path) -> None:
    assert read(tmp_path, "def (:\n").mentions("ORDER")


def test_modules_the_main_one_imports_are_part_of_the_code(tmp_path: Path) -> None:
    (tmp_path / "python_modules").mkdir()
    (tmp_path / "python_modules" / "vendored.py").write_text("env.VENDORED\n")
    (tmp_path / "helper.py").write_text("import deeper\n")
    (tmp_path / "deeper.py").write_text("import helper\nenv.DEEP\n")
    (tmp_path / "alone.py").write_text("env.ALONE\n")

    code = read(tmp_path, "import helper, python_modules.vendored\n")

    assert code.mentions("DEEP")
    assert not code.mentions("ALONE")
    assert not code.mentions("VENDORED")


def test_files_outside_the_project_are_not_read(tmp_path: Path) -> None:
    (tmp_path / "secret.ts").write_text("env.SECRET;\n")
    (tmp_path / "project").mkdir()

    code = read(tmp_path / "project", 'import "../secret";\n', "main.ts")

    assert [module.path.name for module in code.modules] == ["main.ts"]


def test_places_count_characters_in_files_of_any_encoding(tmp_path: Path) -> None:
    main = tmp_path / "main.py"
    main.write_bytes(
        "# -*- coding: latin-1 -*-\nfrom workers import WorkflowEntrypoint\r\nä = 'ö'; \\\n\n".encode("latin-1")
        + b"class A(WorkflowEntrypoint): name = '\xe4'; limits = 5\n"
    )

    code = read_code(main, tmp_path)

    assert (code.problems[0].place.line, code.problems[0].place.column) == (5, 51)


def test_the_outline_has_the_steps_in_the_order_of_the_text(tmp_path: Path) -> None:
    code = read(
        tmp_path,
        """
from workers import WorkflowEntrypoint

class Order(WorkflowEntrypoint):
    async def run(self, event, step):
        @step.do()
        async def reserve(): ...

        await reserve()
        await step.sleep("a day", "1 day")
        await self.pay(step)

    async def pay(self, step):
        await step.wait_for_event("paid", "paid")
        await step.do(f"pay {1}")(lambda: 1)
""",
    )

    assert step_outline(code) == {"Order": ["do:reserve", "sleep:a day", "waitForEvent:paid", "do:*"]}


def test_a_file_that_the_parser_cannot_hold_is_a_problem_and_no_crash(tmp_path: Path) -> None:
    (tmp_path / "entry.py").write_text("x = " + "-" * 50_000 + "1")

    (problem,) = read_code(tmp_path / "entry.py", tmp_path).problems

    assert problem.code in ("code_unreadable", "code_syntax")  # by the version of Python that runs this
