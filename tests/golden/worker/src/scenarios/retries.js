// Attempts: how many, how far apart, how long.

import { outcome } from "../describe.js";

const QUICK = { limit: 1, delay: 5, backoff: "constant" };

// A step that fails at every attempt, and what its caller sees of it.
function failing(config) {
  return async ({ step, note }) => {
    const seen = await outcome(() =>
      step.do("fails", config, async ({ attempt }) => {
        note("attempt", attempt);
        throw new Error(`failure ${attempt}`);
      }),
    );
    note("seen", seen);
  };
}

export const RETRIES = {
  "no-second-attempt": failing({ retries: { limit: 0, delay: 5 } }),
  "constant-delay": failing({ retries: { limit: 3, delay: 5, backoff: "constant" } }),
  "linear-delay": failing({ retries: { limit: 3, delay: 5, backoff: "linear" } }),
  "exponential-delay": failing({ retries: { limit: 3, delay: 5, backoff: "exponential" } }),
  "delay-as-text": failing({ retries: { limit: 1, delay: "5 milliseconds" } }),

  "the-third-attempt-succeeds": async ({ step }) =>
    step.do("third time lucky", { retries: { limit: 5, delay: 5, backoff: "constant" } }, async ({ attempt }) => {
      if (attempt < 3) throw new Error("not yet");
      return attempt;
    }),

  "delay-function": async ({ step, note }) => {
    const delay = ({ ctx, error }) => {
      note("asked", ctx, error);
      return ctx.attempt * 5;
    };
    return outcome(() =>
      step.do("fails", { retries: { limit: 2, delay } }, async ({ attempt }) => {
        throw new RangeError(`failure ${attempt}`);
      }),
    );
  },

  "delay-functions-that-fail": async ({ step, note }) => {
    const delays = {
      throws: () => {
        throw new Error("no delay");
      },
      negative: () => -1,
      nothing: () => undefined,
      word: () => "soon",
    };
    for (const [name, delay] of Object.entries(delays)) {
      const call = () =>
        step.do(name, { retries: { limit: 1, delay } }, async () => {
          throw new Error("the step's own");
        });
      note(name, await outcome(call));
    }
  },

  "timeout-of-an-attempt": async ({ step, note }) => {
    const seen = await outcome(() =>
      step.do("slow", { timeout: 40, retries: QUICK }, async ({ attempt }) => {
        note("attempt", attempt);
        await scheduler.wait(400);
      }),
    );
    note("seen", seen);
  },

  "configs-that-are-refused": async ({ step, note }) => {
    const configs = {
      "negative limit": { retries: { limit: -1, delay: 1 } },
      "limit as text": { retries: { limit: "3", delay: 1 } },
      "no limit": { retries: { delay: 1 } },
      "no delay": { retries: { limit: 1 } },
      "negative delay": { retries: { limit: 1, delay: -1 } },
      "delay is a word": { retries: { limit: 1, delay: "soon" } },
      "unknown backoff": { retries: { limit: 1, delay: 1, backoff: "cubic" } },
      "unknown key": { patience: 1 },
      "no time": { timeout: 0 },
      "timeout is a word": { timeout: "long" },
      "sensitive is a boolean": { sensitive: true },
      "a text": "config",
      "a list": [],
    };
    for (const [name, config] of Object.entries(configs)) {
      note(name, await outcome(() => step.do("refused", config, async () => "ran")));
    }
  },

  "a-failed-step-is-remembered": {
    async main({ step, note }) {
      const bad = async () => {
        note("attempt");
        throw Object.assign(new TypeError("remembered"), { code: 7 });
      };
      note("seen", await outcome(() => step.do("bad", { retries: { limit: 0, delay: 5 } }, bad)));
      await step.waitForEvent("go on", { type: "go-on", timeout: "1 minute" });
    },
    async observe(stage) {
      const instance = await stage.create();
      await stage.noted(instance, "seen");
      await instance.pause();
      await stage.reached(instance, "paused");
      await instance.resume();
      await stage.noted(instance, "seen", 2);
      await instance.sendEvent({ type: "go-on" });
      return stage.end(instance);
    },
  },
};
