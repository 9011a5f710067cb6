// An RPC away from the code: values and errors that are not plain (plain.js) go through here on their way between the
// code and the journal, and so become what RPC makes of them, at the bridge's compatibility date.

import { WorkerEntrypoint } from "cloudflare:workers";

import { describe, engineError, notCloned, revive } from "./errors.js";
import { fetchStream, sendFrames } from "./streams.js";
import { NotSerialisable, StoredStream, decode, encodeWhole } from "./values.js";

export class Hop extends WorkerEntrypoint {
  /** What a function of the code gives: `{value}` as text, `{error}`, or `{refused}` when it cannot be kept. */
  async look(given) {
    try {
      return { value: await encodeWhole(await given()) };
    } catch (error) {
      return error instanceof NotSerialisable ? { refused: true, error: describe(notCloned(error)) } : failed(error);
    }
  }

  /** `look` for a step's result. A stream is brought to the host, which takes its end for the attempt's end, however it
   * ends; then there is nothing to give. */
  async lookAtResult(given, place, shown) {
    let value;
    try {
      value = await given();
      if (!(value instanceof ReadableStream)) return await this.look(() => value);
      if (await sendFrames(this.env.HOST, value, place).catch(() => false)) return undefined;
      throw engineError("WorkflowInternalError", `Storage failure for ${shown} due to internal error.`);
    } catch (error) {
      return failed(error);
    }
  }

  /** A value as RPC hands it on. */
  clone(value) {
    return value;
  }

  /** What a text says: `[value]`, or `[undefined, place]` for a stream that the host has. */
  value(text) {
    const value = decode(text);
    return value instanceof StoredStream ? [undefined, { ...value }] : [value];
  }

  /** An error as RPC hands it on when it is a value. */
  error(data) {
    return revive(data);
  }

  /** Throw an error, as RPC hands it on. */
  thrown(data) {
    throw revive(data);
  }

  /** The bytes of a stream that a step has returned. */
  stream(place) {
    return fetchStream(this.env.HOST, place);
  }
}

function failed(error) {
  return { error: describe(error) };
}
