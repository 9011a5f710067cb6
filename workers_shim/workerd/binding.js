// A Workflow's binding: the far end of the runtime's own class, which `env.MY_WORKFLOW` and `ctx.exports.MyWorkflow`
// are. Every method becomes one question to the host.

import { RpcTarget, WorkerEntrypoint } from "cloudflare:workers";

import { notCloned, revive } from "./errors.js";
import { fetchStream } from "./streams.js";
import { NotSerialisable, StoredStream, decode, encodeWhole } from "./values.js";

const USER_VALUES = ["params", "payload"]; // what the host stores unread

export class WorkflowBinding extends WorkerEntrypoint {
  async getInstance(id) {
    return handle(await this.#ask("get", [id]));
  }

  async create(options) {
    return handle(await this.#ask("create", options === undefined ? [] : [await asked(options)]));
  }

  async createBatch(batch) {
    const made = await this.#ask("createBatch", batch === undefined ? [] : [await askedBatch(batch)]);
    return Array.isArray(made) ? made.map(handle) : { ...made, created: made.created.map(handle) };
  }

  async deleteInstance(id) {
    await this.#ask("delete", [id]);
  }

  async deleteBatch(given) {
    return this.#ask("deleteBatch", [given?.instances ?? given]);
  }

  async pause(id) {
    await this.#ask("pause", [id]);
  }

  async resume(id) {
    await this.#ask("resume", [id]);
  }

  async terminate(id, options) {
    await this.#ask("terminate", options === undefined ? [id] : [id, options]);
  }

  async restart(id, options) {
    await this.#ask("restart", options === undefined ? [id] : [id, options]);
  }

  async status(id, options) {
    return this.#ask("status", options === undefined ? [id] : [id, options]);
  }

  async sendEvent(id, event) {
    await this.#ask("sendEvent", [id, await asked(event)]);
  }

  async subscribe(id, options) {
    const number = await this.#ask("subscribe", options === undefined ? [id] : [id, options]);
    const ask = async (op) => this.#withStream(id, await this.#ask(op, [number]));
    const { promise, resolve } = Promise.withResolvers();
    this.ctx.waitUntil(promise); // else this context ends with the last stub, and nobody hears of that
    return new Subscription(ask, resolve);
  }

  /** What a subscription gave; where its event shows a stream as a step's output, there is one. */
  async #withStream(instance, given) {
    const event = given?.value;
    if (event?.output instanceof StoredStream) {
      const { step, attempt } = event.output;
      event.output = await fetchStream(this.env.HOST, { workflow: this.ctx.props.workflow, instance, step, attempt });
    }
    return given;
  }

  async #ask(op, args) {
    const { workflow } = this.ctx.props;
    const response = await this.env.HOST.fetch("http://host/bind", {
      method: "POST",
      body: JSON.stringify({ workflow, op, args: await written(args) }),
    });
    if (!response.ok) throw new Error(`WorkflowInternalError: ${await response.text()}`);
    const { value, error } = await response.json();
    if (error !== undefined) throw revive(error);
    return decode(value);
  }
}

/** The events of an instance, one by one. */
class Subscription extends RpcTarget {
  #ask;
  #over;

  /** `over` is called when nobody holds it any more, and the host knows. */
  constructor(ask, over) {
    super();
    this.#ask = ask;
    this.#over = over;
  }

  next() {
    return this.#ask("next");
  }

  [Symbol.dispose]() {
    this.#ask("dispose").then(this.#over, this.#over); // where it fails, the host is going away, and every subscription with it
  }
}

function handle(made) {
  return typeof made === "string" ? { id: made } : made;
}

/** Options or an event, with the user's values in them replaced by their own text. */
async function asked(options) {
  if (typeof options !== "object" || options === null) return options;
  const given = Object.entries(options).filter(([, value]) => value !== undefined); // which is as good as left out
  const fields = given.map(async ([key, value]) => [key, USER_VALUES.includes(key) ? await written(value) : value]);
  return Object.fromEntries(await Promise.all(fields));
}

/** What a caller gave, as text. */
async function written(value) {
  try {
    return await encodeWhole(value);
  } catch (error) {
    throw error instanceof NotSerialisable ? notCloned(error) : error;
  }
}

async function askedBatch(batch) {
  if (Array.isArray(batch)) return Promise.all(batch.map(asked));
  if (!Array.isArray(batch?.instances)) return asked(batch);
  return { ...(await asked(batch)), instances: await Promise.all(batch.instances.map(asked)) };
}
