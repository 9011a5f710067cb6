// Values between user code and the host.

import { refuseCycle } from "./cycles.js";
import { NotSerialisable, Unread, stringify } from "./flatten.js";
import { parse } from "./unflatten.js";

/** What user code gave, as text; raises `NotSerialisable` for what no text can say. */
export function encode(value) {
  return stringify(value, undefined, refuseCycle);
}

/** `encode` for values that may hold Blobs, whose bytes have to be read first. */
export async function encodeWhole(value) {
  const blobs = new Map();
  for (;;) {
    try {
      return stringify(value, blobs, refuseCycle);
    } catch (error) {
      if (!(error instanceof Unread)) throw error;
      blobs.set(error.blob, (await error.blob.bytes()).toBase64());
    }
  }
}

/** What the host gave, as a value. */
export function decode(text) {
  return parse(text, (tag, fields) => (tag === "ReadableStream" ? new StoredStream(fields) : undefined));
}

/** A stream that the host has: step and attempt say which, size how many bytes it is long. */
export class StoredStream {
  constructor({ step, attempt, size }) {
    Object.assign(this, { step, attempt, size });
  }
}

export { NotSerialisable };
