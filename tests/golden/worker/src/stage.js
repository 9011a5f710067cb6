// What a scenario's observer has at hand: instances that play the scenario's parts, and ways to watch them.

import { describe } from "./describe.js";
import { labels, notesOf } from "./notes.js";

const OVER = ["complete", "errored", "terminated"];
const LOOK = 10; // ms between two looks
const PATIENCE = 10_000;
const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const NOW = /20[2-9]\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g;

export class Stage {
  constructor(scenario, take, bindings, binding = "played") {
    this.scenario = scenario;
    this.take = take;
    this.bindings = bindings;
    this.binding = bindings[binding];
    this.ids = 0;
  }

  // An id that no other play uses; the answer shows it without what makes it so.
  id(part = "main") {
    this.ids += 1;
    return `${this.scenario}-${part}-${this.ids}-take${this.take}`;
  }

  params(part, more = {}) {
    return { scenario: this.scenario, part, ...more };
  }

  create(part = "main", more = {}) {
    return this.binding.create({ id: this.id(part), params: this.params(part, more) });
  }

  async status(instance) {
    return describe(await instance.status());
  }

  async reached(instance, ...statuses) {
    let status;
    await this.holds(`${instance.id} to be ${statuses.join(" or ")}`, async () => {
      ({ status } = await instance.status());
      return statuses.includes(status);
    });
    return status;
  }

  ended(instance) {
    return this.reached(instance, ...OVER);
  }

  // Until the instance's code has noted the label so many times.
  noted(instance, label, times = 1) {
    return this.holds(`${instance.id} to note ${label}`, () => {
      return labels(instance.id).filter((noted) => noted === label).length >= times;
    });
  }

  notes(instance) {
    return notesOf(instance.id);
  }

  // What is to be seen of an instance when it is over.
  async end(instance) {
    await this.ended(instance);
    return { status: await this.status(instance), notes: this.notes(instance) };
  }

  // The public events of an instance that is over, without times.
  async events(instance, options) {
    const events = [];
    const subscription = await instance.subscribe(options);
    for (;;) {
      const { done, value } = await subscription.next();
      if (done) return events;
      const { instanceId, timestamp, ...event } = value;
      events.push(describe(event));
    }
  }

  async holds(what, condition) {
    const end = Date.now() + PATIENCE;
    while (!(await condition())) {
      if (Date.now() > end) throw new Error(`waited in vain for ${what}`);
      await scheduler.wait(LOOK);
    }
  }

  withoutTraces(answer) {
    const text = JSON.stringify(answer);
    return JSON.parse(text.replaceAll(`-take${this.take}`, "").replace(UUID, "<uuid>").replace(NOW, "<now>"));
  }
}

// The usual observer: one instance, when it is over.
export async function watchOne(stage) {
  return stage.end(await stage.create());
}
