"""What a modifier refuses besides what Cloudflare's refuses: arguments that would silently change nothing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from runtime.testing import Worker, introspect_workflow_instance

SOURCE = """
    from workers import WorkflowEntrypoint

    class Flow(WorkflowEntrypoint):
        async def run(self, event, step):
            return "done"
"""


@pytest.fixture
def worker(tmp_path: Path) -> Iterator[Worker]:
    with Worker.inline(tmp_path, SOURCE) as worker:
        yield worker


@pytest.mark.parametrize(
    "wrong", [{}, {"nme": "a"}, {"name": 5}, {"name": "a", "index": "1"}, {"name": "a", "index": -1}, 5, ["a"], None]
)
def test_what_names_no_step_is_refused(worker: Worker, wrong: Any) -> None:
    introspector = introspect_workflow_instance(worker.env.FLOW, "a")
    with pytest.raises(TypeError, match="names no step"):
        introspector.wait_for_step_result(wrong)
    with pytest.raises(TypeError, match="names no step"):
        introspector.modify(lambda m: m.mock_step_result(wrong, 1))


@pytest.mark.parametrize("times", [0, -1, 1.5])
def test_a_number_of_attempts_that_is_none_is_refused(worker: Worker, times: Any) -> None:
    introspector = introspect_workflow_instance(worker.env.FLOW, "a")
    with pytest.raises(ValueError, match="is no number of attempts"):
        introspector.modify(lambda m: m.mock_step_error("a", ValueError("no"), times))
    with pytest.raises(ValueError, match="is no number of attempts"):
        introspector.modify(lambda m: m.force_step_timeout("a", times))


@pytest.mark.parametrize("wrong", ["boom", ValueError, {"name": "Error"}])
def test_an_error_that_is_none_is_refused(worker: Worker, wrong: Any) -> None:
    introspector = introspect_workflow_instance(worker.env.FLOW, "a")
    with pytest.raises(TypeError, match="is no error"):
        introspector.modify(lambda m: m.mock_step_error("a", wrong))
