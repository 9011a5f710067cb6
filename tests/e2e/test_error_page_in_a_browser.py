"""The error page as a real browser shows it."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.e2e.conftest import Stage

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine")
def test_a_browser_shows_the_error_and_runs_nothing_of_it(stage: Stage, tmp_path: Path) -> None:
    assert CHROMIUM is not None
    path = stage.worker("""
    class Default(WorkerEntrypoint):
        def fetch(self, request):
            raise LookupError("<script>document.title = 'run'</script>")
    """)
    browser = [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path}", "--dump-dom"]

    shown = subprocess.run([*browser, f"{stage.server.url}{path}"], capture_output=True, text=True, timeout=50).stdout

    assert "<title>LookupError: &lt;script&gt;document.title = 'run'&lt;/script&gt;</title>" in shown
    assert "<h1>LookupError: &lt;script&gt;" in shown
    assert "raise LookupError(" in shown
    assert f">GET {path}</p>" in shown
