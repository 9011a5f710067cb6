// Attempts: the callbacks of `do` calls while they run, and the questions to delay functions.

import { describe, engineError, revive } from "./errors.js";
import { words } from "./replay.js";
import { sendFrames } from "./streams.js";
import { NotSerialisable, encode, encodeWhole } from "./values.js";

const DELAY_LIMIT = 5000; // ms a delay function may take; Cloudflare's
const NO_DELAY = encode({}); // what stands for a function as the answer of a delay function: neither is a delay

/** One execution of a step's callback. */
class Attempt {
  heard = true; // until it is given up
  sending; // what ends the request that brings its stream to the host

  constructor(call, number) {
    this.call = call;
    this.number = number;
  }
}

export class Attempts {
  #run;
  #current = new Map(); // call -> its attempt that is heard
  #givenUp = new Set(); // "call number"
  #asking = 0; // delay functions

  constructor(run) {
    this.#run = run;
  }

  /** Whether code of the run is at work for the host. */
  get busy() {
    return this.#current.size > 0 || this.#asking > 0;
  }

  /** Whether an attempt was given up: what it still asks for is never answered. */
  isGivenUp(id, number) {
    return this.#givenUp.has(`${id} ${number}`);
  }

  /** Run the callback of a call. */
  async exec({ call: id, attempt: number, config }) {
    const run = this.#run;
    const call = run.calls.get(id);
    if (call === undefined || run.over) return;
    if (call.misfit !== undefined) {
      run.accepted(call);
      run.makeAgain(call);
      return;
    }
    const attempt = new Attempt(call, number);
    this.#current.set(id, attempt);
    const ran = await this.#ended(attempt, context(call, number, config));
    if (!attempt.heard) return;
    this.#current.delete(id);
    if (ran !== undefined) run.send({ t: "ran", call: id, attempt: number, ...ran });
  }

  /** How an attempt ended; undefined when the host knows already. */
  async #ended(attempt, context) {
    try {
      const value = await this.#run.invoke("body", attempt.call.id, context);
      if (value instanceof ReadableStream) return await this.#send(value, attempt);
      return { value: await encodeWhole(value) };
    } catch (error) {
      if (error instanceof NotSerialisable) return { fatal: notSerialisable(attempt.call) };
      return { error: describe(error, await this.#run.failure(attempt.call.id)) };
    }
  }

  /** An attempt returned a stream. The host takes its end for the attempt's end, however it ends. */
  async #send(stream, attempt) {
    if (!attempt.heard) return stream.cancel();
    const { id, name, nth } = attempt.call;
    attempt.sending = new AbortController();
    const place = { run: this.#run.number, call: id, attempt: attempt.number };
    const sent = await sendFrames(this.#run.host, stream, place, attempt.sending.signal).catch(() => false);
    if (sent || !attempt.heard) return undefined; // given up meanwhile, which ended the request
    throw engineError("WorkflowInternalError", `Storage failure for ${name}-${nth} due to internal error.`);
  }

  /** Give an attempt up: what it says from now on is not heard. */
  cancel({ call: id, attempt: number }) {
    const attempt = this.#current.get(id);
    if (attempt?.number !== number) return;
    attempt.heard = false;
    this.#current.delete(id);
    this.#givenUp.add(`${id} ${number}`);
    attempt.sending?.abort();
    this.#run.leave(id, number);
  }

  /** Ask a call's delay function how long to wait. */
  async delay({ call: id, attempt, error, config }) {
    const run = this.#run;
    const call = run.calls.get(id);
    if (call === undefined) return; // it settled; the host does not know yet
    const answer = { t: "delayed", call: id, attempt };
    const late = Promise.withResolvers();
    const timer = setTimeout(late.resolve, DELAY_LIMIT);
    this.#asking += 1;
    try {
      if (!call.delay) throw new Error(`the code has no delay function for ${words(call)}`); // it had one before
      const given = { ctx: context(call, attempt, config), error: revive(error) };
      const value = await Promise.race([run.invoke("delay", id, given).then((found) => [found]), late.promise]);
      if (value === undefined) answer.timeout = true;
      else answer.value = encode(value[0]);
    } catch (failed) {
      if (failed instanceof NotSerialisable) answer.value = NO_DELAY;
      else answer.error = describe(failed).message;
    } finally {
      this.#asking -= 1;
      clearTimeout(timer);
    }
    run.send(answer);
  }
}

/** The step context that a callback is given. */
function context(call, attempt, config) {
  return { step: { name: call.shown, count: call.nth }, attempt, config };
}

/** The error that an instance ends with. */
function notSerialisable({ name }) {
  const what = `as the step "${name}" returned a value which is not serialisable`;
  return {
    name: "WorkflowFatalError",
    message: `The execution of the Workflow instance was terminated, ${what}`,
  };
}
