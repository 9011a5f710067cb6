"""A whole configuration before and after, byte for byte."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.wrangler_compat.reconcile.case import project, rules, workflow
from wrangler_compat.reconcile import Reconciliation, reconcile

BEFORE = """{
    // shop worker
    "name": "shop", /* keep   this spacing */
    "workflows": [
        // order pipeline: do not rename
        { "name": "order-pipe-legacy", "binding": "ORDER", "class_name": "OrderPipe", "limits": { "steps": 20000 } }, // 2025 load test
        { "name": "billing", "binding": "BILL", "class_name": "Billing", "script_name": "billing-worker" },
    ],
    "env": { "prod": { "workflows": [{ "name": "order-prod", "binding": "ORDER", "class_name": "OrderPipe" }] } },
}
"""  # noqa: E501
AFTER = """{
    // shop worker
    "name": "shop", /* keep   this spacing */
    "workflows": [
        { "name": "billing", "binding": "BILL", "class_name": "Billing", "script_name": "billing-worker" },
    ],
    "env": { "prod": { "workflows": [{ "name": "order-prod", "binding": "ORDER", "class_name": "OrderPipe" }] } },
    "exports": {
        // order pipeline: do not rename
        "OrderPipe": { "type": "workflow", "name": "order-pipe-legacy", "limits": { "steps": 20000 }, "schedules": ["0 3 * * *"] }, // 2025 load test
    },
}
"""  # noqa: E501
CODE = workflow("OrderPipe", 'workflow_name = "order-pipe"', 'schedules = ["0 3 * * *"]')


def reconciled(folder: Path, text: str) -> Reconciliation:
    """Reconcile the example, which names no main module, with R21 overridden."""
    main = '    "main": "entry.py",'
    head, brace, rest = text.partition("{")
    newline = "\r\n" if "\r\n" in text else "\n"
    config = f"{head}{brace}{newline}{main}{rest}"
    return reconcile(project(folder, config, CODE), None, {}, force=True)


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("bom", ["", "\ufeff"])
def test_only_the_moved_entry_differs(tmp_path: Path, bom: str, newline: str) -> None:
    found = reconciled(tmp_path, bom + BEFORE.replace("\n", newline))

    line = f'    "main": "entry.py",{newline}'
    assert found.result == bom + AFTER.replace("\n", newline).replace(f"{{{newline}", f"{{{newline}{line}", 1)


def test_what_is_told(tmp_path: Path) -> None:
    found = reconciled(tmp_path, BEFORE)

    assert rules(found, "warning") == ["R7b", "R5", "R21", "R10"]
    assert rules(found, "info") == ["R7", "R4"]


def test_without_force_it_is_refused(tmp_path: Path) -> None:
    folder = project(tmp_path, BEFORE.replace('"name": "shop"', '"main": "entry.py", "name": "shop"'), CODE)

    found = reconcile(folder, None, {})

    assert found.refused and found.pending
    assert rules(found, "error") == ["R21"]
