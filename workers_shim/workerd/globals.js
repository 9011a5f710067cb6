// What the engine needs of the global scope, taken before the user's code can put something else in its place: zone.js
// replaces Promise, test libraries replace timers.

export const { Promise, Response, WebSocketPair, clearTimeout, setTimeout, structuredClone } = globalThis;
