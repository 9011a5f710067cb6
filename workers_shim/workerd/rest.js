// Whether a run's code waits for the engine alone.
//
// workerd itself can tell: it ends code that waits for nothing of its own. A call that waits over RPC hides that from
// it, and so does the function that the code has lent us. When the host asks, every call is answered "held", the function
// is given back, and the code waits on its own side. If workerd then ends the run, it was parked; if it goes on, because
// a timer or a request of its own is alive, it is woken when there is news, and asks for its calls again.

import { AT_ONCE, HELD } from "./answers.js";
import { isHung } from "./errors.js";

const AWAITING_EVERY = 60_000; // ms
const WHERE = "a timer, request or stream of its own";

export class Rest {
  #run;
  #asked; // ms since the epoch
  #timer;
  #held = new Set(); // calls that wait on the code's side
  #after = []; // what to do when they are back
  #later = false; // whether the host has asked meanwhile, and nothing has happened since

  constructor(run) {
    this.#run = run;
  }

  /** Whether calls wait on the code's side. */
  get holds() {
    return this.#held.size > 0;
  }

  /** Whether held calls are on their way back. */
  get waking() {
    return this.#after.length > 0;
  }

  /** The host wants to know whether the run rests. */
  ask() {
    this.#later = this.waking;
    if (this.#later) return;
    this.#asked = Date.now();
    this.#timer ??= setTimeout(() => this.#tell(), AWAITING_EVERY);
    if (!this.#run.busy) this.#hold();
  }

  #hold() {
    const run = this.#run;
    for (const call of run.calls.values()) {
      if (this.#held.has(call)) continue;
      this.#held.add(call);
      call.answer.resolve(HELD);
    }
    // Without a call that could bring the functions back, those that undo steps have to stay.
    if (this.holds || !run.undos.any) run.giveBack();
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

  /** Whether an error of run() means that the run was parked; the host is told. */
  ends(error) {
    if (!isHung(error) || !this.holds) return false;
    this.release();
    this.#run.send({ t: "parked", calls: this.#run.sent, rets: this.#run.given });
    return true;
  }

  /** Do something once the code's side is as it was before it was held; `id` is the call whose function it needs. */
  awake(action, id) {
    this.#later = false;
    if (this.holds) {
      this.stirs();
      if (this.#after.push(action) === 1) this.#run.wake();
      return;
    }
    const call = id === undefined || this.#run.invoke !== undefined ? undefined : this.#run.calls.get(id);
    if (call === undefined) {
      action();
      return;
    }
    this.#after.push(action);
    this.#held.add(call);
    call.answer.resolve(AT_ONCE);
  }

  /** A held call has come back. */
  back(call) {
    this.#held.delete(call);
    if (this.holds) return;
    this.#run.soon(() => {
      this.#act();
      this.#run.pump();
      if (this.#later) this.ask();
    });
  }

  /** run() has ended: what was held does not come back. */
  ended() {
    this.stirs();
    this.#held.clear();
    this.#act();
  }

  #act() {
    const actions = this.#after;
    this.#after = [];
    for (const action of actions) action();
  }

  /** The run is given up. */
  release() {
    this.stirs();
    if (this.holds) this.#run.forget();
    this.#held.clear();
    this.#after = [];
  }
}
