// Steps: their forms, names, numbers, and what runs side by side.

const pause = (ms) => scheduler.wait(ms);

export const STEPS = {
  "run-without-steps": () => "nothing to do",

  "do-forms": async ({ step, note }) => {
    const rollback = async () => note("never");
    note("plain", await step.do("plain", async () => 1));
    note("config", await step.do("config", { timeout: "5 seconds" }, async () => 2));
    note("rollback", await step.do("rollback", async () => 3, { rollback }));
    note("both", await step.do("both", { timeout: 5000 }, async () => 4, { rollback }));
    note("not async", await step.do("not async", () => 5));
    note("nothing", await step.do("nothing", async () => {}));
    return "all forms";
  },

  "the-event": async ({ event, note }) => {
    note("keys", Object.keys(event));
    note("timestamp", event.timestamp instanceof Date);
    note("workflow", event.workflowName);
    note("instance", event.instanceId);
  },

  "the-context-of-a-step": async ({ step, note }) => {
    const retries = { limit: 2, delay: "1 second", backoff: "linear" };
    await step.do("plain", async (context) => note("plain", context));
    await step.do("plain", async (context) => note("second", context));
    await step.do("configured", { retries, timeout: "30 seconds" }, async (context) => note("configured", context));
    await step.do("half", { retries: { limit: 1, delay: 10 } }, async (context) => note("half", context));
  },

  "the-same-name-thrice": async ({ step, note }) => {
    const results = [];
    for (const letter of ["a", "b", "c"]) {
      results.push(await step.do("letter", async ({ step: { count } }) => `${letter}${count}`));
    }
    note("results", results);
    return results;
  },

  "side-by-side": async ({ step, note }) => {
    const lasting = [90, 60, 30];
    return Promise.all(
      lasting.map((ms, i) =>
        step.do(`of ${ms} ms`, async () => {
          note(`start ${i}`);
          await pause(ms);
          note(`end ${i}`);
          return i;
        }),
      ),
    );
  },

  "side-by-side-with-one-name": async ({ step }) =>
    Promise.all([0, 1, 2].map((i) => step.do("same", async ({ step: { count } }) => [i, count]))),

  "one-of-many-fails": async ({ step }) => {
    const once = { retries: { limit: 0, delay: 1 } };
    const settled = await Promise.allSettled([
      step.do("good", async () => "good"),
      step.do("bad", once, async () => {
        throw new RangeError("bad");
      }),
    ]);
    return settled.map(({ status, value, reason }) => [status, value ?? `${reason.name}: ${reason.message}`]);
  },

  "a-race-of-steps": async ({ step, note }) => {
    const winner = await Promise.race(
      [20, 300].map((ms) =>
        step.do(`after ${ms} ms`, async () => {
          await pause(ms);
          return ms;
        }),
      ),
    );
    note("winner", winner);
    return step.do("after 20 ms", async ({ step: { count } }) => [winner, count]);
  },

  "a-race-with-a-sleep": async ({ step }) =>
    Promise.race([
      step.sleep("short", 30).then(() => "slept"),
      step.do("long", async () => {
        await pause(400);
        return "worked";
      }),
    ]),

  "a-step-in-a-step": async ({ step, note }) => {
    const outer = await step.do("outer", async () => {
      const inner = await step.do("inner", async ({ step: { name, count } }) => `${name}-${count}`);
      note("inner", inner);
      return `in ${inner}`;
    });
    return [outer, await step.do("inner", async ({ step: { count } }) => count)];
  },

  "a-step-in-a-step-that-is-tried-again": async ({ step, note }) =>
    step.do("outer", { retries: { limit: 1, delay: 10 } }, async ({ attempt }) => {
      const inner = await step.do("inner", async ({ step: { count } }) => count);
      note("attempt", attempt, inner);
      if (attempt === 1) throw new Error("again");
      return inner;
    }),

  "a-sleep-in-a-step": async ({ step }) =>
    step.do("outer", async () => {
      await step.sleep("nap", 20);
      return "rested";
    }),

  "a-hundred-at-once": async ({ step }) => {
    const results = await Promise.all(Array.from({ length: 100 }, (_, i) => step.do(`step ${i}`, async () => i)));
    return results.reduce((sum, result) => sum + result);
  },

  "steps-are-not-run-again": {
    async main({ step, note }) {
      const first = await step.do("first", async () => note("first"));
      for (let i = 0; i < 3; i++) {
        await step.do("again and again", async () => note("again and again"));
      }
      note("run");
      await step.waitForEvent("go on", { type: "go-on", timeout: "1 minute" });
      await step.do("again and again", async ({ step: { count } }) => note("last", count));
      return first;
    },
    async observe(stage) {
      const instance = await stage.create();
      await stage.noted(instance, "run");
      await instance.pause();
      await stage.reached(instance, "paused");
      await instance.resume();
      await stage.noted(instance, "run", 2);
      await instance.sendEvent({ type: "go-on" });
      return stage.end(instance);
    },
  },
};
