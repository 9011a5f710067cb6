// Events: before, while and after somebody waits for them.

import { outcome } from "../describe.js";

const MINUTE = "1 minute";

function take(step, name, type = "go") {
  return step.waitForEvent(name, { type, timeout: MINUTE });
}

// What does not depend on when the event came.
function told({ payload, type, timestamp }) {
  return { payload, type, timestamp: timestamp instanceof Date };
}

export const EVENTS = {
  "an-event-while-it-is-waited-for": {
    async main({ step, note }) {
      note("waiting");
      const event = await take(step, "wait");
      note("keys", Object.keys(event).sort());
      return told(event);
    },
    async observe(stage) {
      const instance = await stage.create();
      await stage.noted(instance, "waiting");
      await scheduler.wait(100);
      const sent = await outcome(() => instance.sendEvent({ type: "go", payload: { n: 1, date: new Date(0) } }));
      return { sent, ...(await stage.end(instance)) };
    },
  },

  "an-event-before-it-is-waited-for": {
    async main({ step, note }) {
      await step.do("slow", async () => {
        note("slow");
        await scheduler.wait(150);
      });
      return told(await take(step, "wait"));
    },
    async observe(stage) {
      const instance = await stage.create();
      await stage.noted(instance, "slow");
      await instance.sendEvent({ type: "go", payload: "early" });
      return stage.end(instance);
    },
  },

  "an-event-right-after-the-creation": {
    main: async ({ step }) => told(await take(step, "wait")),
    async observe(stage) {
      const instance = await stage.create();
      await instance.sendEvent({ type: "go", payload: "at once" });
      return stage.end(instance);
    },
  },

  "events-are-taken-in-order": {
    async main({ step, note }) {
      await step.do("slow", async () => {
        note("slow");
        await scheduler.wait(150);
      });
      const payloads = [];
      for (let i = 0; i < 3; i++) payloads.push((await take(step, "wait")).payload);
      return payloads;
    },
    async observe(stage) {
      const instance = await stage.create();
      await stage.noted(instance, "slow");
      for (const payload of ["a", "b", "c"]) await instance.sendEvent({ type: "go", payload });
      return stage.end(instance);
    },
  },

  "who-waited-first-is-served-first": {
    async main({ step, note }) {
      note("waiting");
      const events = await Promise.all([take(step, "first"), take(step, "second")]);
      return events.map(({ payload }) => payload);
    },
    async observe(stage) {
      const instance = await stage.create();
      await stage.noted(instance, "waiting");
      await scheduler.wait(100);
      await instance.sendEvent({ type: "go", payload: 1 });
      await instance.sendEvent({ type: "go", payload: 2 });
      return stage.end(instance);
    },
  },

  "an-event-of-another-type": {
    async main({ step, note }) {
      note("waiting");
      return told(await take(step, "wait"));
    },
    async observe(stage) {
      const instance = await stage.create();
      await stage.noted(instance, "waiting");
      await instance.sendEvent({ type: "other", payload: 1 });
      await scheduler.wait(100);
      const before = stage.notes(instance).length;
      await instance.sendEvent({ type: "go", payload: 2 });
      return { before, ...(await stage.end(instance)) };
    },
  },

  "nobody-sends-an-event": async ({ step, note }) => {
    const waits = { number: 30, text: "0.03 seconds" };
    for (const [name, timeout] of Object.entries(waits)) {
      note(name, await outcome(() => step.waitForEvent("never", { type: "never", timeout })));
    }
    note("refused", await outcome(() => step.waitForEvent("never", { type: "never", timeout: "soon" })));
    await step.waitForEvent("not caught", { type: "never", timeout: 20 });
  },

  "a-race-of-a-wait-and-a-sleep": async ({ step }) =>
    Promise.race([
      step.sleep("short", 30).then(() => "slept"),
      step.waitForEvent("never", { type: "never", timeout: 500 }),
    ]),

  "payloads-keep-their-types": {
    async main({ step, note }) {
      for (let i = 0; i < 6; i++) {
        note("waiting");
        note("payload", (await take(step, `wait ${i}`)).payload);
      }
    },
    async observe(stage) {
      const payloads = [undefined, null, new Date(0), new Map([["a", 1n]]), new Uint8Array([1, 2])];
      payloads.push({ deep: [new Set([1])] });
      const instance = await stage.create();
      for (const [i, payload] of payloads.entries()) {
        await stage.noted(instance, "waiting", i + 1);
        await instance.sendEvent({ type: "go", payload });
      }
      return stage.end(instance);
    },
  },

  "events-that-are-refused": {
    async main({ step, note }) {
      note("waiting");
      await take(step, "wait");
    },
    async observe(stage) {
      const instance = await stage.create();
      await stage.noted(instance, "waiting");
      const send = (...event) => outcome(() => instance.sendEvent(...event));
      const seen = {
        nothing: await send(),
        "a function": await send({ type: "other", payload: () => 1 }),
        "a symbol": await send({ type: "other", payload: Symbol("s") }),
        "odd type": await send({ type: "a.b" }),
      };
      await send({ type: "go" });
      seen.end = await stage.end(instance);
      seen["too late"] = await send({ type: "go" });
      return seen;
    },
  },

  "an-event-is-taken-once": {
    async main({ step, note }) {
      note("got", (await take(step, "first")).payload);
      note("got", (await take(step, "second")).payload);
      note("got", (await take(step, "third")).payload);
    },
    async observe(stage) {
      const instance = await stage.create();
      await instance.sendEvent({ type: "go", payload: "one" });
      await stage.noted(instance, "got");
      await scheduler.wait(100);
      await instance.pause();
      await stage.reached(instance, "paused");
      await instance.sendEvent({ type: "go", payload: "two" });
      await instance.resume();
      await stage.noted(instance, "got", 3);
      await instance.sendEvent({ type: "go", payload: "three" });
      return stage.end(instance);
    },
  },
};
