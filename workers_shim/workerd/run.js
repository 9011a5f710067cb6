// One run: an execution of a workflow's `run()`, from its `start` until the socket that holds it closes (hold.js). This is
// the engine's end of it in the isolate; the code's is code.js.

import { Attempts } from "./attempts.js";
import { Call, argumentOf } from "./call.js";
import { Code } from "./code.js";
import { engineError } from "./errors.js";
import { clearTimeout, setTimeout } from "./globals.js";
import { Handover } from "./handover.js";
import { Replay, words } from "./replay.js";
import { Undos } from "./undo.js";
import { encode } from "./values.js";

const PHASE = "Cannot execute steps during rollback phase";
// ms that a replay waits for a call that the journal has before results that stand behind it. That the code has come to
// rest cannot be seen from here, so it is given the time in which a fetch of its own is over.
const BLOCKED = 10_000;

export class Run {
  calls = new Map(); // every call that has not been given its outcome, by id
  over = false; // run() has ended: nothing more is asked or answered
  sent = 0; // `call` messages
  given = 0; // `ret` messages that were handed over
  #start;
  #line;
  #next = 1; // id of the call that the code made next
  #early = new Map(); // calls that have come before it: id -> what takes them
  #handover = new Handover(({ call, outcome }) => this.code.settle(call.answer, outcome));
  #steps = 0;
  #last; // call
  #told = new Set(); // mismatches
  #blocked; // timer
  #moved; // ms since the epoch: when the queue began to wait for a call

  /** A run that speaks with the host over this `Line`. */
  constructor(start, line) {
    this.number = start.run;
    this.names = { workflow: start.workflow, instance: start.instance };
    this.undoing = start.undo === true; // the code is repeated for its undo functions only
    this.replay = new Replay(start.journal);
    this.code = new Code(this);
    this.attempts = new Attempts(this);
    this.undos = new Undos(this);
    this.#start = start;
    this.#line = line;
  }

  send(message) {
    this.#line.send(message);
  }

