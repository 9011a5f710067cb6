"""Steps that return streams, on the real workerd: whole for the caller and for every replay, or the instance's end."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.dev import Dev, dev, eventually
from tests.javascript.e2e.typescript import kill, the_workerd, write_typescript

pytestmark = [pytest.mark.usefixtures("tools"), pytest.mark.timeout(120)]

CODE = """
import { WorkflowEntrypoint, WorkflowEvent, WorkflowStep } from "cloudflare:workers";

interface Env { REPORT_FLOW: any; SELF: Fetcher }

const bytes = (text: string) => new TextEncoder().encode(text);
const of = (...chunks: any[]) =>
  new ReadableStream({ start(to) { chunks.forEach((chunk) => to.enqueue(chunk)); to.close(); } });
const times = (count: number, chunk: any, pause = 0) =>
  new ReadableStream({
    async pull(to) {
      if (pause) await scheduler.wait(pause);
      if (count-- > 0) to.enqueue(chunk);
      else to.close();
    },
  });
const locked = (stream: ReadableStream) => { stream.getReader(); return stream; };
let begun = 0; // runs
const reused = new Uint8Array(100_000).fill(120);

const STREAMS: Record<string, () => any> = {
  text: () => of(bytes("hello "), bytes("world")),
  kinds: () => of(new Uint8Array([1, 2]), new Uint16Array([3]), new ArrayBuffer(2), new Uint8Array(9).subarray(3, 4)),
  empty: () => of(),
  gaps: () => of(new Uint8Array(0), bytes("a"), new Uint8Array(0), bytes("b"), new Uint8Array(0)),
  reused: () => times(50, reused),
  native: () => new Response("from a response").body,
  slow: () => times(3, bytes("x"), 100),
  largest: () => of(new Uint8Array(16 * 1024 * 1024)),
  locked: () => locked(of(bytes("x"))),
  oversized: () => of(new Uint8Array(17 * 1024 * 1024)),
  strings: () => of("text"),
  views: () => of(new DataView(new ArrayBuffer(4))),
  broken: () => new ReadableStream({ pull(to) { throw new TypeError("boom"); } }),
  breaking: () => times(9, reused).pipeThrough(new TransformStream({ flush() { throw new Error("late boom"); } })),
  nested: () => ({ body: of(bytes("x")) }),
  endless: () => new ReadableStream({ pull: () => new Promise(() => {}), cancel: () => console.log("cancelled") }),
};

async function sum(stream: ReadableStream<Uint8Array>) {
  let [size, total] = [0, 0];
  for await (const chunk of stream as any) {
    if (!(chunk instanceof Uint8Array)) throw new Error("a chunk is no Uint8Array");
    size += chunk.byteLength;
    for (const byte of chunk) total = (total + byte) % 1_000_003;
  }
  return [size, total];
}

const size = async (stream: any) => (await new Response(stream).arrayBuffer()).byteLength;
const USES: Record<string, (stream: ReadableStream, step: any, env: Env) => Promise<any>> = {
  "another step's result": async (stream, step) => size(await step.do("again", async () => stream)),
  "the body of a request": async (stream, step, { SELF }) =>
    Number(await (await SELF.fetch("http://self/size", { method: "POST", body: stream })).text()),
  "through a pipe": (stream) => size(stream.pipeThrough(new IdentityTransformStream())),
  "compressed": (stream) => size(
    stream.pipeThrough(new CompressionStream("gzip")).pipeThrough(new DecompressionStream("gzip"))),
  "two readers": async (stream) => (await Promise.all(stream.tee().map(size)))[1],
  "a reader with memory of its own": async (stream) => {
    const reader = stream.getReader({ mode: "byob" });
    for (let read = 0; ; ) {
      const { done, value } = await reader.read(new Uint8Array(1000));
      if (done) return read;
      read += value.byteLength;
    }
  },
};

export class ReportFlow extends WorkflowEntrypoint<Env, any> {
  async run(event: WorkflowEvent<any>, step: WorkflowStep) {
    const { kind, config = {}, wait, read = true, undo, use } = event.payload;
    begun += 1;
    if (kind === "run") return STREAMS.text();
    const rollback = { rollback: async ({ output }: any) => console.log("undone:", await new Response(output).text()) };
    let result: any;
    try {
      const make = async () => { console.log("made"); return STREAMS[kind](); };
      result = await (undo ? step.do("stream", config, make, rollback) : step.do("stream", config, make));
    } catch (error: any) {
      return `caught ${error.name}: ${error.message}`;
    }
    if (wait === "reading") await result.getReader().read();
    if (wait) await step.waitForEvent("wait", { type: "go" });
    if (wait === "reading") return "read";
    if (undo) throw new Error("to be undone");
    if (!read) return result.locked;
    if (use) return await USES[use](result, step, this.env);
    return kind === "text" ? await new Response(result).text() : await sum(result);
  }
}

