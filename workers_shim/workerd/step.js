// The step object that code is given: what it is called with goes to the run's engine (run.js); functions stay here.

import { RpcTarget } from "cloudflare:workers";

import { currentScope } from "./console.js";

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
    if (run.over) throw new Error("RPC stub used after being disposed."); // what it is on Cloudflare by then
    try {
      return await run.call(id, kind, name, given);
    } catch (error) {
      if (!nested && String(error?.message).startsWith(REFUSED)) [run.made, run.settled] = [run.made - 1, run.settled - 1];
      throw error;
    } finally {
      if (!nested) run.settled += 1;
      if (functions !== undefined && functions.rollback === undefined) run.forget(id);
    }
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