  /** Await what must not fail: the run ends when it does. */
  follow(working) {
    working.catch((error) => this.#line.broke(error));
  }

  /** Messages of the host, in a turn of their own. */
  hear(messages) {
    this.#handover.turn(() => {
      for (const message of messages) this.#hear(message);
    });
  }

  #hear(message) {
    this.#handover.afterwards(undefined); // something happens: whether it rests is asked anew, in time
    switch (message.t) {
      case "ret":
        return this.#ret(message);
      case "exec":
        return this.attempts.exec(message);
      case "delay":
        return this.attempts.delay(message);
      case "undo":
        return this.undos.undo(message);
      case "cancel":
        return this.attempts.cancel(message);
      case "cancel_undo":
        return this.undos.cancel(message);
      case "rest":
        return this.#askRest();
    }
    throw new Error(`unknown message ${message.t}`);
  }

  /** The host asks whether the code has nothing to do or to get but what it is told; if so, it hangs up, and workerd says
   * whether the code waits for something of its own. */
  #askRest() {
    if (this.over) return;
    if (this.#handover.busy) this.#handover.afterwards(() => this.#askRest());
    else if (!this.#busy) this.send({ t: "resting" });
  }

  /** Whether the code has something to do or to get without its own doing. */
  get #busy() {
    return this.attempts.busy || this.undos.busy || this.replay.blocked() !== undefined;
  }

  // ---------------------------------------------------------------------------------------------- beginning and end

  /** Run the code: `main` is its run(). */
  begin(main) {
    const { payload, timestamp, schedule } = this.#start.event;
    const { workflow, instance } = this.names;
    const event = { payload, timestamp, instanceId: instance, workflowName: workflow };
    if (schedule !== undefined) event.schedule = schedule;
    this.follow(this.code.whole(event, main, (ended) => this.#finish(ended)));
  }

  /** run() has ended, with `{value}` or `{error}`. */
  #finish(ended) {
    const missing = this.replay.expected();
    if (missing !== undefined) this.#report(words(missing), "run() ended");
    this.over = true;
    this.replay.left = 0;
    this.#waitNoLonger();
    this.send({ t: "done", ...ended });
    this.undos.ended();
  }

  // ---------------------------------------------------------------------------------------------------------- calls

  /** A call of the step API. One whose arguments had to be cloned comes late; it keeps its place. */
  call(id, kind, name, given, answer) {
    this.#inOrder(id, () => this.#take(id, kind, name, given, answer));
  }

  /** A call that never comes. */
  skip(id) {
    this.#inOrder(id, () => {});
  }

  #inOrder(id, take) {
    this.#early.set(id, take);
    while ((take = this.#early.get(this.#next)) !== undefined) {
      this.#early.delete(this.#next);
      this.#next += 1;
      take();
    }
  }

  #take(id, kind, name, given, answer) {
    const call = new Call(id, kind, name, given, answer);
    try {
      if (given.undo) throw engineError("WorkflowFatalError", PHASE);
      if (this.over) return; // nobody will answer it; nor this:
      if (call.nested && this.attempts.isGivenUp(given.parent, given.attempt)) return;
      this.#make(call, kind === "do" ? call.take(given, () => this.#countStep()) : argumentOf(kind, given.arg));
    } catch (error) {
      this.#hand(call, { error: { name: error.name, message: error.message } });
      return;
    }
    this.#pump();
  }

  #countStep() {
    const limit = this.#start.step_limit;
    this.#steps += 1;
    if (this.#steps <= limit) return;
    const hint = "This limit can be changed in your worker configuration.";
    throw engineError("WorkflowFatalError", `The limit of ${limit} steps has been reached. ${hint}`);
  }

  #make(call, arg) {
    call.nth = this.replay.number(call.kind, call.name, call.nested);
    this.#last = call;
    this.calls.set(call.id, call);
    if (call.rollback) this.undos.keep(call);
    const repeated = !call.nested && this.#repeat(call);
    if (!repeated && !(this.undoing && !this.replay.lacks(call))) this.#sendCall(call, arg);
  }

  /** Fit a call into the journal; true when its result is there too. */
  #repeat(call) {
    const { replay } = this;
    if (replay.records.size === 0) return false;
    const misfit = replay.made(call);
    const record = replay.recordOf(call);
    if (misfit !== undefined) {
      if (record === undefined) call.misfit = misfit; // unless the host refuses it: then it never was in the journal
      else this.#report(misfit, words(call), call);
    }
    return record?.outcome !== undefined;
  }

  #sendCall(call, arg) {
    this.sent += 1;
    const message = { t: "call", call: call.id, kind: call.wireKind, name: call.name, nth: call.nth, arg };
    if (call.nested) message.parent = call.parent;
    if (call.delay) message.delay_function = true;
    if (call.rollback) message.rollback = true;
    if (call.rollbackConfig !== undefined) message.rollback_config = call.rollbackConfig;
    if (call.at !== undefined) message.at = call.at;
    this.send(message);
  }

  /** Leave the host the last word before the callback of a call runs that does not fit: it may let the run go. */
  makeAgain(call) {
    this.#sendCall(call, encode(null)); // the config is recorded
  }

  // -------------------------------------------------------------------------------------------------------- results

  /** Take the host's answer to a call, and hand it over when its turn has come. */
  #ret({ call: id, value, error, refused = false }) {
    const call = this.calls.get(id);
    if (call === undefined || this.over) return;
    const outcome = error === undefined ? { value } : { error };
    if (call.nested) {
      if (refused) this.replay.giveBack(call);
      this.given += 1;
      this.#settle(call, outcome);
      return;
    }
    if (refused) call.misfit = undefined;
    else this.accepted(call);
    this.replay.arrive(call, outcome, refused);
    this.#pump();
  }

  /** The host took the call: if it does not fit the journal, that is certain now. */
  accepted(call) {
    if (call.misfit === undefined) return;
    this.#report(call.misfit, words(call), call);
    call.misfit = undefined;
  }

  /** Hand over what may be. */
  #pump() {
    const { replay } = this;
    while (!this.over && replay.ready()) {
      const { answered, call, outcome } = replay.next();
      if (answered) this.given += 1;
      this.#settle(call, outcome);
      this.#moved = undefined;
    }
    if (this.over || replay.blocked() === undefined) {
      this.#waitNoLonger();
      return;
    }
    this.#moved ??= Date.now();
    this.#blocked ??= setTimeout(() => this.#look(), BLOCKED);
  }

  /** A timer would keep the code alive. */
  #waitNoLonger() {
    if (this.#blocked === undefined) return;
    clearTimeout(this.#blocked);
    this.#blocked = undefined;
  }

  /** A result waits for a call. The timer is not set anew for each, because a replay has thousands of them. */
  #look() {
    this.#blocked = undefined;
    const missing = this.replay.blocked();
    if (missing === undefined || this.over) return;
    const left = this.#moved + BLOCKED - Date.now();
    if (left > 0) {
      this.#blocked = setTimeout(() => this.#look(), left);
      return;
    }
    this.#report(words(missing), this.#last === undefined ? "nothing more" : words(this.#last), this.#last);
    this.#moved = undefined;
    if (this.replay.skip()) this.#pump();
  }

  #settle(call, outcome) {
    this.calls.delete(call.id);
    this.#hand(call, outcome);
  }

  #hand(call, outcome) {
    this.#handover.add({ call, outcome });
  }

  // ----------------------------------------------------------------------------------------------------- mismatches

  /** Tell the developer, once for each pair, that the code does not do what the journal has. */
  #report(recorded, called, call) {
    const pair = `${recorded}\n${called}`;
    if (this.#told.has(pair)) return;
    this.#told.add(pair);
    const place = call?.stack === undefined ? {} : { stack: call.stack };
    this.send({ t: "mismatch", recorded, called, ...place });
  }
}
