// One use of the step API, from the moment the code makes it until its outcome is handed over.

import { engineError } from "./errors.js";
import { encode } from "./values.js";

const HELP = "See https://developers.cloudflare.com/workflows/build/sleeping-and-retrying/";

export class Call {
  delay = false; // its config has a delay function
  rollback = false;
  rollbackConfig; // as the host reads it
  nth; // its number among the calls of its kind and name
  misfit; // what the journal had in its place, until it is known to be accepted

  /** `id` is the code's own number for it, in the order of the calls; `answer` settles what the code waits for. */
  constructor(id, kind, name, { parent, stack, at }, answer) {
    this.id = id;
    this.answer = answer;
    this.wireKind = kind;
    this.kind = kind === "until" ? "sleep" : kind; // in the journal
    this.shown = name; // as the step context shows it: code may give a number
    this.name = String(name).toWellFormed(); // it is known by what the journal keeps
    this.at = at; // of sleepUntil: the code's time
    this.parent = parent; // the call in whose callback it was made
    this.stack = stack; // where it was made, while the journal has calls to compare it with
  }

  get nested() {
    return this.parent !== undefined;
  }

  /** Take what a `do` was called with; gives what the host reads. Raises in the order of Cloudflare's checks. */
  take({ config, callable, delay, options }, countStep) {
    if (!callable) throw fatal(`Step "${this.name}" requires a callback function`);
    if (options !== undefined) this.#takeOptions(options);
    countStep();
    // Cloudflare's next check asks for the length of the name: without one, V8's words are what the code gets.
    if (this.shown === undefined || this.shown === null) void this.shown.length;
    this.delay = delay;
    return this.#config("Step", config);
  }

  #takeOptions({ wrong, callable, rollbackConfig }) {
    if (wrong) throw fatal(`Rollback options for "${this.name}" must be an object`);
    if (!callable) throw fatal(`Rollback for "${this.name}" must be a function`);
    this.rollback = true;
    if (rollbackConfig !== undefined) this.rollbackConfig = this.#config("Rollback", rollbackConfig);
  }

  #config(what, config) {
    try {
      return encode(config ?? null);
    } catch {
      throw fatal(`${what} config for "${this.name}" is in a invalid format. ${HELP}`);
    }
  }
}

function fatal(message) {
  return engineError("WorkflowFatalError", message);
}

/** What the host reads of a call that is no `do`. */
export function argumentOf(kind, arg) {
  if (kind !== "wait") return readable(arg);
  const timeout = arg.timeout; // not taken apart: V8's words for undefined are what code gets, on Cloudflare too
  return readable({ type: arg.type, ...(timeout !== undefined && { timeout }) });
}

/** A function is no duration and no type: the host refuses an empty object with the words that it has for such. */
function readable(arg) {
  try {
    return encode(arg);
  } catch {
    return encode({});
  }
}
