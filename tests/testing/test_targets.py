"""A Worker in the test's process, run for celld."""

from __future__ import annotations

from pathlib import Path

from runtime.testing import Worker
from tests.e2e.test_deploy import paying


def test_for_celld_ctx_exports_leads_to_the_bindings_that_a_deploy_would_make(tmp_path: Path) -> None:
    with Worker.open(paying(tmp_path, "2025-11-01"), target="celld") as worker:
        id = worker.fetch("/start").json()["id"]
        payment = worker.env.Onboarding.get(id).status().output

        assert worker.env.PAY.get(payment).status().output == 5
        assert worker.fetch("/names").json() == ["Payment", "PAY"]

        worker.crash()

        assert worker.fetch("/names").json() == ["Payment", "PAY"]
