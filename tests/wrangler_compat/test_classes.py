from __future__ import annotations

from pathlib import Path

from wrangler_compat.classes import ModuleClasses, workflow_classes


def scan(tmp_path: Path, code: str) -> ModuleClasses:
    main = tmp_path / "entry.py"
    main.write_text(code)
    return workflow_classes(main)


def test_subclasses_are_found_through_aliases_and_inheritance(tmp_path: Path) -> None:
    found = scan(
        tmp_path,
        "import workers\n"
        "from workers import WorkflowEntrypoint as Base, WorkerEntrypoint\n"
        "class First(Base): ...\n"
        "class Second(workers.WorkflowEntrypoint): ...\n"
        "class Third(First): ...\n"
        "class Default(WorkerEntrypoint): ...\n",
    )

    assert found.workflows == {"First": 3, "Second": 4, "Third": 5}
    assert found.complete
    assert found.lacks("Fourth")
    assert not found.lacks("First")


def test_classes_below_conditions_are_found(tmp_path: Path) -> None:
    found = scan(
        tmp_path,
        "from workers import WorkflowEntrypoint\n"
        "try:\n    class A(WorkflowEntrypoint): ...\nexcept ImportError:\n    class B(WorkflowEntrypoint): ...\n",
    )

    assert found.workflows == {"A": 3, "B": 5}


def test_imported_names_may_be_classes(tmp_path: Path) -> None:
    found = scan(tmp_path, "from flows import Order\nfrom base import Base\nclass Mine(Base): ...\n")

    assert not found.lacks("Order")
    assert not found.lacks("Mine")
    assert found.lacks("Other")


def test_a_renamed_class_is_found_under_its_second_name(tmp_path: Path) -> None:
    found = scan(tmp_path, "from workers import WorkflowEntrypoint\nclass A(WorkflowEntrypoint): ...\nB = A\n")

    assert not found.lacks("B")


def test_nothing_is_claimed_of_a_module_that_cannot_be_judged(tmp_path: Path) -> None:
    assert not scan(tmp_path, "from flows import *\n").lacks("Order")
    assert not scan(tmp_path, "Order = make()\n").lacks("Order")
    assert not scan(tmp_path, "class (:\n").lacks("Order")
    assert not workflow_classes(tmp_path / "missing.py").lacks("Order")
