// Values: as a step's result, after a replay, as params, as an output.

import { describe, outcome } from "../describe.js";

const bytes = (...values) => new Uint8Array(values);

const KEPT = {
  undefined: undefined,
  null: null,
  text: "naïve 🌍 \u0000",
  "lone surrogate": "\ud800",
  "not a number": NaN,
  "negative zero": -0,
  infinity: -Infinity,
  bigint: 12345678901234567890n,
  date: new Date(86_400_000),
  "invalid date": new Date(NaN),
  map: new Map([
    ["a", 1],
    [{ key: 1 }, new Date(0)],
  ]),
  set: new Set([1, "b"]),
  regexp: /a+/gi,
  error: new TypeError("as a result"),
  bytes: bytes(1, 2, 255),
  "part of a buffer": bytes(1, 2, 3, 4).subarray(1, 3),
  floats: new Float64Array([1.5]),
  buffer: bytes(9, 8).buffer,
  nested: { list: [1, { none: null, not: undefined, date: new Date(0) }], map: new Map([["x", new Set([1n])]]) },
  "shared part": (({ part }) => [part, part])({ part: { a: 1 } }),
};

const LOST = {
  symbol: () => Symbol("s"),
  promise: () => ({ promise: Promise.resolve(1) }),
  "weak map": () => new WeakMap(),
  "own class": () => new (class Point {})(),
};

const FATAL = {
  function: () => () => 1,
  "function inside": () => ({ method() {} }),
};

const OUTPUTS = {
  date: new Date(0),
  map: new Map([["a", 1]]),
  set: new Set([1]),
  bigint: 10n,
  bytes: bytes(1, 2, 3),
  numbers: { nan: NaN, none: undefined, zero: -0 },
  error: new TypeError("as an output"),
  regexp: /a/,
};

function stream(...texts) {
  const encoder = new TextEncoder();
  return new ReadableStream({
    pull(controller) {
      if (texts.length === 0) controller.close();
      else controller.enqueue(encoder.encode(texts.shift()));
    },
  });
}

export const VALUES = {
  "results-keep-their-types": async ({ step, note }) => {
    for (const [name, value] of Object.entries(KEPT)) {
      note(name, await step.do(name, async () => value));
    }
  },

  "results-keep-their-types-in-a-replay": {
    async main({ step, note }) {
      for (const [name, value] of Object.entries(KEPT)) {
        note(name, await step.do(name, async () => value));
      }
      note("all");
      await step.waitForEvent("go on", { type: "go-on", timeout: "1 minute" });
    },
    async observe(stage) {
      const instance = await stage.create();
      await stage.noted(instance, "all");
      await instance.pause();
      await stage.reached(instance, "paused");
      await instance.resume();
      await stage.noted(instance, "all", 2);
      await instance.sendEvent({ type: "go-on" });
      return stage.end(instance);
    },
  },

  "results-that-cannot-be-kept": async ({ step, note }) => {
    for (const [name, make] of Object.entries(LOST)) {
      const call = () =>
        step.do(name, { retries: { limit: 1, delay: 5 } }, async () => {
          note("attempt");
          return make();
        });
      note(name, await outcome(call));
    }
  },

  "results-that-end-the-instance": {
    parts: Object.fromEntries(
      Object.entries(FATAL).map(([name, make]) => [
        name,
        async ({ step, note }) => {
          const seen = await outcome(() => step.do("fatal", async () => make()));
          note("seen", seen);
          return "went on";
        },
      ]),
    ),
    async observe(stage) {
      const seen = {};
      for (const [i, part] of Object.keys(FATAL).entries()) {
        const instance = await stage.binding.create({ id: stage.id(`part${i}`), params: stage.params(part) });
        seen[part] = await stage.end(instance);
      }
      return seen;
    },
  },

  "outputs-are-shown-as-json": {
    parts: Object.fromEntries(Object.entries(OUTPUTS).map(([name, value]) => [name, async () => value])),
    async observe(stage) {
      const seen = {};
      for (const name of Object.keys(OUTPUTS)) {
        const instance = await stage.create(name);
        await stage.ended(instance);
        seen[name] = await stage.status(instance);
      }
      return seen;
    },
  },

  "an-output-that-cannot-be-kept": () => () => 1,

  "a-stream-as-a-result": async ({ step, note }) => {
    const result = await step.do("stream", async () => stream("one ", "two ", "three"));
    note("type", result);
    return new Response(result).text();
  },

  "a-stream-in-a-replay": {
    async main({ step, note }) {
      const result = await step.do("stream", async () => {
        note("made");
        return stream("kept");
      });
      note("text", await new Response(result).text());
      await step.waitForEvent("go on", { type: "go-on", timeout: "1 minute" });
    },
    async observe(stage) {
      const instance = await stage.create();
      await stage.noted(instance, "text");
      await instance.pause();
      await stage.reached(instance, "paused");
      await instance.resume();
      await stage.noted(instance, "text", 2);
      await instance.sendEvent({ type: "go-on" });
      return stage.end(instance);
    },
  },

  "an-empty-stream": async ({ step }) => {
    const result = await step.do("stream", async () => stream());
    return new Response(result).text();
  },

  "params-keep-their-types": {
    async observe(stage) {
      const seen = {};
      for (const [name, params] of Object.entries({ ...KEPT, list: [1], number: 7 })) {
        if (params === null) continue; // its scenario would be asked for
        const id = stage.id(name.replaceAll(" ", "_"));
        const created = await outcome(async () => (await stage.binding.create({ id, params })).id);
        if (created.threw === undefined) {
          const instance = await stage.binding.get(id);
          await stage.ended(instance);
          seen[name] = stage.notes(instance);
        } else seen[name] = describe(created);
      }
      return seen;
    },
  },
};
