"""What `console` prints, as the person at the terminal sees it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.dev import dev
from tests.javascript.e2e.typescript import write_typescript

pytestmark = [pytest.mark.usefixtures("tools"), pytest.mark.timeout(120)]


def test_groups_tables_and_traces_of_requests_and_of_steps(tmp_path: Path) -> None:
    code = """
    import { WorkflowEntrypoint } from "cloudflare:workers";

    function show(): void {
      console.group("shown");
      console.table([{ a: 1 }]);
      console.trace("here");
      console.groupEnd();
    }

    export class ReportFlow extends WorkflowEntrypoint {
      run(_: any, step: any) { return step.do("a", async () => show()); }
    }

    export default {
      async fetch(request: Request, env: any) {
        if (new URL(request.url).pathname === "/show") show();
        return (await routes(request, env.REPORT_FLOW)) ?? new Response();
      },
    };
    """
    with dev(write_typescript(tmp_path, code, "ReportFlow"), "--no-watch") as server:
        expected = [
            "shown",
            *("  ┌─────────┬───┐", "  │ (index) │ a │", "  ├─────────┼───┤", "  │ 0       │ 1 │", "  └─────────┴───┘"),
            "  Trace: here",
            f"      at show ({tmp_path}/src/index.ts:7:11)",
        ]
        server.get("/show")
        server.printed("at Object.fetch")
        begin = server.lines.index("shown")
        assert server.lines[begin : begin + len(expected)] == expected

        server.json("/create?id=one")
        server.until("/status?id=one", lambda seen: seen["status"] == "complete")
        server.printed("[report-flow/one a-1 #1]       at show (")
        placed = [line for line in server.lines if line.startswith("[report-flow/one a-1 #1]")]
        assert [line.removeprefix("[report-flow/one a-1 #1] ") for line in placed[: len(expected)]] == expected
