// Undoing what was done when the whole fails.

import { NonRetryableError } from "cloudflare:workflows";

import { outcome } from "../describe.js";

const ONCE = { retries: { limit: 0, delay: 1 } };

function undo(note, name, more = async () => {}) {
  return {
    rollback: async (given) => {
      note(`undo ${name}`, given);
      await more(given);
    },
  };
}

export const ROLLBACK = {
  "undone-in-reverse": async ({ step, note }) => {
    await step.do("a", async () => ({ made: "A" }), undo(note, "a"));
    await step.do("b", async () => "B", undo(note, "b"));
    await step.do("without", async () => "W");
    await step.do("bad", ONCE, async () => Promise.reject(new Error("bad")), undo(note, "bad"));
  },

  "undone-when-run-throws": async ({ step, note }) => {
    await step.do("a", async () => 1, undo(note, "a"));
    throw new TypeError("from run");
  },

  "undone-after-a-final-error": async ({ step, note }) => {
    await step.do("a", async () => 1, undo(note, "a"));
    await step.do("final", async () => Promise.reject(new NonRetryableError("final")), undo(note, "final"));
  },

  "nothing-is-undone-when-all-is-well": async ({ step, note }) => {
    await step.do("a", async () => 1, undo(note, "a"));
    try {
      await step.do("bad", ONCE, async () => Promise.reject(new Error("bad")), undo(note, "bad"));
    } catch {
      note("caught");
    }
    return "fine";
  },

  "undone-in-the-order-of-starts": async ({ step, note }) => {
    const made = (name, ms) => step.do(name, async () => scheduler.wait(ms).then(() => name), undo(note, name));
    await Promise.all([made("slow", 80), made("quick", 10)]);
    throw new Error("too late");
  },

  "an-undo-that-fails": async ({ step, note }) => {
    const rollbackConfig = { retries: { limit: 1, delay: 5, backoff: "constant" } };
    const fails = undo(note, "b", async () => Promise.reject(new Error("cannot be undone")));
    await step.do("a", async () => 1, undo(note, "a"));
    await step.do("b", async () => 2, { ...fails, rollbackConfig });
    await step.do("c", async () => 3, undo(note, "c"));
    throw new Error("trigger");
  },

  "an-undo-that-is-tried-again": async ({ step, note }) => {
    const rollbackConfig = { retries: { limit: 2, delay: 5, backoff: "constant" }, timeout: "5 seconds" };
    const second = undo(note, "a", async ({ ctx }) => {
      if (ctx.attempt < 2) throw new Error("not yet");
    });
    await step.do("a", async () => 1, { ...second, rollbackConfig });
    throw new Error("trigger");
  },

  "undone-by-terminate": {
    async main({ step, note }) {
      await step.do("a", async () => 1, undo(note, "a"));
      await step.do("b", async () => 2, undo(note, "b"));
      note("asleep");
      await step.sleep("long", "1 hour");
    },
    async observe(stage) {
      const instance = await stage.create();
      await stage.noted(instance, "asleep");
      await scheduler.wait(60);
      const terminated = await outcome(() => instance.terminate({ rollback: true }));
      return { terminated, ...(await stage.end(instance)) };
    },
  },

  "rollback-options-that-are-refused": async ({ step, note }) => {
    const odd = { text: "text", null: null, list: [], nothing: {}, number: { rollback: 5 } };
    odd.config = { rollback: async () => {}, rollbackConfig: { timeout: 0 } };
    for (const [name, options] of Object.entries(odd)) {
      note(name, await outcome(() => step.do(name, async () => "ran", options)));
    }
  },
};
