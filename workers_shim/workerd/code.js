// The code of a run: its functions, and what is kept of their errors. What they take and give goes to and from the engine
// (run.js) as text or as plain data.

import { runInScope } from "./console.js";
import { Promise } from "./globals.js";
import { hop } from "./hidden.js";
import { plainCopy, plainText, plainValue } from "./plain.js";
import { asData } from "./stacks.js";
import { WorkflowStep } from "./step.js";
import { framed, readLater } from "./streams.js";

export class Code {
  made = 0; // calls outside of steps
  settled = 0; // of them
  ids = 0;
  functions = new Map(); // of calls: {callback, delay, rollback}
  over = false; // run() has ended
  #sending = new Map(); // "call attempt" -> what breaks off the stream that it returned
  #failures = new Map(); // of calls: what they threw last, as data

  /** `engine` is the `Run`. */
  constructor(engine) {
    this.engine = engine;
    this.number = engine.number;
    this.repeats = engine.replay.calls; // calls outside of steps that the journal has
  }

  // ---------------------------------------------------------------------------------------------- beginning and end

  /** Run the whole of it, `main`, for an event whose payload is a text; `told` hears how it ended. */
  async whole({ payload, timestamp, ...others }, main, told) {
    let ended;
    try {
      const event = { timestamp: new Date(timestamp), payload: await this.#value(payload), ...others };
      const running = runInScope({ run: this }, () => main(event, new WorkflowStep(this)));
      ended = await this.#ended(running);
    } catch (error) {
      ended = await this.#ended(Promise.reject(error));
    }
    this.over = true;
    told(ended);
  }

  async #ended(running) {
    const text = await plainResult(running);
    if (text !== undefined) return { value: text };
    const looked = await hop().look(() => running);
    const kept = await running.then(() => undefined, asData);
    return looked.error === undefined ? looked : { error: withStack(looked.error, kept) };
  }

  // ---------------------------------------------------------------------------------------------------------- calls

  /** Make a call; settles as it does. */
  async call(id, kind, name, given) {
    const answer = Promise.withResolvers();
    const asked = { name, given };
    let [copy] = plainCopy(asked) ?? [];
    if (copy === undefined) {
      try {
        copy = await hop().clone(asked);
      } catch (error) {
        this.engine.skip(id); // what cannot be cloned is no call
        throw error;
      }
    }
    this.engine.call(id, kind, copy.name, copy.given, answer);
    return answer.promise;
  }

  /** Give a call its outcome; a promise where that takes time. */
  settle(answer, { value: text, error }) {
    const plain = error === undefined ? plainValue(text) : undefined;
    if (plain === undefined) return this.#settleByHop(answer, text, error);
    answer.resolve(plain[0]);
    return undefined;
  }

  async #settleByHop(answer, text, error) {
    try {
      answer.resolve(error === undefined ? await this.#value(text) : await hop().thrown(error));
    } catch (thrown) {
      answer.reject(thrown);
    }
  }

  async #value(text) {
    const plain = plainValue(text);
    if (plain !== undefined) return plain[0];
    const [value, { size, ...place } = {}] = await hop().value(text);
    return size === undefined ? value : readLater(size, () => this.#stream(place));
  }

  #stream(place) {
    return hop().stream({ ...this.engine.names, ...place });
  }

  /** A call is over. */
  forget(id) {
    this.functions.delete(id);
    this.#failures.delete(id);
  }

  // ------------------------------------------------------------------------------------------------------ functions

  /** Run the callback of a call; `told` hears how that went, or nothing when the host knows. */
  async body({ id, name, nth }, context, told) {
    const { callback } = this.functions.get(id);
    const within = (code) => runInScope(this.#scope(id, context), code);
    const running = within(() => this.#keeping(id, callback, context));
    const text = await plainResult(running);
    const ran = text === undefined ? await this.#look(running, id, context.attempt, `${name}-${nth}`, within) : { value: text };
    told(ran);
  }

  async #look(running, id, attempt, shown, within) {
    const key = `${id} ${attempt}`;
    const given = async () => {
      const value = await running;
      if (!(value instanceof ReadableStream)) return value;
      if (this.engine.attempts.isGivenUp(id, attempt)) return value.cancel();
      const sending = new AbortController();
      this.#sending.set(key, sending);
      return framed(value, within, (error) => asData(error).stack, sending.signal);
    };
    const ran = await hop().lookAtResult(given, { run: this.number, call: id, attempt }, shown);
    this.#sending.delete(key);
    return ran?.error === undefined ? ran : { ...ran, error: withStack(ran.error, this.#failures.get(id)) };
  }

  /** An attempt is given up: what it still sends is not wanted. */
  breakOff(id, attempt) {
    this.#sending.get(`${id} ${attempt}`)?.abort();
  }

  /** Ask a delay function; `told` hears what it says. */
  async delay(id, ctx, data, told) {
    const { delay } = this.functions.get(id);
    const error = await hop().error(data);
    const running = runInScope(this.#scope(id, ctx), () => this.#keeping(id, delay, { ctx, error }));
    const text = await plainResult(running);
    const said = text === undefined ? await hop().look(() => running) : { value: text };
    told(said);
  }

  /** Run an undo function; `told` hears what it threw, if it did. */
  async undo(id, { ctx, error, output, stepName }, attempt, told) {
    const { rollback } = this.functions.get(id);
    const scope = { ...this.#scope(id, ctx), attempt, undo: true };
    const value = output === undefined ? undefined : await this.#value(output);
    const given = { ctx, error: await hop().error(error), output: value, stepName };
    const running = runInScope(scope, () => this.#keeping(id, rollback, given)).then(() => undefined);
    const { error: thrown } = (await plainResult(running)) === undefined ? await hop().look(() => running) : {};
    told(thrown && withStack(thrown, this.#failures.get(id)));
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

/** The text of what a promise gives; undefined when the bridge has to look: it is not plain, or an error. */
async function plainResult(running) {
  let value;
  try {
    value = await running;
  } catch {
    return undefined; // the bridge gets it from the promise
  }
  return plainText(value);
}

/** An error with its stack, where that is kept. */
function withStack(error, kept) {
  return kept?.stack ? { ...error, detail: kept.stack } : error;
}
