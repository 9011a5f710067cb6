// A run in the user's isolate: its functions, which the bridge calls, and what is kept of their errors.

import { runInScope } from "./console.js";
import { asData } from "./stacks.js";
import { framed } from "./streams.js";

const waiting = new Map(); // run -> what lets its held calls go on

/** Let the held calls of a run ask the bridge again. */
export function wake(run) {
  const resumes = waiting.get(run) ?? [];
  waiting.delete(run);
  for (const resume of resumes) resume();
}

/** A run is over: drop what its held calls keep. */
export function forget(run) {
  waiting.delete(run);
}

export class LocalRun {
  made = 0; // calls outside of steps
  settled = 0; // of them
  ids = 0;
  functions = new Map(); // of calls: {callback, delay, rollback}
  #turn = 1; // of the outcome that is handed on next
  #early = new Map(); // outcomes that have come before it: turn -> what lets them go on
  #failures = new Map(); // of calls: what they threw last, as data
  #attempts = new Map(); // "call number" -> what ends the wait for the attempt

  constructor(stub, { run, calls }) {
    this.number = run;
    this.repeats = calls; // calls outside of steps that the journal has
    this.stub = stub;
    this.invoke = (what, id, ...given) => this.#invoke(what, id, given);
    stub.open(this.invoke).catch(() => {}); // without a bridge there is nobody to say it to
  }

  /** Wait on this side until the bridge wakes the run. */
  held() {
    return new Promise((resume) => {
      const resumes = waiting.get(this.number);
      if (resumes === undefined) waiting.set(this.number, [resume]);
      else resumes.push(resume);
    });
  }

  /** Hand an outcome on when those before it are, and give the code time to come to rest after each. */
  async inTurn(turn, outcome) {
    if (turn !== this.#turn) await new Promise((resume) => this.#early.set(turn, resume));
    try {
      return await outcome();
    } finally {
      this.#turn += 1;
      const next = this.#early.get(this.#turn);
      this.#early.delete(this.#turn);
      if (next !== undefined) setTimeout(next);
    }
  }

  /** A call is over. */
  forget(id) {
    this.functions.delete(id);
    this.#failures.delete(id);
  }

  /** Run the code of `run()`; what it throws is told before the error, which does not keep its stack. */
  async whole(code) {
    try {
      return await runInScope({ run: this }, code);
    } catch (error) {
      await this.stub.failed(asData(error), this.invoke).catch(() => {}); // the error itself follows
      throw error;
    }
  }

  #invoke(what, id, given) {
    const functions = this.functions.get(id);
    switch (what) {
      case "body":
        return this.#body(id, functions, ...given);
      case "leave":
        return this.#attempts.get(`${id} ${given[0]}`)?.();
      case "delay":
        return runInScope(this.#scope(id, given[0].ctx), () => this.#keeping(id, functions.delay, given[0]));
      case "undo":
        return this.#undo(id, functions, ...given);
      case "failure":
        return this.#failures.get(id);
    }
  }

  async #body(id, { callback }, context) {
    const scope = this.#scope(id, context);
    const within = (code) => runInScope(scope, code);
    const key = `${id} ${context.attempt}`;
    try {
      const value = await new Promise((resolve, reject) => {
        this.#attempts.set(key, resolve);
        within(() => this.#keeping(id, callback, context)).then(resolve, reject);
      });
      return value instanceof ReadableStream ? framed(value, within, (error) => asData(error).stack) : value;
    } finally {
      this.#attempts.delete(key);
    }
  }

  async #undo(id, { rollback }, given, attempt) {
    const scope = { ...this.#scope(id, given.ctx), attempt, undo: true };
    await runInScope(scope, () => this.#keeping(id, rollback, given));
  }

  #scope(call, { step, attempt }) {
    return { run: this, call, step: `${step.name}-${step.count}`, attempt };
  }

  async #keeping(id, code, given) {
    try {
      return await code(given);
    } catch (error) {
      this.#failures.set(id, asData(error));
      throw error;
    }
  }
}
