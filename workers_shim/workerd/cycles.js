// Values that contain themselves. A replay could give them back, but nothing could show them: they cannot be kept.
//
// This is find_cycle of workers_shim/wire/graph.py for JavaScript.

import { SPARSE } from "./flatten.js";

/** Raise what a step's result that contains itself fails with. */
export function refuseCycle(flat) {
  if (hasCycle(flat)) throw new DOMException("Could not serialize a value that contains itself.", "DataCloneError");
}

function hasCycle(flat) {
  const entered = new Uint8Array(flat.length);
  const left = new Uint8Array(flat.length);
  const stack = [0];
  while (stack.length > 0) {
    const index = stack.at(-1);
    if (entered[index]) {
      left[stack.pop()] = 1;
      continue;
    }
    entered[index] = 1;
    for (const ref of references(flat[index])) {
      if (ref < 0 || left[ref]) continue;
      if (entered[ref]) return true;
      stack.push(ref);
    }
  }
  return false;
}

/** The indexes that one element of the flat list names. */
function references(raw) {
  if (typeof raw !== "object" || raw === null) return [];
  if (!Array.isArray(raw)) return Object.values(raw);
  const [tag, ...fields] = raw;
  if (tag === "Set" || tag === "Map") return fields;
  if (tag === "null") return fields.filter((_, i) => i % 2 === 1);
  if (typeof tag === "string") return fields.slice(0, 1).filter(Number.isInteger);
  return tag === SPARSE ? fields.filter((_, i) => i >= 2 && i % 2 === 0) : raw;
}
