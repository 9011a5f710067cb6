from __future__ import annotations

from pathlib import Path

import pytest

from runtime.host.errors import LanguageError
from runtime.host.options import Options
from runtime.host.projects import open_project


def test_a_javascript_project_is_refused_with_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "index.ts").touch()
    (tmp_path / "wrangler.jsonc").write_text('{"name": "w", "main": "index.ts", "compatibility_date": "2026-01-01"}')

    with pytest.raises(LanguageError) as caught:
        open_project(Options(tmp_path), {})

    assert caught.value.message == "index.ts is JavaScript or TypeScript, which celld-py does not run yet."
    assert caught.value.exit_code == 1
    assert caught.value.hint


def test_the_options_reach_the_configuration(tmp_path: Path) -> None:
    (tmp_path / "entry.py").touch()
    (tmp_path / "wrangler.jsonc").write_text(
        '{"name": "w", "main": "entry.py", "compatibility_date": "2026-01-01",'
        ' "compatibility_flags": ["python_workers"], "env": {"x": {}}}'
    )

    project = open_project(Options(tmp_path, env="x", vars={"A": "1"}), {})

    assert (project.name, project.vars) == ("w-x", {"A": "1"})
