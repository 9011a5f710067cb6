// Plain data: values of which is known what RPC makes of them, so that they need not go through it. Almost all that steps
// give is plain; whatever is not, or is seldom, goes through the bridge (hop.js), and becomes what RPC makes of it.

import { stringify } from "./flatten.js";
import { structuredClone } from "./globals.js";
import { fromFlat } from "./unflatten.js";

const MOST_VALUES = 10_000; // of more, RPC is no slower
const DEEPEST = 200;
const LONGEST = 1 << 20; // UTF-16 units of text; RPC has limits for what is much longer
const TAGS = new Set(["BigInt", "Date", "Map", "Set"]); // of devalue, that RPC would give back as they are

/** The text of a step's result; undefined when it is not plain. */
export function plainText(value) {
  const copy = plainCopy(value);
  if (copy === undefined) return undefined;
  const text = stringify(copy[0]);
  return text.length <= LONGEST ? text : undefined;
}

/** `[copy]` of a value; undefined when it is not plain. */
export function plainCopy(value) {
  if (!new Look().at(value, 0)) return undefined;
  if (typeof value !== "object" || value === null) return [value];
  try {
    return [structuredClone(value)];
  } catch {
    return undefined; // it is a Proxy, or has one in it: such a one looks like what it stands for
  }
}

/** `[value]` for a text; undefined when it is not plain. */
export function plainValue(text) {
  if (text.length > LONGEST) return undefined;
  const flat = JSON.parse(text);
  if (Array.isArray(flat) && flat.some(isOther)) return undefined;
  return [fromFlat(flat)];
}

function isOther(raw) {
  return Array.isArray(raw) && typeof raw[0] === "string" && !TAGS.has(raw[0]);
}

/** A look at whether RPC hands a value on as it is: it has no functions, classes of its own, getters or cycles. */
class Look {
  #left = MOST_VALUES;
  #open = new Set(); // containers that are being looked at

  at(value, depth) {
    this.#left -= 1;
    if (typeof value === "object" && value !== null) return this.#container(value, depth + 1);
    return typeof value !== "function" && typeof value !== "symbol" && this.#left > 0;
  }

  #container(value, depth) {
    if (depth > DEEPEST || this.#open.has(value)) return false;
    this.#open.add(value);
    const plain = this.#members(value, (member) => this.at(member, depth));
    this.#open.delete(value);
    return plain;
  }

  #members(value, isPlain) {
    switch (Object.getPrototypeOf(value)) {
      case Object.prototype:
        return Object.values(Object.getOwnPropertyDescriptors(value)).every((own) => "value" in own && isPlain(own.value));
      case Array.prototype:
        return Object.keys(value).length === value.length && value.every(isPlain);
      case Date.prototype:
        return hasNothing(value) && isDate(value);
      default:
        return false;
    }
  }
}

function hasNothing(value) {
  return Object.keys(value).length === 0;
}

/** Anybody can give an object the prototype of a Date. */
function isDate(value) {
  return Object.prototype.toString.call(value) === "[object Date]";
}
