// Streams that steps return: from the user's isolate through the bridge to the host, and back.
//
// A stream that breaks off looks like one that ends, both behind an RPC and as the body of a request (measured with
// workerd 1.20261117). So the bytes travel to the host in frames, and the last one says how the stream ended: a frame is
// four bytes of length, big-endian, and that many bytes; END ends it well; after FAILED a frame of JSON says why not.

const END = 0;
const FAILED = 0xffffffff;
const MAX_CHUNK = 16 * 1024 * 1024; // bytes
// Bytes that are read at once. With 256 KiB workerd loses streams that it passes on itself, without a word.
const PIECE = 64 * 1024;
const GONE = 410; // the attempt was given up meanwhile

const LOCKED =
  "Step returned a ReadableStream that is already locked or otherwise unreadable. " +
  "Return a fresh, unlocked ReadableStream from step.do().";
const UNSUPPORTED =
  "Step returned a ReadableStream with unsupported chunk type. Only ArrayBuffer and TypedArray chunks are supported.";
const TOO_LARGE =
  `Step returned a ReadableStream chunk larger than the maximum allowed size of ${MAX_CHUNK} bytes. ` +
  "Return smaller chunks from step.do().";
// What went wrong in the user's stream, Cloudflare's engine does not see either: it is one RPC away.
const BROKEN =
  "Failed to read from step ReadableStream output. ReadableStream received over RPC disconnected prematurely.";

/**
 * The frames of a stream that a step returned; user code in it runs through `within`. `signal` breaks them off.
 *
 * Not a stream of type "bytes": that one takes the memory of what it is given, and code may give the same bytes twice.
 */
export function framed(stream, within, stackOf, signal) {
  const reader = stream.locked ? undefined : stream.getReader();
  let next; // the bytes whose length has gone out
  return new ReadableStream(
    {
      start(controller) {
        signal.addEventListener("abort", () => {
          reader?.cancel(signal.reason).catch(() => {}); // the attempt was given up
          controller.error(signal.reason);
        });
      },
      async pull(controller) {
        if (next !== undefined) {
          controller.enqueue(next);
          next = undefined;
          return;
        }
        try {
          next = await chunk(reader, within);
          controller.enqueue(header(next?.byteLength ?? END));
          if (next === undefined) controller.close();
        } catch (error) {
          reader?.cancel(error).catch(() => {}); // the instance ends; nothing that the stream still does counts
          const why = { detail: error.message, ...(error.cause !== undefined && { stack: stackOf(error.cause) }) };
          const text = new TextEncoder().encode(JSON.stringify(why));
          for (const bytes of [header(FAILED), header(text.byteLength), text]) controller.enqueue(bytes);
          controller.close();
        }
      },
      cancel: (reason) => reader?.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}

/** The next bytes of a step's stream, none at its end. */
async function chunk(reader, within) {
  if (reader === undefined) throw new Error(LOCKED);
  for (;;) {
    const { done, value } = await within(() => reader.read()).catch((cause) => {
      throw new Error(BROKEN, { cause });
    });
    if (done) return undefined;
    const bytes = bytesOf(value);
    if (bytes.byteLength > MAX_CHUNK) throw new Error(TOO_LARGE);
    if (bytes.byteLength > 0) return bytes;
  }
}

function bytesOf(value) {
  if (value instanceof ArrayBuffer) return new Uint8Array(value);
  if (!ArrayBuffer.isView(value) || value instanceof DataView) throw new Error(UNSUPPORTED);
  return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
}

function header(length) {
  const bytes = new Uint8Array(4);
  new DataView(bytes.buffer).setUint32(0, length);
  return bytes;
}

/** Bring the frames of an attempt's stream to the host, which takes them for the attempt's end; true when it did. */
export async function sendFrames(host, frames, place) {
  const url = `http://host/stream?${new URLSearchParams(place)}`;
  const response = await host.fetch(url, { method: "PUT", body: frames });
  await response.body?.cancel();
  return response.ok || response.status === GONE;
}

/** The bytes of a stream that the host has. */
export async function fetchStream(host, place) {
  const response = await host.fetch(`http://host/stream?${new URLSearchParams(place)}`);
  if (!response.ok) throw new Error("The stream is gone: its instance was deleted, or has begun anew.");
  return response.body;
}

/** A stream of `size` bytes, which are not asked for before somebody reads: most replays never do. */
export function readLater(size, open) {
  let reader;
  let left = size;
  return new ReadableStream(
    {
      type: "bytes",
      autoAllocateChunkSize: PIECE,
      async pull(controller) {
        const request = controller.byobRequest; // null when the reader brings no memory of its own
        const wanted = Math.min(request?.view.byteLength ?? PIECE, left);
        if (wanted > 0) {
          reader ??= (await open()).getReader({ mode: "byob" });
          const { value } = await reader.readAtLeast(wanted, new Uint8Array(wanted));
          if (!value?.byteLength) throw new Error(`The stream broke off ${left} bytes before its end.`);
          left -= value.byteLength;
          give(controller, request, value);
        }
        if (left > 0) return;
        controller.close();
        if (size === 0) request?.respond(0);
      },
      cancel: (reason) => reader?.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}

function give(controller, request, bytes) {
  if (request === null) return controller.enqueue(bytes);
  const { buffer, byteOffset } = request.view;
  new Uint8Array(buffer, byteOffset, bytes.byteLength).set(bytes);
  request.respond(bytes.byteLength);
}
