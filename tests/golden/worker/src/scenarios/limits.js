// Limits: of results, of names, of steps.

import { outcome } from "../describe.js";

const MIB = 1 << 20;
const ONCE = { retries: { limit: 0, delay: 1 } };

function resultOf(size) {
  return async ({ step, note }) => {
    note("length", await outcome(async () => (await step.do("large", ONCE, async () => "x".repeat(size))).length));
  };
}

export const LIMITS = {
  "a-result-of-one-mebibyte": resultOf(MIB),
  "a-result-of-two-mebibytes": resultOf(2 * MIB),
  "a-result-of-nine-mebibytes": resultOf(9 * MIB),

  "names-of-steps": async ({ step, note }) => {
    const names = {
      empty: "",
      "256 characters": "n".repeat(256),
      "257 characters": "n".repeat(257),
      "a line break": "a\nb",
      "other scripts": "é 🌍",
    };
    for (const [what, name] of Object.entries(names)) {
      note(what, await outcome(() => step.do(name, async () => "ran")));
    }
    note("no name", await outcome(() => step.do(undefined, async () => "ran")));
    note("no callback", await outcome(() => step.do("without")));
    note("a callback that is none", await outcome(() => step.do("without", {}, "text")));
  },

  "as-many-steps-as-allowed": {
    binding: "limited",
    async main({ step }) {
      for (let i = 0; i < 3; i++) await step.do(`step ${i}`, async () => i);
      return "all three";
    },
  },

  "one-step-too-many": {
    binding: "limited",
    async main({ step, note }) {
      for (let i = 0; i < 5; i++) note(`step ${i}`, await outcome(() => step.do(`step ${i}`, async () => i)));
      await step.do("not caught", async () => "ran");
    },
  },

  "sleeps-and-waits-are-no-steps": {
    binding: "limited",
    async main({ step }) {
      for (let i = 0; i < 5; i++) await step.sleep(`sleep ${i}`, 5);
      await step.do("one", async () => 1);
      return "fine";
    },
  },
};
