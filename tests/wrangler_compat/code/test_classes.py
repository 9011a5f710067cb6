"""Which Workflow classes the main module exports, without running it."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from wrangler_compat.code import Code, read_code


def python(folder: Path, main: str, **modules: str) -> Code:
    return _read(folder, ".py", main, modules)


def typescript(folder: Path, main: str, **modules: str) -> Code:
    return _read(folder, ".ts", main, modules)


def _read(folder: Path, suffix: str, main: str, modules: dict[str, str]) -> Code:
    for name, text in {"main": main, **modules}.items():
        file = folder / f"{name}{suffix}"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(dedent(text))
    return read_code(folder / f"main{suffix}", folder)


def names(code: Code) -> list[str]:
    return [each.name for each in code.classes]


# --------------------------------------------------------------------------------------------------------------- Python


def test_subclasses_are_found_through_aliases_and_inheritance(tmp_path: Path) -> None:
    code = python(
        tmp_path,
        """
        import workers
        from workers import WorkflowEntrypoint as Base, WorkerEntrypoint

        class First(Base): ...
        class Second(workers.WorkflowEntrypoint): ...
        class Third(First): ...
        class Fourth(Base["Env"]): ...
        class Default(WorkerEntrypoint): ...
        """,
    )

    assert [(each.name, each.place.line, each.place.column) for each in code.classes] == [
        ("First", 5, 1),
        ("Second", 6, 1),
        ("Third", 7, 1),
        ("Fourth", 8, 1),
    ]
    assert code.complete
    assert code.lacks("Fifth")
    assert not code.lacks("First")


def test_classes_below_conditions_are_found(tmp_path: Path) -> None:
    code = python(
        tmp_path,
        """
        from workers import WorkflowEntrypoint
        try:
            class A(WorkflowEntrypoint): ...
        except ImportError:
            class B(WorkflowEntrypoint): ...
        """,
    )

    assert names(code) == ["A", "B"]


def test_classes_of_the_projects_own_modules_are_followed_to_their_place(tmp_path: Path) -> None:
    code = python(
        tmp_path,
        """
        from flows import Order
        from flows.later import Reminder
        import base

        class Mine(base.Base): ...
        """,
        **{
            "flows/__init__": "from workers import WorkflowEntrypoint\nclass Order(WorkflowEntrypoint): ...\n",
            "flows/later": "from . import Order\nclass Reminder(Order): ...\n",
            "base": "from workers import WorkflowEntrypoint\nclass Base(WorkflowEntrypoint): ...\n",
        },
    )

    assert names(code) == ["Order", "Reminder", "Mine"]
    assert [each.place.file.name for each in code.classes] == ["__init__.py", "later.py", "main.py"]


def test_a_class_is_exported_under_its_own_name_whatever_the_variable_is_called(tmp_path: Path) -> None:
    code = python(
        tmp_path,
        """
        from flows import Order as Renamed
        """,
        flows="from workers import WorkflowEntrypoint\nclass Order(WorkflowEntrypoint): ...\n",
    )

    assert names(code) == ["Order"]
    assert code.lacks("Renamed")


def test_names_with_an_underscore_and_names_left_out_of_all_are_not_exported(tmp_path: Path) -> None:
    flows = (
        "from workers import WorkflowEntrypoint\nclass A(WorkflowEntrypoint): ...\nclass _B(WorkflowEntrypoint): ...\n"
    )

    assert names(python(tmp_path / "1", flows)) == ["A"]
    assert names(python(tmp_path / "2", flows + '__all__ = ["_B"]\n')) == ["_B"]
    assert names(python(tmp_path / "3", "from flows import *\n", flows=flows)) == ["A"]
    assert names(python(tmp_path / "4", "from flows import *\n", flows=flows + "__all__ = []\n")) == []


def test_what_certainly_is_no_workflow_is_told_apart_from_what_is_not_known(tmp_path: Path) -> None:
    code = python(
        tmp_path,
        """
        from workers import WorkerEntrypoint
        from some_package import Order

        class Default(WorkerEntrypoint): ...
        class Mine(Order): ...
        LIMIT = 3
        """,
    )

    assert not code.lacks("Order")
    assert not code.lacks("Mine")
    assert code.lacks("Default")
    other = code.is_other("Default")
    assert other is not None and other.line == 5
    assert code.is_other("Mine") is None
    assert code.complete


@pytest.mark.parametrize(
    "text",
    ["from flows import *\n", "Order = make()\n", "globals()['Order'] = make()\n", "class (:\n", "__all__ = names()\n"],
)
def test_nothing_is_claimed_of_a_module_that_cannot_be_judged(text: str, tmp_path: Path) -> None:
    code = python(tmp_path, text)

    assert not code.complete
    assert not code.lacks("Order")


def test_a_missing_main_module_is_a_problem_and_no_exception(tmp_path: Path) -> None:
    code = read_code(tmp_path / "gone.py", tmp_path)

    assert [problem.code for problem in code.problems] == ["code_unreadable"]
    assert not code.lacks("Order")


def test_circles_of_imports_and_bases_end(tmp_path: Path) -> None:
    code = python(tmp_path, "from other import A\nclass B(A): ...\n", other="from main import B\nclass A(B): ...\n")

    assert names(code) == []


# -------------------------------------------------------------------------------------------- JavaScript and TypeScript


def test_exported_classes_are_found_however_they_are_exported(tmp_path: Path) -> None:
    code = typescript(
        tmp_path,
        """
        import { WorkflowEntrypoint as Base, WorkerEntrypoint } from "cloudflare:workers";
        import * as platform from "cloudflare:workers";
        import Moved, { Elsewhere as Imported } from "./other";
        export class First extends Base<Env, Params> {}
        class Second extends platform.WorkflowEntrypoint {}
        class Hidden extends Base {}
        export const Third = class extends First {};
        export { Second as Renamed, Imported };
        export { Elsewhere, Plain } from "./other";
        export { Moved };
        export class Web extends WorkerEntrypoint {}
        export default { async fetch() {} };
        """,
        other="""
        import { WorkflowEntrypoint } from "cloudflare:workers";
        export class Elsewhere extends WorkflowEntrypoint {}
        export class Plain {}
        export default class Moved extends WorkflowEntrypoint {}
        """,
    )

    assert names(code) == ["First", "Third", "Renamed", "Imported", "Elsewhere", "Moved"]
    assert code.complete
    assert code.lacks("Hidden") and code.lacks("Web") and code.lacks("Plain")


def test_a_star_export_of_the_project_is_followed_and_one_of_a_package_is_not_judged(tmp_path: Path) -> None:
    flows = (
        'import { WorkflowEntrypoint } from "cloudflare:workers";\nexport class Order extends WorkflowEntrypoint {}\n'
    )

    own = typescript(tmp_path / "1", 'export * from "./flows.js";\n', flows=flows)
    foreign = typescript(tmp_path / "2", 'export * from "some-package";\n')

    assert names(own) == ["Order"] and own.complete
    assert not foreign.complete and not foreign.lacks("Order")


def test_a_wrapped_class_is_not_judged(tmp_path: Path) -> None:
    code = typescript(tmp_path, "export const Order = instrument(Inner);\nexport const limit = 3;\n")

    assert code.complete
    assert not code.lacks("Order")
    assert code.lacks("limit") and code.lacks("Other")


def test_types_are_no_exports(tmp_path: Path) -> None:
    code = typescript(
        tmp_path,
        'import type { Order } from "./gone";\nexport type { Order };\nexport interface Params { a: string }\n',
    )

    assert code.complete
    assert code.lacks("Order") and code.lacks("Params")


def test_a_type_that_is_imported_in_place_is_understood(tmp_path: Path) -> None:
    code = typescript(
        tmp_path,
        """
        type Runtime = import("@astrojs/cloudflare").Runtime<Env>;
        const limit: import("./limits").Limit<number> = 3;
        import { WorkflowEntrypoint } from "cloudflare:workers";
        export class Order extends WorkflowEntrypoint {}
        """,
    )

    assert code.problems == ()
    assert names(code) == ["Order"]


def test_commonjs_is_not_judged(tmp_path: Path) -> None:
    assert not typescript(tmp_path, "module.exports = { Order };\n").complete


def test_syntax_that_is_not_understood_is_named_with_its_place(tmp_path: Path) -> None:
    code = typescript(tmp_path, "export class A {}\nexport class B { run( }\n")

    (problem,) = code.problems
    assert (problem.code, problem.place.line) == ("code_syntax", 2)
    assert not code.complete
