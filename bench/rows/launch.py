"""Launch to first response, with nothing in the state folder."""

from __future__ import annotations

from bench.rows.types import Metric, Row, Sample, Stage
from bench.server import Server


async def launch(stage: Stage) -> Sample:
    """Seconds from the start of the command to the answer of the Worker."""
    server = Server(stage.side, stage.folder, stage.sizes.patience)
    try:
        return {"launch": await server.first_response()}
    finally:
        server.kill()


LAUNCH = Row("launch", (Metric("launch", "launch to first response", "s", False, "< 0.8", js_goal="< 1"),), launch)
