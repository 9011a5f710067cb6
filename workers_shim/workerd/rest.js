// Whether a run's code waits for the engine alone.
//
// workerd itself can tell: it ends code that waits for nothing of its own, unless a function of it is lent to somebody.
// So one always is, over RPC (local_run.js). When the host asks, it is given back. If workerd then ends the run, it was
// parked; if it goes on, because a timer or a request of its own is alive, the function is lent anew before anything is
// said to it, or when it calls.

const AWAITING_EVERY = 60_000; // ms
const WHERE = "a timer, request or stream of its own";

const LENT = 0;
const COMING = 1;
const AWAY = 2;

export class Rest {
  #run;
  #state = COMING;
  #function; // of the code, while it is lent
  #after = []; // what to do when the function is lent
  #asked; // ms since the epoch
  #timer;
  #later = false; // whether the host has asked meanwhile, and nothing has happened since

  constructor(run) {
    this.#run = run;
  }

  /** Whether the function was given back, and is not on its way. */
  get isAway() {
    return this.#state === AWAY;
  }

  /** Whether functions of the code can be called. */
  get isHere() {
    return this.#state === LENT;
  }

  /** The function is on its way. */
  comes() {
    this.#state = COMING;
  }

  /** It is here. */
  lent(given) {
    this.#giveBack();
    this.#function = given.dup();
    this.#state = LENT;
    this.#act();
    if (this.#later) this.ask();
  }

  /** The host wants to know whether the run rests. */
  ask() {
    this.#later = this.#state === COMING || this.#run.handing;
    if (this.#later) return;
    this.#asked = Date.now();
    this.#timer ??= setTimeout(() => this.#tell(), AWAITING_EVERY);
    if (this.#state === AWAY || this.#run.busy) return;
    this.#state = AWAY;
    this.#giveBack();
  }

  #giveBack() {
    this.#function?.[Symbol.dispose]();
    this.#function = undefined;
  }

  /** The code has got everything that was on its way to it. */
  quiet() {
    if (this.#later && this.#state === LENT) this.ask();
  }

  #tell() {
    const seconds = (Date.now() - this.#asked) / 1000;
    this.#run.send({ t: "awaiting", seconds, longest: seconds, where: WHERE });
    this.#timer = setTimeout(() => this.#tell(), AWAITING_EVERY);
  }

  /** Something happens to the run: the question is over. */
  stirs() {
    if (this.#timer === undefined) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /** Whether the run was parked, when workerd has ended it because it waited for nothing; the host is told. */
  ends() {
    if (this.#state === LENT || this.#run.calls.size === 0) return false;
    this.stirs();
    this.#run.send({ t: "parked", calls: this.#run.sent, rets: this.#run.given });
    return true;
  }

  /** Do something as soon as the function is lent. */
  awake(action) {
    this.#later = false;
    if (this.#state === LENT) {
      action();
      return;
    }
    this.stirs();
    this.#after.push(action);
    if (this.#state === AWAY) {
      this.#state = COMING; // so that it is not asked for twice
      this.#run.wake();
    }
  }

  /** run() has ended. When it failed, it has lent its function before. */
  ended(failed) {
    this.stirs();
    if (!failed) this.#act();
  }

  #act() {
    const actions = this.#after;
    this.#after = [];
    for (const action of actions) action();
  }

  /** The run is given up. */
  release() {
    this.stirs();
    this.#giveBack();
    this.#after = [];
  }
}