async function events(instance: any) {
  const shown: any = {};
  const subscription = await instance.subscribe();
  for (;;) {
    const { done, value } = await subscription.next();
    if (done) return shown;
    const { type, output } = value;
    shown[type] = output instanceof ReadableStream ? { stream: await new Response(output).text() } : output;
  }
}

export default {
  async fetch(request: Request, env: Env) {
    const url = new URL(request.url);
    if (url.pathname === "/size") return new Response(String(await size(request.body)));
    if (url.pathname === "/events") {
      return Response.json(await events(await env.REPORT_FLOW.get(url.searchParams.get("id"))));
    }
    return (await routes(request, env.REPORT_FLOW)) ?? Response.json(begun);
  },
};
"""
TERMINATED = "The execution of the Workflow instance was terminated, as the step"
OVER = {"complete", "errored"}


def made(folder: Path) -> Path:
    self = {"binding": "SELF", "service": "worker"}
    return write_typescript(folder / "reports", CODE, "ReportFlow", services=[self])


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dev]:
    """One server, for what does not disturb others."""
    with dev(made(tmp_path_factory.mktemp("streams"))) as server:
        yield server


def begin(server: Dev, id: str, **params: Any) -> None:
    server.json(f"/create?id={id}", "POST", json={"kind": id, **params})


def ended(server: Dev, id: str, **params: Any) -> Any:
    """How an instance ends."""
    begin(server, id, **params)
    return outcome(server, id)


def outcome(server: Dev, id: str) -> Any:
    seen = server.until(f"/status?id={id}", lambda seen: seen["status"] in OVER)
    return seen["output"] if seen["status"] == "complete" else seen["error"]


def blocks(project: Path) -> list[tuple[int, int, int]]:
    """Step, attempt and size of every block in the one instance's file."""
    (file,) = project.glob(".celld/state/instances/*/*.db")
    with closing(sqlite3.connect(file)) as db:
        if not db.execute("SELECT 1 FROM sqlite_schema WHERE name = 'blocks'").fetchall():
            return []
        return db.execute("SELECT step, attempt, length(data) FROM blocks ORDER BY step, attempt, number").fetchall()


# ------------------------------------------------------------------------------------------------------------- results


def test_c165_the_caller_gets_a_fresh_stream_with_the_same_bytes(server: Dev) -> None:
    assert ended(server, "text") == "hello world"


@pytest.mark.parametrize(
    ("kind", "size", "total"),
    [
        ("kinds", 7, 6),
        ("gaps", 2, 195),
        ("reused", 5_000_000, 120 * 5_000_000 % 1_000_003),
        ("native", 15, sum(b"from a response")),
        ("slow", 3, 3 * 120),
        ("largest", 16 << 20, 0),
    ],
)
def test_c165_chunks_may_be_any_bytes(server: Dev, kind: str, size: int, total: int) -> None:
    assert ended(server, kind) == [size, total]


@pytest.mark.parametrize(
    "use",
    [
        "another step's result",
        "the body of a request",
        "through a pipe",
        "compressed",
        "two readers",
        "a reader with memory of its own",
    ],
)
def test_c165_it_can_be_used_like_any_stream_of_bytes(server: Dev, use: str) -> None:
    assert ended(server, "".join(filter(str.isalnum, use)), kind="reused", use=use) == 5_000_000


def test_c166_an_empty_stream_is_a_stream(server: Dev) -> None:
    assert ended(server, "empty") == [0, 0]


@pytest.mark.parametrize(
    ("kind", "detail"),
    [
        (
            "locked",
            "Step returned a ReadableStream that is already locked or otherwise unreadable. "
            "Return a fresh, unlocked ReadableStream from step.do().",
        ),
        (
            "oversized",
            "Step returned a ReadableStream chunk larger than the maximum allowed size of 16777216 bytes. "
            "Return smaller chunks from step.do().",
        ),
        *(
            (
                kind,
                "Step returned a ReadableStream with unsupported chunk type. "
                "Only ArrayBuffer and TypedArray chunks are supported.",
            )
            for kind in ("strings", "views")
        ),
        *(
            (
                kind,
                "Failed to read from step ReadableStream output. "
                "ReadableStream received over RPC disconnected prematurely.",
            )
            for kind in ("broken", "breaking")
        ),
    ],
)
def test_c167_a_stream_that_cannot_be_kept_ends_the_instance_whatever_its_code_would_catch(
    server: Dev, kind: str, detail: str
) -> None:
    error = ended(server, kind, config={"retries": {"limit": 3, "delay": 1}})
    message = f'{TERMINATED} "stream" returned an invalid ReadableStream output. {detail}'
    assert error == {"name": "WorkflowFatalError", "message": message}


def test_the_terminal_tells_where_a_stream_failed(server: Dev) -> None:
    ended(server, "fails", kind="broken")
    server.printed("TypeError: boom")
    server.printed("src/index.ts:")


