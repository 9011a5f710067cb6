// What the bridge answers a call of the step API. An outcome is `[turn, value]`, or `[turn, undefined, place]` for a
// stream that the host has, or `[turn]` for an error, which `thrown` throws. RPC does not keep the order of answers
// when runs vie for the isolate (measured), so the code's side hands them on by their turns: 1, 2, 3...
//
// The others are these; then the code's side calls `again`, and lends the bridge its functions anew.

/** The call is held: wait on your side until you are woken. */
export const HELD = 0;

/** Ask again at once: your functions are wanted, and were given back. */
export const AT_ONCE = 1;
