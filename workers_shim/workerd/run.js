// One run: an execution of a workflow's `run()`, from `start` until its socket closes.

import { HELD } from "./answers.js";
import { Attempts } from "./attempts.js";
import { Call, argumentOf } from "./call.js";
import { describe, engineError, isHung, notCloned, revive } from "./errors.js";
import { Replay, words } from "./replay.js";
import { Rest } from "./rest.js";
import { Step } from "./step.js";
import { fetchStream } from "./streams.js";
import { Undos } from "./undo.js";
import { NotSerialisable, StoredStream, decode, encode, encodeWhole } from "./values.js";

const PHASE = "Cannot execute steps during rollback phase";
// ms that a replay waits for a call that the journal has before results that stand behind it. That the code has come to
// rest cannot be seen from here, so it is given the time in which a fetch of its own is over.
const BLOCKED = 10_000;

export class Run {
  calls = new Map(); // every call that has not been given its outcome, by id
  over = false; // run() has ended: nothing more is asked or answered
  sent = 0; // `call` messages
  given = 0; // `ret` messages that were handed over
  invoke; // the function through which the run's own functions are called, while it is lent to us
  #start;
  #outside;
  #next = 1; // id of the call that the code made next
  #early = new Map(); // calls that have come before it: id -> what lets them be taken
  #turns = 0; // outcomes that were handed over
  #thrown = new Map(); // call -> the error that it settled with, until the code's side asks for it
  #steps = 0;
  #last; // call
  #failure; // what run() threw, as its side keeps it
  #told = new Set(); // mismatches
  #blocked; // timer
  #moved; // ms since the epoch: when the queue began to wait for a call

  /** `outside` is what run_socket.js lets it reach. */
  constructor(start, outside) {
    this.number = start.run;
    this.host = outside.host;
    this.undoing = start.undo === true; // the code is repeated for its undo functions only
    this.replay = new Replay(start.journal);
    this.rest = new Rest(this);
    this.attempts = new Attempts(this);
    this.undos = new Undos(this);
    this.#start = start;
    this.#outside = outside;
  }

  send(message) {
    this.#outside.send(message);
  }

