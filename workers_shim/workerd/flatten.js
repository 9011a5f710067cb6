// Writing devalue's text: values become a flat list in which containers name their members by index.
//
// This is workers_shim/wire/flatten.py for JavaScript, and gives the same text for the same value. It works through a
// queue instead of recursion, so depth costs nothing, a shared value is written once, and a cycle is an index met again.

export const SPARSE = -7;

/** A value that has no text: a function, a stub, a request. No code may go on from it. */
export class NotSerialisable extends Error {}

/** A Blob whose bytes have to be read first, which takes a promise. */
export class Unread extends NotSerialisable {
  constructor(blob) {
    super("Blob");
    this.blob = blob;
  }
}

const BEYOND_ASCII = /[\x7f-\uffff]/g;

/** Write a value. `blobs` has the base64 of those Blobs that were read; `check` sees the list of one with shared parts. */
export function stringify(value, blobs, check) {
  const flattening = new Flattening(blobs);
  const root = flattening.run(value);
  if (root < 0) return String(root);
  if (flattening.shared) check?.(flattening.flat);
  const text = JSON.stringify(flattening.flat);
  return text.replace(BEYOND_ASCII, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

class Flattening {
  flat = [];
  shared = false; // whether an object was met twice: without that there is no cycle
  #blobs;
  #indexes = new Map();
  #queue = []; // index and value by turns
  #buffers = new Map(); // those that were met only below views -> these, as index and view by turns

  constructor(blobs = new Map()) {
    this.#blobs = blobs;
  }

  /** Fill `flat`; gives the root's reference: 0, or a negative number that is all there is to write. */
  run(value) {
    const root = this.#ref(value);
    for (let at = 0; at < this.#queue.length; at += 2) this.flat[this.#queue[at]] = this.#fill(this.#queue[at + 1], at);
    for (const [buffer, [index, view, ...others]] of this.#buffers) {
      if (view !== undefined && others.length === 0) this.#trim(buffer, index, view);
    }
    return root;
  }

  #ref(value) {
    switch (typeof value) {
      case "undefined":
        return -1;
      case "number":
        return this.#number(value);
      case "function":
      case "symbol":
        throw new NotSerialisable(typeof value);
    }
    const known = this.#indexes.get(value);
    if (known !== undefined) {
      if (typeof value === "object") this.shared = true;
      return known;
    }
    const index = this.#new(value, typeof value === "bigint" ? ["BigInt", String(value)] : value);
    if (typeof value === "object" && value !== null) this.#queue.push(index, value);
    return index;
  }

  #number(value) {
    if (Number.isSafeInteger(value)) {
      if (Object.is(value, -0)) return -6;
      return this.#indexes.get(value) ?? this.#new(value, value);
    }
    if (Number.isFinite(value)) return this.#leaf(value);
    return Number.isNaN(value) ? -3 : value > 0 ? -4 : -5;
  }

  #new(value, raw) {
    const index = this.#leaf(raw);
    this.#indexes.set(value, index);
    return index;
  }

  #leaf(raw) {
    return this.flat.push(raw) - 1;
  }

  #fill(value, at) {
    if (Array.isArray(value)) return this.#array(value);
    const prototype = Object.getPrototypeOf(value);
    if (prototype === Object.prototype) return this.#object(value);
    if (prototype === null) return ["null", ...Object.keys(value).flatMap((key) => [key, this.#ref(value[key])])];
    if (ArrayBuffer.isView(value)) return this.#view(value, this.#queue[at]);
    const tag = Object.prototype.toString.call(value).slice(8, -1);
    const write = WRITERS[tag];
    if (write === undefined) throw new NotSerialisable(tag);
    return write(value, (member) => this.#ref(member), (raw) => this.#leaf(raw), this.#blobs);
  }

  #object(value) {
    const raw = {};
    for (const key of Object.keys(value)) {
      const ref = this.#ref(value[key]);
      if (key !== "__proto__") raw[key] = ref;
      else Object.defineProperty(raw, key, { value: ref, enumerable: true });
    }
    return raw;
  }

  #array(value) {
    const { length } = value;
    const slots = Object.keys(value).filter((key) => String(key >>> 0) === key);
    if (2 * slots.length < length) return [SPARSE, length, ...slots.flatMap((key) => [+key, this.#ref(value[key])])];
    const raw = new Array(length).fill(-2);
    for (const key of slots) raw[key] = this.#ref(value[key]);
    return raw;
  }

  #view(value, index) {
    const { buffer, byteOffset, byteLength } = value;
    const tag = value instanceof DataView ? "DataView" : value[Symbol.toStringTag];
    const raw = [tag, this.#bufferOf(value, index)];
    if (byteLength !== buffer.byteLength) raw.push(byteOffset, value.length ?? byteLength);
    return raw;
  }

  #bufferOf(view, index) {
    const { buffer } = view;
    const users = this.#buffers.get(buffer);
    if (users !== undefined) users.push(index, view);
    else if (!this.#indexes.has(buffer)) this.#buffers.set(buffer, [index, view]);
    return this.#ref(buffer);
  }

  /** One view alone shows a buffer: only what it shows is kept. */
  #trim(buffer, index, { byteOffset, byteLength }) {
    if (byteLength === buffer.byteLength) return;
    const [tag, ref] = this.flat[index];
    this.flat[index] = [tag, ref];
    this.flat[ref] = bytesOf(new Uint8Array(buffer, byteOffset, byteLength));
  }
}

function bytesOf(bytes) {
  return ["ArrayBuffer", bytes.toBase64()];
}

const boxed = (value, ref) => ["Object", ref(value.valueOf())];

function error({ name, message }, ref, leaf) {
  return ["Error", leaf({ name: ref(String(name)), message: ref(String(message)) })];
}

// What each kind of object becomes, by the name that `Object.prototype.toString` has for it.
const WRITERS = {
  ArrayBuffer: (value) => bytesOf(new Uint8Array(value)),
  BigInt: boxed,
  Boolean: boxed,
  Number: boxed,
  String: boxed,
  Date: (value) => ["Date", Number.isNaN(value.getTime()) ? "" : value.toISOString()],
  DOMException: error,
  Error: error,
  Headers: (value) => ["Headers", JSON.stringify([...value])],
  Map: (value, ref) => ["Map", ...[...value].flatMap(([key, item]) => [ref(key), ref(item)])],
  RegExp: (value) => ["RegExp", value.source, ...(value.flags ? [value.flags] : [])],
  Set: (value, ref) => ["Set", ...[...value].map(ref)],
  Blob(value, _ref, _leaf, blobs) {
    const data = blobs.get(value);
    if (data === undefined) throw new Unread(value);
    return ["Blob", `data:${value.type};base64,${data}`];
  },
};
