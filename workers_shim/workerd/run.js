// One run: an execution of a workflow's `run()`, from `start` until its socket closes. It has a request of its own in the
// isolate of the code; the request that runs the code has its end in local_run.js.

import { RpcTarget } from "cloudflare:workers";

import { Attempts } from "./attempts.js";
import { Call, argumentOf } from "./call.js";
import { describe, engineError, isHung } from "./errors.js";
import { Mailbox } from "./mailbox.js";
import { Replay, words } from "./replay.js";
import { Rest } from "./rest.js";
import { Undos } from "./undo.js";
import { encode } from "./values.js";

const PHASE = "Cannot execute steps during rollback phase";
// ms that a replay waits for a call that the journal has before results that stand behind it. That the code has come to
// rest cannot be seen from here, so it is given the time in which a fetch of its own is over.
const BLOCKED = 10_000;

export class Run {
  calls = new Map(); // every call that has not been given its outcome, by id
  mailbox = new Mailbox(); // what the code asks for
  over = false; // run() has ended: nothing more is asked or answered
  sent = 0; // `call` messages
  given = 0; // `ret` messages that were handed over
  #start;
  #outside;
  #code; // the `LocalRun`
  #next = 1; // id of the call that the code made next
  #early = new Map(); // calls that have come before it: id -> what takes them
  #outcomes = []; // {call, outcome}: to be handed over, one at a time
  #steps = 0;
  #last; // call
  #released = false;
  #told = new Set(); // mismatches
  #blocked; // timer
  #moved; // ms since the epoch: when the queue began to wait for a call

  /** `outside` is what run_socket.js lets it reach. */
  constructor(start, outside) {
    this.number = start.run;
    this.names = { workflow: start.workflow, instance: start.instance };
    this.undoing = start.undo === true; // the code is repeated for its undo functions only
    this.replay = new Replay(start.journal);
    this.rest = new Rest(this);
    this.attempts = new Attempts(this);
    this.undos = new Undos(this);
    this.#start = start;
    this.#outside = outside;
    this.mailbox.serve().catch((error) => this.broke(error));
  }

  send(message) {
    this.#outside.send(message);
  }

  /** The engine has failed, unless it is that what it speaks with is gone because the run is over. */
  broke(error) {
    if (!this.#released) this.#outside.broken(error);
  }

  /** A message of the host. */
  hear(message) {
    switch (message.t) {
      case "ret":
        return this.rest.awake(() => this.#ret(message));
      case "exec":
        return this.rest.awake(() => this.attempts.exec(message));
      case "delay":
        return this.rest.awake(() => this.attempts.delay(message));
      case "undo":
        return this.rest.awake(() => this.undos.undo(message));
      case "cancel":
        return this.attempts.cancel(message);
      case "cancel_undo":
        return this.undos.cancel(message);
      case "rest":
        return this.over ? undefined : this.rest.ask();
    }
    throw new Error(`unknown message ${message.t}`);
  }

  // ---------------------------------------------------------------------------------------------- beginning and end

  /** What the code is called with, its payload as text. */
  get event() {
    const { payload, timestamp, schedule } = this.#start.event;
    const { workflow, instance } = this.names;
    return { payload, timestamp, instanceId: instance, workflowName: workflow, ...(schedule !== undefined && { schedule }) };
  }

  /** Run the code; `workflow` is its class's entrypoint. */
  async live(workflow) {
    try {
      await workflow.run(undefined, new Lender(this), this.number); // what it gave has come before: `finish`
    } catch (error) {
      if (!this.over && !(isHung(error) && this.rest.ends())) this.finish({ error: describe(error) });
    }
  }

  /** run() has ended, with `{value}` or `{error}`. */
  finish({ value, error }) {
    if (this.over) return;
    const missing = this.replay.expected();
    if (missing !== undefined) this.#report(words(missing), "run() ended");
    this.over = true;
    this.replay.left = 0;
    clearTimeout(this.#blocked);
    this.send({ t: "done", ...(error === undefined ? { value } : { error }) });
    this.rest.ended(error !== undefined);
    this.undos.ended();
  }

  /** The socket is closed: whatever still waits on this side waits no longer. */
  release() {
    this.over = this.#released = true;
    clearTimeout(this.#blocked);
    this.rest.release();
    this.undos.release();
  }

  // ---------------------------------------------------------------------------------------------------- the code's side

  /** run() begins. */
  meet(code) {
    this.#code = code;
  }

  /** Have something done in the request of the code. */
  inCode(job) {
    this.#code.mailbox.post(() => job(this.#code));
  }

  /** Let the code lend its function. */
  wake() {
    this.inCode((code) => code.lend());
  }

  /** Whether an outcome is on its way to the code. */
  get handing() {
    return this.#outcomes.length > 0;
  }

  /** Whether the code has something to do or to get without its own doing. */
  get busy() {
    return this.attempts.busy || this.undos.busy || this.replay.blocked() !== undefined;
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
    this.rest.stirs();
    this.pump();
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
    this.pump();
  }

  /** The host took the call: if it does not fit the journal, that is certain now. */
  accepted(call) {
    if (call.misfit === undefined) return;
    this.#report(call.misfit, words(call), call);
    call.misfit = undefined;
  }

  /** Hand over what may be. */
  pump() {
    const { replay } = this;
    while (!this.over && replay.ready()) {
      const { answered, call, outcome } = replay.next();
      if (answered) this.given += 1;
      this.#settle(call, outcome);
      this.#moved = undefined;
    }
    if (this.over || replay.blocked() === undefined) return;
    this.#moved ??= Date.now();
    this.#blocked ??= setTimeout(() => this.#look(), BLOCKED);
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
    if (this.replay.skip()) this.pump();
  }

  #settle(call, outcome) {
    this.calls.delete(call.id);
    this.#hand(call, outcome);
  }

  /** Give a call its outcome, when those before it are given and the code has come to rest after each. */
  #hand(call, outcome) {
    if (this.#outcomes.push({ call, outcome }) === 1) this.#handFirst();
  }

  #handFirst() {
    const [{ call, outcome }] = this.#outcomes;
    this.inCode((code) => code.settle(call.answer, outcome));
  }

  /** The first outcome is given, and the code has come to rest. */
  handed() {
    this.#outcomes.shift();
    if (this.#outcomes.length > 0) this.#handFirst();
    else this.rest.quiet();
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

/** What the code can call over RPC. */
class Lender extends RpcTarget {
  #run;

  constructor(run) {
    super();
    this.#run = run;
  }

  lend(given) {
    this.#run.rest.lent(given);
  }
}