  /** A message of the host. */
  hear(message) {
    switch (message.t) {
      case "ret":
        return this.rest.awake(() => this.#ret(message));
      case "exec":
        return this.rest.awake(() => this.attempts.exec(message), message.call);
      case "delay":
        return this.rest.awake(() => this.attempts.delay(message), message.call);
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

  /** Run the user's code; `workflow` is its class's entrypoint. */
  async live(workflow) {
    const done = { t: "done" };
    try {
      const result = await workflow.run(this.#event(), new Step(this), this.#about());
      done.value = await this.#output(result);
    } catch (error) {
      if (this.#failure === undefined && this.rest.ends(error)) return;
      done.error = describe(error, this.#failure);
    }
    if (!this.over) this.#finish(done);
  }

  #event() {
    const { payload, timestamp, schedule } = this.#start.event;
    return {
      timestamp: new Date(timestamp),
      payload: decode(payload),
      instanceId: this.#start.instance,
      workflowName: this.#start.workflow,
      ...(schedule !== undefined && { schedule }),
    };
  }

  /** What the code's side is told beside the event; user code does not see it. */
  #about() {
    return { run: this.number, calls: this.replay.calls };
  }

  async #output(result) {
    try {
      return await encodeWhole(result);
    } catch (error) {
      throw error instanceof NotSerialisable ? notCloned(error) : error;
    }
  }

  #finish(done) {
    const missing = this.replay.expected();
    if (missing !== undefined) this.#report(words(missing), "run() ended");
    this.over = true;
    this.replay.left = 0;
    clearTimeout(this.#blocked);
    this.send(done);
    this.rest.ended();
    this.undos.ended();
  }

  /** run() has thrown, and its side says what. */
  failed(error) {
    this.#failure = error;
  }

  /** The socket is closed: whatever still waits on this side waits no longer. */
  release() {
    this.over = true;
    clearTimeout(this.#blocked);
    this.rest.release();
    this.undos.release();
    this.giveBack();
  }

  // ---------------------------------------------------------------------------------------------------- the code's side

  /** Take the function that leads to the run's own functions. */
  open(invoke) {
    this.giveBack();
    this.invoke = invoke.dup();
  }

  giveBack() {
    this.invoke?.[Symbol.dispose]();
    this.invoke = undefined;
  }

  /** Let calls that wait on the code's side be asked again. */
  wake() {
    this.#outside.wake().catch((error) => this.#outside.broken(error));
  }

  /** Let the code's side drop what it holds. */
  forget() {
    this.#outside.forget();
  }

  /** Let an attempt be over for the bridge: as long as one runs that is waited for, workerd does not end the run. */
  leave(id, attempt) {
    this.invoke?.("leave", id, attempt).catch(() => {}); // its isolate is going away
  }

  /** Whether the code has something to do or to get without its own doing. */
  get busy() {
    return this.attempts.busy || this.undos.busy || this.replay.blocked() !== undefined;
  }

  /** What is kept of the error that a call's code threw last. */
  async failure(id) {
    try {
      return await this.invoke?.("failure", id);
    } catch {
      return undefined; // its isolate is going away: the error is told without its stack
    }
  }

  // ---------------------------------------------------------------------------------------------------------- calls

  /** A call of the step API; gives what `Step` answers. Calls arrive out of order when runs vie for the isolate. */
  call(id, kind, name, given) {
    return this.#inOrder(id, () => this.#take(id, kind, name, given));
  }

  /** A call that is known here already, or never comes. */
  skip(id) {
    this.#inOrder(id, () => {});
  }

  #inOrder(id, take) {
    if (id < this.#next) return undefined;
    if (id > this.#next) {
      return new Promise((resolve) => this.#early.set(id, resolve)).then(() => this.#inOrder(id, take));
    }
    this.#next += 1;
    try {
      return take();
    } finally {
      this.#early.get(this.#next)?.();
      this.#early.delete(this.#next);
    }
  }

  #take(id, kind, name, given) {
    if (given.undo) throw engineError("WorkflowFatalError", PHASE);
    const call = new Call(id, kind, name, given);
    if (this.over) return call.answer.promise; // nobody will answer it
    // Nor this; a call that waits here would keep the run from being parked.
    if (call.nested && this.attempts.isGivenUp(given.parent, given.attempt)) return HELD;
    const arg = kind === "do" ? call.take(given, () => this.#countStep()) : argumentOf(kind, given.arg);
    this.#make(call, arg);
    this.rest.stirs();
    this.soon(() => this.pump());
    return call.answer.promise;
  }

  /** Do something once the code's side has been given the promise of its answer: an answer that is there before takes a
   * turn longer than those of calls that wait already, and would come after them. */
  soon(action) {
    queueMicrotask(() => {
      try {
        action();
      } catch (error) {
        this.#outside.broken(error);
      }
    });
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

  /** A call that was held is asked for again. */
  again(id, invoke) {
    this.open(invoke);
    const call = this.calls.get(id);
    if (call === undefined) return HELD; // it is a given-up attempt's
    call.answer = Promise.withResolvers();
    this.rest.back(call);
    return call.answer.promise;
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

  /** Hand over what may be. Over RPC each result arrives in a turn of its own, in this order. */
  pump() {
    const { replay, rest } = this;
    if (rest.waking) return; // it goes on when all that was held has come back
    while (!this.over && replay.ready()) {
      if (rest.holds) return rest.awake(() => {});
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
    this.#turns += 1;
    try {
      if (outcome.error !== undefined) throw revive(outcome.error);
      const value = decode(outcome.value);
      const given = value instanceof StoredStream ? [undefined, { ...value }] : [value];
      call.answer.resolve([this.#turns, ...given]);
    } catch (error) {
      this.#thrown.set(call.id, error);
      call.answer.resolve([this.#turns]);
    }
  }

  /** The error that a call settled with. */
  thrown(id) {
    const error = this.#thrown.get(id);
    this.#thrown.delete(id);
    return error;
  }

  /** The bytes of a stream that a step of this run's instance has returned. */
  fetch({ step, attempt }) {
    const { workflow, instance } = this.#start;
    return fetchStream(this.host, { workflow, instance, step, attempt });
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