def test_a_stream_inside_a_value_cannot_be_kept(server: Dev) -> None:
    message = f'{TERMINATED} "stream" returned a value which is not serialisable'
    assert ended(server, "nested") == {"name": "WorkflowFatalError", "message": message}


def test_run_itself_cannot_return_one(server: Dev) -> None:
    message = "ReadableStream can only be serialized for RPC."
    assert ended(server, "run") == {"name": "DataCloneError", "message": message}


def test_subscribers_get_the_stream_unless_it_is_sensitive(server: Dev) -> None:
    ended(server, "seen", kind="text")
    assert server.json("/events?id=seen")["step_completed"] == {"stream": "hello world"}
    ended(server, "hidden", kind="text", config={"sensitive": "output"})
    assert server.json("/events?id=hidden")["step_completed"] == "[REDACTED]"


def test_an_undo_function_is_given_the_stream(server: Dev) -> None:
    ended(server, "undone", kind="text", undo=True)
    server.printed("undone: hello world")


# --------------------------------------------------------------------------------------------------------- lives


def test_draining_counts_as_part_of_the_attempt(server: Dev) -> None:
    config = {"timeout": 300, "retries": {"limit": 1, "delay": 0}}
    text = "caught Error: WorkflowTimeoutError: Execution timed out after 300ms"
    assert ended(server, "endless", config=config) == text
    server.printed("cancelled")


@pytest.mark.parametrize("read", [True, False])
def test_c165_a_replay_gets_the_stream_again_also_after_kill_9(tmp_path: Path, read: bool) -> None:
    with dev(made(tmp_path), "--hibernate-after", "0.1") as server:
        begin(server, "text", wait=True, read=read)
        server.until("/status?id=text", lambda seen: seen["status"] == "waiting")
        server.kill()
        server.start()

        server.json("/send?id=text", "POST", json={})

        assert outcome(server, "text") == ("hello world" if read else False)
        assert sum(line.endswith("made") for line in server.lines) == 1


@pytest.mark.parametrize(("kind", "wait"), [("reused", True), ("reused", "reading"), ("text", "reading")])
def test_a_run_with_a_stream_that_nobody_reads_to_its_end_leaves_memory(
    tmp_path: Path, kind: str, wait: object
) -> None:
    with dev(made(tmp_path), "--hibernate-after", "0.1") as server:
        begin(server, kind, wait=wait)
        server.until(f"/status?id={kind}", lambda seen: seen["status"] == "waiting")
        server.json(f"/send?id={kind}", "POST", json={})
        assert outcome(server, kind) in ("read", [5_000_000, 120 * 5_000_000 % 1_000_003])
        assert server.json("/") == 2, "a run that has left memory begins anew"


def test_a_stream_is_read_after_its_workerd_was_killed(tmp_path: Path) -> None:
    with dev(made(tmp_path)) as server:
        begin(server, "text", wait=True)
        server.until("/status?id=text", lambda seen: seen["status"] == "waiting")
        kill(the_workerd(server))
        server.printed("ended by signal 9")
        server.json("/send?id=text", "POST", json={})
        assert outcome(server, "text") == "hello world"


def test_a_step_that_is_killed_while_its_stream_comes_runs_again(tmp_path: Path) -> None:
    endless = CODE.replace("slow: () => times(3,", "slow: () => times(1_000_000,").replace(
        'bytes("x"), 100', "reused, 1"
    )
    project = write_typescript(tmp_path / "reports", endless, "ReportFlow")
    with dev(project) as server:
        begin(server, "slow")
        eventually(lambda: blocks(project))
        server.kill()
        made_before = blocks(project)
        write_typescript(project, CODE, "ReportFlow")
        server.start()

        assert outcome(server, "slow") == [3, 3 * 120]

        assert {attempt for _, attempt, _ in made_before} == {1}
        assert blocks(project) == [(1, 2, 3)]


def test_a_restart_leaves_nothing_of_the_streams_before_it(tmp_path: Path) -> None:
    project = made(tmp_path)
    with dev(project) as server:
        assert ended(server, "text") == "hello world"
        assert blocks(project) == [(1, 1, 11)]
        server.json("/restart?id=text")
        server.until("/status?id=text", lambda seen: seen["status"] == "complete")
        assert eventually(lambda: blocks(project) == [(2, 1, 11)])


def test_a_long_stream_lies_in_blocks_of_256_kib(tmp_path: Path) -> None:
    project = made(tmp_path)
    with dev(project) as server:
        assert ended(server, "reused") == [5_000_000, 120 * 5_000_000 % 1_000_003]
        sizes = [size for _, _, size in blocks(project)]
        assert sizes == [262_144] * 19 + [5_000_000 - 19 * 262_144]


def test_the_target_celld_has_no_streams(tmp_path: Path) -> None:
    with dev(made(tmp_path), "--target", "celld") as server:
        message = f'{TERMINATED} "stream" returned a value which is not serialisable'
        assert ended(server, "text") == {"name": "WorkflowFatalError", "message": message}
