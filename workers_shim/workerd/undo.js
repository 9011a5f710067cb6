// Undo functions. They live in the run's code; one that is asked for while the code still repeats what it did waits for
// that. This is workers_shim/undo.py for JavaScript.

import { clearTimeout, setTimeout } from "./globals.js";

const LIMIT = 10_000; // ms in which a replay has to come on, until it is at the step that is to be undone
const FIRST_LOOK = 20; // ms until the replay is looked at again; doubles up to LAST_LOOK
const LAST_LOOK = 500;

export class Undos {
  #run;
  #calls = new Map();
  #wanted; // the code has not come to its step (again) yet
  #current; // the attempt that is heard
  #left = 0; // ms
  #ahead = 0; // of the journal, at the last look
  #pause = FIRST_LOOK;
  #timer;

  constructor(run) {
    this.#run = run;
  }

  /** Whether the run has steps that can be undone. */
  get any() {
    return this.#calls.size > 0;
  }

  /** Whether an undo function runs, or is waited for. */
  get busy() {
    return this.#current !== undefined || this.#wanted !== undefined;
  }

  /** The code called a step that can be undone. */
  keep(call) {
    this.#calls.set(`${call.nth}\n${call.name}`, call);
    if (this.#wanted !== undefined && this.#callOf(this.#wanted) === call) {
      this.#pause = FIRST_LOOK;
      this.#lookAgain();
    }
  }

  /** Run a step's undo function, now or when the code has come to the step and to what followed it. */
  undo(message) {
    this.#wanted = message;
    [this.#ahead, this.#left, this.#pause] = [this.#run.replay.left, LIMIT, FIRST_LOOK];
    if (this.#run.over || (!this.#run.undoing && this.#hasComeTo(message))) this.ended();
    else this.#lookAgain();
  }

  /** Give an attempt up: what it says from now on is not heard. */
  cancel({ name, nth, attempt }) {
    if (this.#current === tag(name, nth, attempt)) this.#current = undefined;
  }

  /** run() is over, or is waited for no longer: a step that it has not called by now it will not call. */
  ended() {
    const wanted = this.#wanted;
    if (wanted === undefined) return;
    this.#stopWaiting();
    const call = this.#callOf(wanted);
    if (call !== undefined) this.#begin(call, wanted);
    else this.#run.send({ t: "undone", ...head(wanted), missing: true });
  }

  // -------------------------------------------------------------------------------------------------------- running

  #begin(call, message) {
    const run = this.#run;
    const current = (this.#current = tag(message.name, message.nth, message.attempt));
    run.send({ t: "undoing", ...head(message) });
    const { context: ctx, error, output, attempt } = message;
    const given = { ctx, error, output, stepName: `${call.shown}-${call.nth}` };
    const told = (thrown) => {
      if (this.#current !== current) return; // given up meanwhile
      this.#current = undefined;
      run.send({ t: "undone", ...head(message), ...(thrown !== undefined && { error: thrown }) });
    };
    run.follow(run.code.undo(call.id, given, attempt, told));
  }

  // -------------------------------------------------------------------------------------------------------- waiting

  #lookAgain() {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#look(), this.#pause);
    this.#left -= this.#pause;
    this.#pause = Math.min(2 * this.#pause, LAST_LOOK);
  }

  #look() {
    const { left } = this.#run.replay;
    if (left < this.#ahead) [this.#ahead, this.#left] = [left, LIMIT];
    if (this.#left <= 0 || this.#hasComeTo(this.#wanted)) this.ended();
    else this.#lookAgain();
  }

  #callOf({ name, nth }) {
    return this.#calls.get(`${nth}\n${name}`);
  }

  /** Whether the code has called the step, and was given every result that the journal has. */
  #hasComeTo(message) {
    return this.#callOf(message) !== undefined && this.#run.replay.left === 0;
  }

  #stopWaiting() {
    this.#wanted = undefined;
    clearTimeout(this.#timer);
  }
}

function head({ name, nth, attempt }) {
  return { name, nth, attempt };
}

function tag(name, nth, attempt) {
  return `${nth} ${attempt} ${name}`;
}
