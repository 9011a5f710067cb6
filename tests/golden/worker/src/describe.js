// Values as JSON that tells their types apart: {"$": type, ...} for what JSON cannot say.

const LONG = 200;

export function describe(value) {
  switch (typeof value) {
    case "undefined":
      return { $: "undefined" };
    case "boolean":
      return value;
    case "string":
      return value.length > LONG ? { $: "string", length: value.length } : value;
    case "number":
      return Number.isFinite(value) && !Object.is(value, -0) ? value : { $: "number", text: numberText(value) };
    case "object":
      return value === null ? null : describeObject(value);
    default:
      return { $: typeof value, text: typeof value === "function" ? "" : String(value) };
  }
}

function numberText(value) {
  return Object.is(value, -0) ? "-0" : String(value);
}

function describeObject(value) {
  if (Array.isArray(value)) return Array.from(value, describe); // a hole is told as undefined
  if (value instanceof Error) return describeError(value);
  if (value instanceof Date) return { $: "Date", text: Number.isNaN(+value) ? "invalid" : value.toISOString() };
  if (value instanceof Map) return { $: "Map", entries: [...value].map((pair) => pair.map(describe)) };
  if (value instanceof Set) return { $: "Set", members: [...value].map(describe) };
  if (value instanceof RegExp) return { $: "RegExp", text: String(value) };
  if (value instanceof ArrayBuffer) return { $: "ArrayBuffer", bytes: [...new Uint8Array(value)] };
  if (ArrayBuffer.isView(value)) return describeView(value);
  if (value instanceof ReadableStream) return { $: "ReadableStream" };
  const type = Object.getPrototypeOf(value)?.constructor?.name;
  const members = Object.fromEntries(Object.entries(value).map(([name, member]) => [name, describe(member)]));
  return type === "Object" || type === undefined ? members : { $: type, ...members };
}

function describeView(view) {
  return { $: view.constructor.name, bytes: [...new Uint8Array(view.buffer, view.byteOffset, view.byteLength)] };
}

// Of an error's own members. Stacks name files; a Durable Object's id is new in each play, and where there is none, not.
const UNTOLD = ["stack", "name", "message", "durableObjectId"];

function describeError(error) {
  const own = Object.entries(error).filter(([name]) => !UNTOLD.includes(name));
  const told = { $: error.constructor?.name, name: error.name, message: error.message };
  if (own.length > 0) told.own = Object.fromEntries(own.map(([name, member]) => [name, describe(member)]));
  if (error.cause !== undefined) told.cause = describe(error.cause);
  return told;
}

// What a call gives: its value, or the error that it ends with.
export async function outcome(call) {
  try {
    return { gave: describe(await call()) };
  } catch (error) {
    return { threw: describe(error) };
  }
}
