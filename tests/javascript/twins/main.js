// The same as main.py, in JavaScript; change both.

import { WorkerEntrypoint, WorkflowEntrypoint } from "cloudflare:workers";

const PATIENT = { retries: { limit: 3, delay: 10, backoff: "linear" }, timeout: "5 seconds" };
const ONCE = { retries: { limit: 0, delay: 1 } };

export class Life extends WorkflowEntrypoint {
  async run(event, step) {
    const given = await step.do("first", async () => ({ number: 2, text: "naïve 🌍", list: [1, true, "x", 2.5] }));

    const parts = await Promise.all([1, 2, 3].map((n) => step.do("part", async () => n * given.number)));

    const attempts = await step.do("tried again", PATIENT, async ({ attempt }) => {
      if (attempt < 3) throw new Error("not yet");
      return attempt;
    });

    const nested = await step.do("outer", async () => (await step.do("inner", async () => 5)) + 1);

    await step.sleep("nap", 20);
    const go = await step.waitForEvent("wait", { type: "go", timeout: "1 minute" });
    try {
      await step.waitForEvent("never", { type: "never", timeout: 20 });
    } catch {
      await step.sleep("after the wait", "10 milliseconds");
    }

    await step.do("secret", { sensitive: "output" }, async () => "secret");
    return { parts, attempts, nested, go: go.payload };
  }
}

export class Undone extends WorkflowEntrypoint {
  async run(event, step) {
    for (const name of ["a", "b"]) {
      await step.do(name, async () => 1, { rollback: async () => {}, rollbackConfig: PATIENT });
    }
    await step.do("bad", ONCE, async () => {
      throw new Error("bad");
    });
  }
}

export default class extends WorkerEntrypoint {
  async fetch(request) {
    const asked = Object.fromEntries(new URL(request.url).searchParams);
    const workflow = asked.workflow === "life" ? this.env.LIFE : this.env.UNDONE;
    if (request.method === "POST") await workflow.create({ id: asked.id, params: { n: 1 } });
    const instance = await workflow.get(asked.id);
    if ("send" in asked) await instance.sendEvent({ type: "go", payload: { number: 7 } });
    return Response.json({ status: (await instance.status()).status });
  }
}
