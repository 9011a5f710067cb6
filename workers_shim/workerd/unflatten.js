// Reading devalue's text. The list is read in two passes and without recursion: first every value is made (containers
// still empty), then the containers are filled. So sharing and cycles come out as they went in, at any depth.

import { SPARSE } from "./flatten.js";

const VIEWS = [
  Int8Array, Uint8Array, Uint8ClampedArray, Int16Array, Uint16Array, Float16Array, Int32Array, Uint32Array,
  Float32Array, Float64Array, BigInt64Array, BigUint64Array, DataView,
]; // prettier-ignore
const VIEW_OF = new Map(VIEWS.map((view) => [view.name, view]));
const ERRORS = [Error, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError];
// Only a DOMException comes with such a name: RPC puts that of any other error that is not built in into its message.
const EXCEPTIONS = new Set([
  "AbortError",
  "ConstraintError",
  "DataCloneError",
  "DataError",
  "EncodingError",
  "HierarchyRequestError",
  "InUseAttributeError",
  "InvalidAccessError",
  "InvalidCharacterError",
  "InvalidModificationError",
  "InvalidNodeTypeError",
  "InvalidStateError",
  "NamespaceError",
  "NetworkError",
  "NoModificationAllowedError",
  "NotAllowedError",
  "NotFoundError",
  "NotReadableError",
  "NotSupportedError",
  "OperationError",
  "QuotaExceededError",
  "ReadOnlyError",
  "SecurityError",
  "TimeoutError",
  "TransactionInactiveError",
  "TypeMismatchError",
  "URLMismatchError",
  "UnknownError",
  "VersionError",
  "WrongDocumentError",
]);
const ERROR_OF = new Map(ERRORS.map((kind) => [kind.name, kind]));
const CONSTANTS = [[-1, undefined], [-3, NaN], [-4, Infinity], [-5, -Infinity], [-6, -0]]; // prettier-ignore
const CONSTANT_OF = new Map(CONSTANTS);
const HOLE = -2;

/** Read a value. `revive(tag, fields)` makes the object of a tag that is not devalue's own. */
export function parse(text, revive) {
  return fromFlat(JSON.parse(text), revive);
}

/** Read a value from the list that its text is. */
export function fromFlat(flat, revive = () => undefined) {
  if (typeof flat === "number") return CONSTANT_OF.get(flat);
  return typeof flat[0] === "object" && flat[0] !== null ? new Unflattening(flat, revive).value() : flat[0];
}

class Unflattening {
  #flat;
  #revive;
  #made = new Map(CONSTANTS);
  #fills = []; // [fill, shell, raw]

  constructor(flat, revive) {
    this.#flat = flat;
    this.#revive = revive;
  }

  value() {
    const derived = []; // what needs another element's value
    for (const [index, raw] of this.#flat.entries()) {
      const isTagged = Array.isArray(raw) && typeof raw[0] === "string";
      if (isTagged && !(raw[0] in SHELLS) && !(raw[0] in LEAVES)) derived.push([index, raw]);
      else this.#made.set(index, isTagged ? this.#tagged(raw) : this.#plain(raw));
    }
    for (const [index, raw] of derived) this.#made.set(index, this.#derived(raw));
    const at = (ref) => this.#made.get(ref);
    for (const [fill, shell, raw] of this.#fills) fill(shell, raw, at);
    return this.#made.get(0);
  }

  #shell(shell, fill, raw) {
    this.#fills.push([fill, shell, raw]);
    return shell;
  }

  #plain(raw) {
    if (typeof raw !== "object" || raw === null) return raw;
    if (!Array.isArray(raw)) return this.#shell({}, fillObject, raw);
    if (raw[0] === SPARSE) return this.#shell(new Array(raw[1]), fillSparse, raw);
    return this.#shell(new Array(raw.length), fillArray, raw);
  }

  #tagged(raw) {
    const [tag, text] = raw;
    if (tag in LEAVES) return LEAVES[tag](text, raw[2]);
    const [make, fill] = SHELLS[tag];
    return this.#shell(make(), fill, raw);
  }

  #derived([tag, ref, offset, length]) {
    if (tag === "Object") return Object(this.#made.get(ref));
    const View = VIEW_OF.get(tag);
    if (View !== undefined) return new View(this.#made.get(ref), offset, length);
    const fields = Object.fromEntries(Object.entries(this.#flat[ref]).map(([key, at]) => [key, this.#flat[at]]));
    const value = tag === "Error" ? errorOf(fields) : this.#revive(tag, fields);
    if (value === undefined) throw new TypeError(`a value of the unknown type ${tag}`);
    return value;
  }
}

function fillObject(object, raw, at) {
  for (const key of Object.keys(raw)) {
    if (key !== "__proto__") object[key] = at(raw[key]);
    else Object.defineProperty(object, key, { value: at(raw[key]), enumerable: true, configurable: true, writable: true });
  }
}

function fillArray(array, raw, at) {
  for (const [slot, ref] of raw.entries()) if (ref !== HOLE) array[slot] = at(ref);
}

function fillSparse(array, raw, at) {
  for (let i = 2; i < raw.length; i += 2) array[raw[i]] = at(raw[i + 1]);
}

function fillNull(object, raw, at) {
  for (let i = 1; i < raw.length; i += 2) object[raw[i]] = at(raw[i + 1]);
}

function fillMap(map, raw, at) {
  for (let i = 1; i < raw.length; i += 2) map.set(at(raw[i]), at(raw[i + 1]));
}

function fillSet(set, raw, at) {
  for (const ref of raw.slice(1)) set.add(at(ref));
}

// Both without a prototype: what a text names is looked for in them.
const SHELLS = {
  __proto__: null,
  Map: [() => new Map(), fillMap],
  Set: [() => new Set(), fillSet],
  null: [() => Object.create(null), fillNull],
};
const LEAVES = {
  __proto__: null,
  ArrayBuffer: (text) => Uint8Array.fromBase64(text).buffer,
  BigInt: (text) => BigInt(text),
  Blob: blobOf,
  Date: (text) => new Date(text === "" ? NaN : text),
  Headers: (text) => new Headers(JSON.parse(text)),
  RegExp: (source, flags = "") => new RegExp(source, flags),
  URL: (text) => new URL(text),
  URLSearchParams: (text) => new URLSearchParams(text),
};

function blobOf(text) {
  const [head, data] = text.split(";base64,");
  return new Blob([Uint8Array.fromBase64(data)], { type: head.slice("data:".length) });
}

/** An Error, as a value or to be thrown, with the class that its name has. */
export function errorOf({ name, message }) {
  if (EXCEPTIONS.has(name)) return new DOMException(message, name);
  const Kind = ERROR_OF.get(name);
  const error = new (Kind ?? Error)(message);
  if (Kind === undefined) error.name = name;
  error.stack = `${name}: ${message}`; // where it was made again is nobody's business
  return error;
}
