"""The examples of this project, and code as Cloudflare's documentation shows it, give no alarm."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.wrangler_compat.lints.example_project import write_example
from wrangler_compat import load_project
from wrangler_compat.code import read_code
from wrangler_compat.findings import Finding
from wrangler_compat.lints import check
from wrangler_compat.lints.lint import Example, Target

ROOT = Path(__file__).parents[3]
PROJECTS = sorted(path.parent for path in (ROOT / "fixtures").glob("*/wrangler.*"))
GREETER = """
import { WorkflowEntrypoint, WorkflowEvent, WorkflowStep } from "cloudflare:workers";
import type { Env } from "./types";

type Params = { email: string; metadata: Record<string, string> };

export class Order extends WorkflowEntrypoint<Env, Params> {
  async run(event: WorkflowEvent<Params>, step: WorkflowStep) {
    const files = await step.do("my first step", async () => {
      return { files: ["doc_7392_rev3.pdf", "report_x29_final.pdf"] };
    });
    const answer = await step.do("some other step", async () => {
      const resp = await fetch("https://api.cloudflare.com/client/v4/ips");
      return await resp.json<any>();
    });
    await step.sleep("wait on something", "1 minute");
    await step.do(
      "make a call to write that could maybe, just might, fail",
      { retries: { limit: 5, delay: "5 second", backoff: "exponential" }, timeout: "15 minutes" },
      async () => {
        if (Math.random() > 0.5) {
          throw new Error("API call to $STORAGE_SYSTEM failed");
        }
      },
    );
    for (const file of files.files) {
      await step.do(`read ${file}`, async () => file.length);
    }
    return { answer, at: Date.now() };
  }
}

export default {
  async fetch(req: Request, env: Env): Promise<Response> {
    const id = new URL(req.url).searchParams.get("instanceId");
    if (id) {
      const instance = await env.ORDER.get(id);
      return Response.json({ status: await instance.status() });
    }
    const instance = await env.ORDER.create({ id: crypto.randomUUID() });
    return Response.json({ id: instance.id });
  },
};
"""
DAG = """
import asyncio
import random
from urllib.parse import urlparse

from workers import Response, WorkerEntrypoint, WorkflowEntrypoint


class Order(WorkflowEntrypoint):
    async def run(self, event, step):
        @step.do("dependency 1")
        async def sleep_a_little():
            print("executing dep1")
            await asyncio.sleep(random.randint(1, 10))

        @step.do("dependency 2")
        async def sleep_longer():
            await asyncio.sleep(random.randint(5, 15))

        @step.do("final step", depends=[sleep_a_little, sleep_longer], concurrent=True)
        async def summarize(res1=None, res2=None):
            print("now I am done")

        await summarize()


class Default(WorkerEntrypoint):
    async def fetch(self, request):
        url = urlparse(request.url)
        if url.path == "/start":
            workflow = await self.env.ORDER.create()
            return Response("Just kicked off a workflow with ID: " + workflow.id)
        workflow = await self.env.ORDER.get(url.path.split("/")[-1])
        return Response.json(await workflow.status())
"""


# One has a class that is there to be reconciled, one has rollback functions, which celld does not run.
RIGHT = {("shop", "class_not_configured"), ("media", "missing_compensation_try")}


def alarms(folder: Path, environment: str | None, target: Target) -> list[Finding]:
    project = load_project(folder, environment, environ={})
    return check(project, read_code(project.main, project.root), target)


def environments(folder: Path) -> list[str | None]:
    from wrangler_compat.discover import find_config
    from wrangler_compat.source import read_source

    return [None, *read_source(find_config(folder).path).data.get("env", {})]


@pytest.mark.parametrize("target", ["cloudflare", "celld"])
@pytest.mark.parametrize("folder", [*PROJECTS, ROOT / "bench" / "worker"], ids=lambda path: path.name)
def test_our_own_projects_are_clean(folder: Path, target: Target) -> None:
    for environment in environments(folder):
        found = alarms(folder, environment, target)
        assert [each for each in found if (folder.name, each.code) not in RIGHT] == []


@pytest.mark.parametrize(("language", "text"), [("javascript", GREETER), ("python", DAG)], ids=["javascript", "python"])
def test_the_shape_of_the_official_examples_is_clean(language: str, text: str, tmp_path: Path) -> None:
    example = Example("python" if language == "python" else "javascript", bad="", good=text)
    main = write_example(example, text, tmp_path)
    if language == "javascript":
        main.rename(tmp_path / "main.ts")
        config = tmp_path / "wrangler.jsonc"
        config.write_text(config.read_text().replace("main.js", "main.ts"))

    assert alarms(tmp_path, None, "cloudflare") == []


def test_steps_of_one_name_may_be_on_ways_that_exclude_each_other(tmp_path: Path) -> None:
    text = """
if event["payload"]["known"]:

    @step.do("greet")
    async def again():
        return 1

    return await again()

try:

    @step.do("greet")
    async def first():
        return 2

    return await first()
except ValueError:

    @step.do("greet")
    async def rudely():
        return 3

    return await rudely()
"""
    write_example(Example("python", bad="", good=text), text, tmp_path)

    assert [each.code for each in alarms(tmp_path, None, "cloudflare") if each.level != "note"] == []


def test_a_loop_of_a_fixed_number_may_run_steps_of_one_name(tmp_path: Path) -> None:
    text = """
for (let attempt = 0; attempt < 3; attempt++) {
  await step.do("try", async () => 1);
}
"""
    write_example(Example("javascript", bad="", good=text), text, tmp_path)

    assert [each.code for each in alarms(tmp_path, None, "cloudflare") if each.level != "note"] == []


def test_code_that_is_out_of_sight_is_not_judged(tmp_path: Path) -> None:
    text = """
from workers import WorkflowEntrypoint
import flows_of_a_package


class Order(WorkflowEntrypoint):
    async def run(self, event, step):
        handle = getattr(self.env, event["payload"]["binding"])
        await handle.create()
        await flows_of_a_package.run(event, step)
        for name in event["payload"]["names"]:
            await self.one(step, name)

    async def one(self, step, name):
        @step.do(f"greet {name}")
        async def greet():
            return name

        return await greet()
"""
    write_example(Example("python", bad="", good=text), text, tmp_path)

    assert alarms(tmp_path, None, "celld") == []
