// Creating: ids, duplicates, batches, other workflows, other ways to a workflow.

import { outcome } from "../describe.js";

const short = async ({ step }) => step.do("only", async () => "done");

function ids(batch) {
  return Array.isArray(batch) ? batch.map(({ id }) => id) : { ...batch, created: batch.created.map(({ id }) => id) };
}

export const CREATION = {
  "ids-that-are-refused": {
    main: short,
    async observe(stage) {
      const seen = {};
      const odd = { empty: "", space: "a b", dot: "a.b", slash: "a/b", dash: "-a", number: 5, null: null };
      odd.long = "x".repeat(101);
      for (const [name, id] of Object.entries(odd)) seen[name] = await outcome(() => stage.binding.create({ id }));
      const longest = stage.id().padEnd(100, "x");
      seen.longest = await outcome(async () => (await stage.binding.create({ id: longest })).id === longest);
      return seen;
    },
  },

  "without-an-id": {
    main: short,
    async observe(stage) {
      return {
        "no options": await outcome(async () => (await stage.binding.create()).id),
        "no id": await outcome(async () => (await stage.binding.create({ params: stage.params("main") })).id),
      };
    },
  },

  "an-id-that-is-taken": {
    main: short,
    async observe(stage) {
      const instance = await stage.create();
      const running = await outcome(() => stage.binding.create({ id: instance.id }));
      await stage.ended(instance);
      const complete = await outcome(() => stage.binding.create({ id: instance.id }));
      const id = stage.id();
      const both = await Promise.all([1, 2].map(() => outcome(async () => (await stage.binding.create({ id })).id)));
      const kinds = both.map((each) => Object.keys(each)[0]).sort();
      const elsewhere = await outcome(async () => (await stage.bindings.limited.create({ id: instance.id })).id);
      return { running, complete, kinds, elsewhere };
    },
  },

  "an-id-that-is-not-there": {
    async observe(stage) {
      const seen = {};
      for (const [name, id] of Object.entries({ unknown: "never-created", empty: "", odd: "a b", number: 5 })) {
        seen[name] = await outcome(() => stage.binding.get(id));
      }
      return seen;
    },
  },

  "a-batch-as-a-list": {
    main: short,
    async observe(stage) {
      const [a, b, c] = [stage.id(), stage.id(), stage.id()];
      const params = stage.params("main");
      const batch = (entries) => outcome(async () => ids(await stage.binding.createBatch(entries)));
      return {
        two: await batch([{ id: a, params }, { id: b, params }]),
        "one is there": await batch([{ id: a, params }, { id: c, params }]),
        "no ids": await batch([{ params }, {}]),
        none: await batch([]),
        "too many": await batch(Array.from({ length: 101 }, () => ({ params }))),
        "an odd id": await batch([{ id: stage.id(), params }, { id: "odd id", params }]),
        end: (await stage.end(await stage.binding.get(c))).status,
      };
    },
  },

  "a-batch-as-an-object": {
    main: short,
    async observe(stage) {
      const [a, b] = [stage.id(), stage.id()];
      const params = stage.params("main");
      const batch = (options) => outcome(async () => ids(await stage.binding.createBatch(options)));
      return {
        two: await batch({ instances: [{ id: a, params }, { id: b, params }] }),
        "one is there, one is twice": await batch({
          instances: [{ id: a, params }, { id: `${b}x`, params }, { id: `${b}x`, params }],
        }),
        "a count": await batch({ count: 3, params }),
        "no count": await batch({ count: 0 }),
        "half a count": await batch({ count: 1.5 }),
        "too many": await batch({ count: 101 }),
        none: await batch({ instances: [] }),
        nothing: await batch({}),
        "a reserved id": await batch({ instances: [{ id: "batch" }] }),
        "an unknown place": await batch({ instances: [{ locationHint: "mars" }] }),
      };
    },
  },

  "a-handle": {
    main: short,
    async observe(stage) {
      const created = await stage.create();
      await stage.ended(created);
      const got = await stage.binding.get(created.id);
      const methods = ["status", "pause", "resume", "terminate", "restart", "sendEvent", "delete", "subscribe"];
      return {
        id: [created.id, got.id],
        methods: methods.map((name) => [typeof created[name], typeof got[name]]),
        status: await stage.status(got),
      };
    },
  },

  "a-workflow-that-is-exported": {
    binding: "exported",
    async main({ step, event, note }) {
      note("workflow", event.workflowName);
      const { payload } = await step.waitForEvent("wait", { type: "go", timeout: "1 minute" });
      return payload;
    },
    async observe(stage) {
      const instance = await stage.create();
      await stage.noted(instance, "workflow");
      const again = await outcome(() => stage.binding.create({ id: instance.id }));
      await scheduler.wait(60);
      await instance.pause();
      await stage.reached(instance, "paused");
      await instance.resume();
      await instance.sendEvent({ type: "go", payload: new Date(0) });
      const end = await stage.end(instance);
      const batch = await outcome(async () => ids(await stage.binding.createBatch({ count: 2 })));
      const deleted = await outcome(() => instance.delete());
      return { again, end, batch, deleted, gone: await outcome(() => stage.binding.get(instance.id)) };
    },
  },

  "a-workflow-that-starts-another": {
    parts: {
      async main({ step, env, payload }) {
        const id = await step.do("start", async () => {
          const params = { scenario: payload.scenario, part: "child", from: "parent" };
          return (await env.PLAYED.create({ id: payload.child, params })).id;
        });
        return step.do("ask", { retries: { limit: 50, delay: 20, backoff: "constant" } }, async () => {
          const { status, output } = await (await env.PLAYED.get(id)).status();
          if (status !== "complete") throw new Error("not yet");
          return output;
        });
      },
      child: async ({ payload }) => `child of ${payload.from}`,
    },
    async observe(stage) {
      const { status } = await stage.end(await stage.create("main", { child: stage.id("child") }));
      return { status };
    },
  },
};
