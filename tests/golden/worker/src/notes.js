// What the code of instances has noted while it ran. Requests and runs share the memory of one isolate.

import { describe } from "./describe.js";

const NOTES = new Map();

export function notesOf(id) {
  return NOTES.get(id) ?? [];
}

// A function that notes a label, and a value with it.
export function notebook(id) {
  if (!NOTES.has(id)) NOTES.set(id, []);
  const notes = NOTES.get(id);
  return (label, ...values) => {
    notes.push(values.length === 0 ? label : [label, ...values.map(describe)]);
  };
}

export function labels(id) {
  return notesOf(id).map((note) => (Array.isArray(note) ? note[0] : note));
}
