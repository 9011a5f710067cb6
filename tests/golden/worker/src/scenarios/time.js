// Sleeping.

import { outcome } from "../describe.js";

const AWAKE = 1500; // ms after which a sleep counts as one that lasts

async function nap(step, name, duration) {
  const slept = step.sleep(name, duration).then(() => "slept");
  return outcome(() => Promise.race([slept, scheduler.wait(AWAKE).then(() => "still asleep")]));
}

export const TIME = {
  "sleeps-of-all-forms": async ({ step, note }) => {
    const durations = {
      number: 20,
      "number as text": "20",
      milliseconds: "20 milliseconds",
      "part of a second": "0.02 seconds",
      nothing: 0,
      "unknown unit": "20 lightyears",
      negative: -5,
    };
    for (const [name, duration] of Object.entries(durations)) note(name, await nap(step, name, duration));
  },

  "sleeps-with-one-name": async ({ step }) => {
    await step.sleep("nap", 10);
    await step.sleep("nap", 10);
    await Promise.all([step.sleep("nap", 15), step.sleep("other", 10)]);
    return "rested";
  },

  "sleep-until": async ({ step, note }) => {
    const until = async (name, time) => note(name, await outcome(() => step.sleepUntil(name, time)));
    await until("a date", new Date(Date.now() + 30));
    await until("a number", Date.now() + 30);
    await until("the past", new Date(0));
    await until("seconds by mistake", Math.floor(Date.now() / 1000) + 10);
  },

  "a-past-that-nobody-catches": async ({ step }) => {
    await step.sleepUntil("the past", new Date(0));
  },

  "the-status-of-a-sleeper": {
    async main({ step, note }) {
      note("asleep");
      await step.sleep("long", "1 hour");
    },
    async observe(stage) {
      const instance = await stage.create();
      await stage.noted(instance, "asleep");
      await scheduler.wait(200);
      const status = await stage.status(instance);
      await instance.terminate();
      return { status, after: await stage.end(instance) };
    },
  },

  "a-timer-of-ones-own-wins-a-race": async ({ step }) =>
    Promise.race([step.sleep("long", "300 days").then(() => "slept"), scheduler.wait(50).then(() => "timer")]),
};
