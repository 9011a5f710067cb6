// Attempts: the callbacks of `do` calls while they run, and the questions to delay functions.

import { clearTimeout, setTimeout } from "./globals.js";
import { words } from "./replay.js";
import { encode } from "./values.js";

const DELAY_LIMIT = 5000; // ms a delay function may take; Cloudflare's
const NO_DELAY = encode({}); // what stands for a function as the answer of a delay function: neither is a delay

/** One execution of a step's callback. */
class Attempt {
  heard = true; // until it is given up

  constructor(call, number) {
    this.call = call;
    this.number = number;
  }
}

export class Attempts {
  #run;
  #current = new Map(); // call -> its attempt that is heard
  #givenUp = new Set(); // "call number"
  #asking = new Map(); // delay functions: "call number" -> timer

  constructor(run) {
    this.#run = run;
  }

  /** Whether code of the run is at work for the host. */
  get busy() {
    return this.#current.size > 0 || this.#asking.size > 0;
  }

  /** Whether an attempt was given up: what it still asks for is never answered. */
  isGivenUp(id, number) {
    return this.#givenUp.has(`${id} ${number}`);
  }

  /** Run the callback of a call. */
  exec({ call: id, attempt: number, config }) {
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
    run.follow(run.code.body(call, context(call, number, config), (ran) => this.#ended(attempt, ran)));
  }

  /** An attempt ended; how, the host knows already where `ran` is undefined. */
  #ended({ call, number, heard }, ran) {
    if (!heard) return;
    this.#current.delete(call.id);
    if (ran === undefined) return;
    const how = ran.refused ? { fatal: notSerialisable(call) } : ran;
    this.#run.send({ t: "ran", call: call.id, attempt: number, ...how });
  }

  /** Give an attempt up: what it says from now on is not heard. */
  cancel({ call: id, attempt: number }) {
    const attempt = this.#current.get(id);
    if (attempt?.number !== number) return;
    attempt.heard = false;
    this.#current.delete(id);
    this.#givenUp.add(`${id} ${number}`);
    this.#run.code.breakOff(id, number);
  }

  /** Ask a call's delay function how long to wait. */
  delay({ call: id, attempt, error, config }) {
    const run = this.#run;
    const call = run.calls.get(id);
    if (call === undefined) return; // it settled; the host does not know yet
    const key = `${id} ${attempt}`;
    const answer = (said) => {
      if (!this.#asking.has(key)) return; // it was too late
      clearTimeout(this.#asking.get(key));
      this.#asking.delete(key);
      run.send({ t: "delayed", call: id, attempt, ...said });
    };
    this.#asking.set(key, setTimeout(() => answer({ timeout: true }), DELAY_LIMIT));
    // The code had one when the call was made first.
    if (!call.delay) answer({ error: `the code has no delay function for ${words(call)}` });
    else run.follow(run.code.delay(id, context(call, attempt, config), error, (said) => answer(delayOf(said))));
  }
}

/** What a delay function said, as the host reads it. */
function delayOf({ value, error, refused }) {
  if (refused) return { value: NO_DELAY };
  return error === undefined ? { value } : { error: error.message };
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
