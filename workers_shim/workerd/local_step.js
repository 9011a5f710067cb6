// The step object in the user's isolate. The engine's end of it is step.js in the bridge, one RPC away; functions stay
// here, and the bridge calls them through one function of the run that it is lent.
//
// One function, because every function that crosses keeps this side alive: workerd tells that code waits for nothing of
// its own only when no stub is left.

import { RpcTarget } from "cloudflare:workers";

import { AT_ONCE, HELD } from "./answers.js";
import { currentScope } from "./console.js";
import { readLater } from "./streams.js";

const DYNAMIC = "[dynamic]"; // what the host sees of a delay function
const REFUSED = "WorkflowFatalError: "; // so begin the errors of calls that were not accepted: no journal has them
const FRAMES = 5; // of the stack of a call that is compared with the journal

/**
 * What `run()` is given as `step`. On Cloudflare that is a stub, so its methods may be taken off it, and it may be sent
 * over RPC; here they are getters that give functions, which allows both.
 */
export class WorkflowStep extends RpcTarget {
  #run;

  constructor(run) {
    super();
    this.#run = run;
  }

  get do() {
    return (name, ...given) => {
      const [config, callback, options] = typeof given[0] === "function" ? [undefined, ...given] : given;
      const retries = config?.retries;
      const delay = typeof retries?.delay === "function" ? retries.delay : undefined;
      return this.#call("do", name, { callback, delay, rollback: options?.rollback }, {
        config: delay === undefined ? config : { ...config, retries: { ...retries, delay: DYNAMIC } },
        callable: typeof callback === "function",
        delay: delay !== undefined,
        options: options === undefined ? undefined : described(options),
      });
    };
  }

  get sleep() {
    return (name, duration) => this.#call("sleep", name, undefined, { arg: duration });
  }

  get sleepUntil() {
    return (name, timestamp) => this.#call("until", name, undefined, { arg: timestamp, at: Date.now() });
  }

  get waitForEvent() {
    return (name, options) => this.#call("wait", name, undefined, { arg: options });
  }

  async #call(kind, name, functions, given) {
    const run = this.#run;
    const scope = currentScope();
    const inside = scope?.run === run ? scope : undefined;
    const nested = inside?.call !== undefined;
    const id = (run.ids += 1);
    if (nested) Object.assign(given, { parent: inside.call, attempt: inside.attempt, undo: inside.undo });
    else if ((run.made += 1) <= run.repeats) given.stack = stackBelow(this.#call);
    if (functions !== undefined) run.functions.set(id, functions);
    try {
      return await this.#settled(id, run.stub.call(id, kind, name, given));
    } catch (error) {
      run.stub.skip(id).catch(() => {}); // what cannot be cloned has not left this side
      if (!nested && String(error?.message).startsWith(REFUSED)) [run.made, run.settled] = [run.made - 1, run.settled - 1];
      throw error;
    } finally {
      if (!nested) run.settled += 1;
      if (functions !== undefined && functions.rollback === undefined) run.forget(id);
    }
  }

  /** What a call gives. One that is held is asked for again when the run has been woken. */
  async #settled(id, answer) {
    const run = this.#run;
    for (;;) {
      const found = await answer;
      if (found === HELD) await run.held();
      else if (found !== AT_ONCE) return run.inTurn(found[0], () => this.#outcome(id, found));
      answer = run.stub.again(id, run.invoke);
    }
  }

  #outcome(id, [, ...given]) {
    if (given.length === 0) return this.#run.stub.thrown(id);
    return given.length === 1 ? given[0] : this.#stored(given[1]);
  }

  /** A stream that a step has returned, anew. */
  #stored(place) {
    return readLater(place.size, () => this.#run.stub.stream(place));
  }
}

/** Rollback options without the function, which stays here; what they are not, the bridge says. */
function described(options) {
  if (typeof options !== "object" || options === null || Array.isArray(options)) return { wrong: true };
  const { rollback, rollbackConfig } = options;
  const { retries } = rollbackConfig ?? {};
  const dynamic = typeof retries?.delay === "function";
  return {
    callable: typeof rollback === "function",
    rollbackConfig: dynamic ? { ...rollbackConfig, retries: { ...retries, delay: DYNAMIC } } : rollbackConfig,
  };
}

/** Where a function was called whose caller is ours too, as a stack. */
function stackBelow(callee) {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = FRAMES;
  const at = {};
  Error.captureStackTrace(at, callee);
  Error.stackTraceLimit = stackTraceLimit;
  return at.stack.replace(/\n.*/, "");
}
