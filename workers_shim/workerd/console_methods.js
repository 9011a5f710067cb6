// The methods of `console` of which workerd tells nobody but an inspector (measured): what they print here, which is
// what they print in Node.js.

import { tableOf } from "./console_table.js";

const states = new WeakMap(); // of runs, attempts and requests: what goes with them when they end without a word

function stateOf(owner) {
  if (!states.has(owner)) states.set(owner, { depth: 0, counts: new Map(), timers: new Map() });
  return states.get(owner);
}

/** How many groups are open that these owners have opened. */
export function depthOf(owners) {
  return owners.reduce((depth, owner) => depth + (states.get(owner)?.depth ?? 0), 0);
}

/** The methods. `print(method, ...given)` prints by one that workerd prints; groups belong to `groupOwner()`, counters
 * and timers to `owner()`. */
export function printingMethods(print, { owner, groupOwner }) {
  const log = (...given) => print("log", ...given);
  const open = (...given) => {
    if (given.length > 0) log(...given);
    stateOf(groupOwner()).depth += 1;
  };
  return {
    assert(holds, ...given) {
      if (!holds) print("warn", ...headed("Assertion failed", given));
    },
    dir: (value) => log(value),
    dirxml: log,
    group: open,
    groupCollapsed: open,
    groupEnd() {
      const state = stateOf(groupOwner());
      state.depth = Math.max(0, state.depth - 1);
    },
    table: (data, columns) => log(readable(data, columns)),
    trace(...given) {
      log(...headed("Trace", given));
      const frames = String(new Error().stack).split("\n").slice(1); // those of ours are left out by the host
      if (frames.length > 0) log(frames.join("\n"));
    },
    ...counters(print, owner),
    ...timers(print, owner),
  };
}

/** The text in front of what was given, which may begin with a text that says how it is shown. */
function headed(text, given) {
  if (given.length === 0) return [text];
  return typeof given[0] === "string" ? [`${text}: ${given[0]}`, ...given.slice(1)] : [`${text}:`, ...given];
}

function readable(data, columns) {
  try {
    return tableOf(data, columns) ?? data;
  } catch {
    return data; // one of its getters throws; showing it is not to
  }
}

function counters(print, owner) {
  return {
    count(label = "default") {
      const { counts } = stateOf(owner());
      const name = String(label); // a Symbol has no other way to become a text
      counts.set(name, (counts.get(name) ?? 0) + 1);
      print("log", `${name}: ${counts.get(name)}`);
    },
    countReset(label = "default") {
      const name = String(label);
      if (!stateOf(owner()).counts.delete(name)) print("warn", `Count for '${name}' does not exist`);
    },
  };
}

function timers(print, owner) {
  const tell = (name, ...given) => {
    const began = stateOf(owner()).timers.get(name);
    if (began === undefined) print("warn", `Timer '${name}' does not exist`);
    else print("log", "%s", `${name}: ${duration(performance.now() - began)}`, ...given);
  };
  return {
    time(label = "default") {
      const { timers } = stateOf(owner());
      const name = String(label);
      if (timers.has(name)) print("warn", `Timer '${name}' already exists`);
      else timers.set(name, performance.now());
    },
    timeLog: (label = "default", ...given) => tell(String(label), ...given),
    timeEnd(label = "default") {
      tell(String(label));
      stateOf(owner()).timers.delete(String(label));
    },
  };
}

function duration(ms) {
  return ms < 1000 ? `${Number(ms.toFixed(3))}ms` : `${(ms / 1000).toFixed(3)}s`;
}
