// The public events of an instance, and what is not shown of it.

import { outcome } from "../describe.js";

async function life({ step, note }) {
  await step.do("first", async () => ({ date: new Date(0) }));
  await step.do("second", { retries: { limit: 1, delay: 5, backoff: "constant" } }, async ({ attempt }) => {
    if (attempt === 1) throw new RangeError("once");
    return "ok";
  });
  await step.sleep("nap", 10);
  const { payload } = await step.waitForEvent("wait", { type: "go", timeout: "1 minute" });
  try {
    await step.waitForEvent("in vain", { type: "never", timeout: 20 });
  } catch {
    note("caught");
  }
  return { payload };
}

async function lived(stage) {
  const instance = await stage.create();
  await instance.sendEvent({ type: "go", payload: 1 });
  await stage.ended(instance);
  return instance;
}

export const SUBSCRIBE = {
  "the-events-of-a-life": {
    main: life,
    observe: async (stage) => stage.events(await lived(stage)),
  },

  "some-of-the-events": {
    main: life,
    async observe(stage) {
      const instance = await lived(stage);
      return {
        filter: await stage.events(instance, { filter: ["step_completed", "workflow_completed"] }),
        cursor: (await stage.events(instance, { cursor: 5 })).map(({ eventId }) => eventId),
        "unknown event": await outcome(() => stage.events(instance, { filter: ["unknown"] })),
        "no event": await outcome(() => stage.events(instance, { filter: [] })),
        "odd cursor": await outcome(() => stage.events(instance, { cursor: -1 })),
      };
    },
  },

  "the-events-of-a-failure": {
    async main({ step, note }) {
      const undo = { rollback: async () => note("undone") };
      await step.do("good", async () => 1, undo);
      await step.do("bad", { retries: { limit: 1, delay: 5 } }, async () => Promise.reject(new TypeError("bad")));
    },
    async observe(stage) {
      const instance = await stage.create();
      await stage.ended(instance);
      return stage.events(instance);
    },
  },

  "the-events-of-a-restart": {
    main: async ({ step }) => step.do("only", async () => 1),
    async observe(stage) {
      const instance = await stage.create();
      await stage.ended(instance);
      await instance.restart();
      await scheduler.wait(100);
      await stage.ended(instance);
      return stage.events(instance);
    },
  },

  "what-is-sensitive": {
    async main({ step }) {
      const secret = await step.do("secret", { sensitive: "output" }, async () => "secret");
      await step.do("open", async () => "open");
      return secret.length;
    },
    async observe(stage) {
      const instance = await stage.create();
      return { ...(await stage.end(instance)), events: await stage.events(instance) };
    },
  },
};
