// Errors of all kinds, thrown by steps and by run().

import { NonRetryableError } from "cloudflare:workflows";

import { describe, outcome } from "../describe.js";

const ONCE = { retries: { limit: 0, delay: 1 } };
const TWICE = { retries: { limit: 1, delay: 5, backoff: "constant" } };

class OwnError extends Error {
  name = "OwnError";
}

class OwnFatal extends NonRetryableError {}

function named(name, message) {
  return Object.assign(new Error(message), { name });
}

// What a caller sees of a step that throws, and how often it was tried.
function thrown(make) {
  return async ({ step, note }) => {
    const call = () =>
      step.do("throws", TWICE, async ({ attempt }) => {
        note("attempt", attempt);
        throw make();
      });
    note("seen", await outcome(call));
    return step.do("after it", async () => "went on");
  };
}

export const ERRORS = {
  "built-in-errors": async ({ step, note }) => {
    for (const type of [TypeError, RangeError, SyntaxError, ReferenceError, EvalError, URIError]) {
      const call = () =>
        step.do(type.name, ONCE, async () => {
          throw new type("built in");
        });
      note(type.name, await outcome(call));
    }
  },

  "errors-of-ones-own": async ({ step, note }) => {
    const errors = {
      "own class": () => new OwnError("own"),
      "own name": () => named("PaymentError", "declined"),
      "own members": () => Object.assign(new Error("members"), { code: 402 }),
      "a cause": () => new Error("outer", { cause: new Error("inner") }),
      "a DOMException": () => new DOMException("stopped", "AbortError"),
      "an AggregateError": () => new AggregateError([new Error("one")], "many"),
    };
    for (const [name, make] of Object.entries(errors)) {
      const call = () =>
        step.do(name, ONCE, async () => {
          throw make();
        });
      note(name, await outcome(call));
    }
  },

  "what-is-no-error": async ({ step, note }) => {
    const values = { text: "just text", number: 7, nothing: undefined, null: null, list: [1], object: { code: 1 } };
    for (const [name, value] of Object.entries(values)) {
      const call = () =>
        step.do(name, ONCE, async () => {
          throw value;
        });
      note(name, await outcome(call));
    }
  },

  "final-error-caught": thrown(() => new NonRetryableError("final")),
  "final-error-without-a-message": thrown(() => new NonRetryableError("")),
  "final-error-with-another-name": thrown(() => new NonRetryableError("renamed", "Renamed")),
  "final-error-of-a-subclass": thrown(() => new OwnFatal("subclass")),
  "final-by-its-name": thrown(() => named("NonRetryableError", "by name")),
  "final-by-its-message": thrown(() => new Error("NonRetryableError: by message")),

  "final-error-not-caught": async ({ step }) => {
    await step.do("final", async () => {
      throw new NonRetryableError("nobody catches this");
    });
  },

  "final-error-of-run": async () => {
    throw new NonRetryableError("from run");
  },

  "run-throws": {
    parts: {
      "built in": async () => {
        throw new RangeError("built in");
      },
      "own class": async () => {
        throw new OwnError("own");
      },
      text: async () => {
        throw "just text";
      },
      object: async () => {
        throw { code: 1 };
      },
      "at once": () => null.nothing,
      "a step's error": async ({ step }) => {
        await step.do("bad", ONCE, async () => {
          throw new TypeError("of the step");
        });
      },
    },
    async observe(stage) {
      const seen = {};
      const parts = ["built in", "own class", "text", "object", "at once", "a step's error"];
      for (const [i, part] of parts.entries()) {
        const instance = await stage.binding.create({ id: stage.id(`part${i}`), params: stage.params(part) });
        await stage.ended(instance);
        seen[part] = await stage.status(instance);
      }
      return seen;
    },
  },

  "a-caught-error-is-a-value": async ({ step }) => {
    try {
      await step.do("bad", ONCE, async () => {
        throw new TypeError("caught");
      });
    } catch (error) {
      return step.do("keep it", async () => describe(error));
    }
  },
};
