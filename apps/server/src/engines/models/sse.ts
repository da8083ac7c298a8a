import { StringDecoder } from "node:string_decoder";
import { createParser } from "eventsource-parser";
import { broken } from "./upstream.ts";

export interface SseEvent {
  /** Empty if the stream does not name the event. */
  event: string;
  data: string;
}

export interface SseReader {
  /** The events completed by this chunk. A chunk may end anywhere, also within a character. */
  push(chunk: Buffer): readonly SseEvent[];
  /** The last event of a stream that ends without a blank line. */
  end(): readonly SseEvent[];
}

const newline = 0x0a;
const none: readonly SseEvent[] = [];
const longestEvent = 1024 * 1024;

/** Measured at 0.3 to 0.6 µs for an event of 300 bytes, with decoding. A hand-written parser was not faster. */
export function createSseReader(options: { maxEventLength?: number } = {}): SseReader {
  const decoder = new StringDecoder("utf8");
  let splitCharacter = false;
  let found: SseEvent[] = [];
  let overflow: Error | undefined;
  const parser = createParser({
    maxBufferSize: options.maxEventLength ?? longestEvent,
    onEvent: ({ event, data }) => found.push({ event: event ?? "", data }),
    onError(error) {
      // Unknown fields are ignored. Only an event that would fill the memory is an error.
      if (error.type === "max-buffer-size-exceeded") overflow = error;
    },
  });

  function decode(chunk: Buffer): string {
    // A chunk that ends with a newline ends with a whole character, so the slower decoder is not needed.
    const whole = !splitCharacter && chunk[chunk.length - 1] === newline;
    splitCharacter = !whole;
    return whole ? chunk.toString("utf8") : decoder.write(chunk);
  }

  function feed(text: string): readonly SseEvent[] {
    if (text !== "") parser.feed(text);
    if (overflow) throw broken(new Error("An event of the stream is too long", { cause: overflow }));
    if (found.length === 0) return none;
    const events = found;
    found = [];
    return events;
  }

  return {
    push: (chunk) => (chunk.length === 0 ? none : feed(decode(chunk))),
    end: () => feed(`${decoder.end()}\n\n`),
  };
}
