// pause, resume, terminate, restart, delete, at various moments of a life.

import { outcome } from "../describe.js";

const PARTS = {
  async working({ step, note }) {
    note("run");
    await step.do("work", async () => {
      note("work");
      await scheduler.wait(300);
      note("worked");
    });
    await step.do("after", async () => note("after"));
    return "done";
  },

  async sleeping({ step, note }) {
    note("run");
    await step.do("before", async () => note("before"));
    await step.sleep("nap", 400);
    await step.do("after", async () => note("after"));
    return "done";
  },

  async waiting({ step, note }) {
    note("run");
    await step.do("before", async () => note("before"));
    const { payload } = await step.waitForEvent("wait", { type: "go", timeout: "1 minute" });
    return payload;
  },

  async backing({ step, note }) {
    note("run");
    await step.do("retried", { retries: { limit: 2, delay: 300, backoff: "constant" } }, async ({ attempt }) => {
      note("attempt", attempt);
      if (attempt < 2) throw new Error("again");
    });
    return "done";
  },

  async short({ step, note }) {
    note("run");
    await step.do("only", async () => note("only"));
    return "done";
  },

  async failing({ step, note }) {
    note("run");
    await step.do("bad", { retries: { limit: 0, delay: 1 } }, async () => {
      note("bad");
      throw new Error("bad");
    });
  },

  async replayed({ step, note }) {
    note("run");
    const results = [await step.do("a", async () => note("a"))];
    for (let i = 0; i < 3; i++) results.push(await step.do("loop", async () => note(`loop ${i}`)));
    await step.sleep("nap", 10);
    results.push(await step.do("b", async () => note("b")));
    return results.length;
  },
};

// When the part is in the middle of what it is named for.
const MIDDLE = { working: "work", sleeping: "before", waiting: "before", backing: "attempt" };

async function inTheMiddle(stage, part) {
  const instance = await stage.create(part);
  await stage.noted(instance, MIDDLE[part]);
  await scheduler.wait(60);
  return instance;
}

function pausedWhile(part) {
  return {
    parts: PARTS,
    async observe(stage) {
      const instance = await inTheMiddle(stage, part);
      const paused = await outcome(() => instance.pause());
      const atOnce = (await instance.status()).status;
      await stage.reached(instance, "paused");
      await scheduler.wait(500);
      const seen = { paused, atOnce, status: await stage.status(instance) };
      seen.resumed = await outcome(() => instance.resume());
      if (part === "waiting") await instance.sendEvent({ type: "go", payload: "after the pause" });
      seen.end = await stage.end(instance);
      return seen;
    },
  };
}

function terminatedWhile(part) {
  return {
    parts: PARTS,
    async observe(stage) {
      const instance = await inTheMiddle(stage, part);
      const terminated = await outcome(() => instance.terminate());
      const end = await stage.end(instance);
      await scheduler.wait(500);
      return { terminated, end, notesLater: stage.notes(instance) };
    },
  };
}

function restartedFrom(from) {
  return {
    parts: PARTS,
    async observe(stage) {
      const instance = await stage.create("replayed");
      await stage.ended(instance);
      const restarted = await outcome(() => instance.restart({ from }));
      await scheduler.wait(100);
      return { restarted, ...(await stage.end(instance)) };
    },
  };
}

export const CONTROL = {
  "paused-while-working": pausedWhile("working"),
  "paused-while-sleeping": pausedWhile("sleeping"),
  "paused-while-waiting": pausedWhile("waiting"),
  "paused-while-backing-off": pausedWhile("backing"),

  "resumed-before-the-pause-began": {
    parts: PARTS,
    async observe(stage) {
      const instance = await inTheMiddle(stage, "working");
      await instance.pause();
      const before = (await instance.status()).status;
      await instance.resume();
      return { before, after: (await instance.status()).status, end: await stage.end(instance) };
    },
  },

  "terminated-while-working": terminatedWhile("working"),
  "terminated-while-sleeping": terminatedWhile("sleeping"),
  "terminated-while-waiting": terminatedWhile("waiting"),

  "nothing-left-to-control": {
    parts: PARTS,
    async observe(stage) {
      const seen = {};
      for (const part of ["short", "failing"]) {
        const instance = await stage.create(part);
        await stage.ended(instance);
        for (const order of ["pause", "resume", "terminate"]) {
          seen[`${part} ${order}`] = await outcome(() => instance[order]());
        }
        seen[`${part} status`] = await stage.status(instance);
      }
      return seen;
    },
  },

  "restarted-when-complete": {
    parts: PARTS,
    async observe(stage) {
      const instance = await stage.create("short");
      await stage.ended(instance);
      const restarted = await outcome(() => instance.restart());
      await stage.noted(instance, "only", 2);
      return { restarted, ...(await stage.end(instance)) };
    },
  },

  "restarted-while-waiting": {
    parts: PARTS,
    async observe(stage) {
      const instance = await inTheMiddle(stage, "waiting");
      const restarted = await outcome(() => instance.restart());
      await stage.noted(instance, "before", 2);
      await instance.sendEvent({ type: "go", payload: "again" });
      return { restarted, ...(await stage.end(instance)) };
    },
  },

  "restarted-from-a-step": restartedFrom({ name: "b" }),
  "restarted-from-the-second-of-a-name": restartedFrom({ name: "loop", count: 2 }),
  "restarted-from-a-sleep": restartedFrom({ name: "nap", type: "sleep" }),
  "restarted-from-what-is-not-there": restartedFrom({ name: "nap" }),

  deleted: {
    parts: PARTS,
    async observe(stage) {
      const instance = await stage.create("short");
      await stage.ended(instance);
      const seen = { deleted: await outcome(() => instance.delete()) };
      seen.status = await outcome(() => instance.status());
      seen.again = await outcome(() => instance.delete());
      seen.got = await outcome(() => stage.binding.get(instance.id));
      const anew = await stage.binding.create({ id: instance.id, params: stage.params("short") });
      await stage.ended(anew);
      return { ...seen, anew: stage.notes(anew) };
    },
  },

  "deleted-while-sleeping": {
    parts: PARTS,
    async observe(stage) {
      const instance = await inTheMiddle(stage, "sleeping");
      const deleted = await outcome(() => instance.delete());
      await scheduler.wait(600);
      return { deleted, notes: stage.notes(instance), status: await outcome(() => instance.status()) };
    },
  },

  "deleted-in-a-batch": {
    parts: PARTS,
    async observe(stage) {
      const instance = await stage.create("short");
      await stage.ended(instance);
      return {
        mixed: await outcome(() => stage.binding.deleteBatch([instance.id, "never-created"])),
        none: await outcome(() => stage.binding.deleteBatch([])),
        "odd id": await outcome(() => stage.binding.deleteBatch(["odd id"])),
        "no list": await outcome(() => stage.binding.deleteBatch("text")),
      };
    },
  },
};
