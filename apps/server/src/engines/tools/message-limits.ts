import { ToolServerError } from "./tools.ts";

const lineFeed = 10;
const linesAMessage = 10;
const bytesAMessage = 16_384;
const dataField = new TextEncoder().encode("data:");
const [quote, backslash, comma] = [...'"\\,'].map((letter) => letter.charCodeAt(0));
const opening = new Set([..."[{"].map((letter) => letter.charCodeAt(0)));
const closing = new Set([..."]}"].map((letter) => letter.charCodeAt(0)));

export function tooManyMessages(): ToolServerError {
  return new ToolServerError("too_large", "The server sends too many messages", { outcome: "unknown" });
}

/*
 * Messages are counted in the raw bytes before they are parsed. Parsing a small message takes a thousand times as long as
 * sending it, so a few megabytes of them would block the process.
 */

/**
 * Counts the events of a stream whose only line ends are line feeds: an empty line ends an event. Ten other lines, such as
 * comments, count as one message. Data lines are cheap, so they count by their bytes.
 */
export function eventsIn(): (chunk: Uint8Array) => number {
  let begun = new Uint8Array();
  let lines = 0;
  let bytes = 0;
  return (chunk) => {
    let events = 0;
    let from = 0;
    for (let at = chunk.indexOf(lineFeed); at !== -1; at = chunk.indexOf(lineFeed, from)) {
      if (begun.length === 0 && at === from) events += 1;
      else if (!isData(begun, chunk, from)) events += ++lines % linesAMessage === 0 ? 1 : 0;
      if (begun.length > 0) begun = new Uint8Array();
      from = at + 1;
    }
    if (from < chunk.length && begun.length < dataField.length) {
      begun = Uint8Array.from([...begun, ...chunk.subarray(from, from + dataField.length)]);
    }
    const whole = Math.floor((bytes + chunk.length) / bytesAMessage);
    bytes = (bytes + chunk.length) % bytesAMessage;
    return events + whole;
  };
}

/** `begun` is the start of the line from the previous chunk. */
function isData(begun: Uint8Array, chunk: Uint8Array, from: number): boolean {
  return dataField.every((byte, at) => byte === (at < begun.length ? begun[at] : chunk[from + at - begun.length]));
}

/** Counts the messages of a JSON list. A JSON object is one message. */
export function listedIn(): (chunk: Uint8Array) => number {
  let depth = 0;
  let isList: boolean | undefined;
  let inText = false;
  let isEscaped = false;
  return (chunk) => {
    let messages = 0;
    for (let at = 0; at < chunk.length && isList !== false; at++) {
      const byte = chunk[at] as number;
      if (isEscaped) isEscaped = false;
      else if (inText) {
        if (byte === backslash) isEscaped = true;
        else if (byte === quote) inText = false;
      } else if (byte === quote) inText = true;
      else if (opening.has(byte)) {
        isList ??= byte === "[".charCodeAt(0);
        depth += 1;
      } else if (closing.has(byte)) depth -= 1;
      else if (byte === comma && depth === 1) messages += 1;
    }
    return messages;
  };
}

/** For a JSON answer, which is parsed as a whole. */
export function countInAll(most: number): (messages: number) => void {
  let all = 0;
  return (messages) => {
    all += messages;
    if (all > most) throw tooManyMessages();
  };
}

/** How fast messages of one stream are read. */
export interface MessagePace {
  /** Size of a burst without a pause. */
  atOnce: number;
  aSecond: number;
  /** How long a stream may be slowed down, beyond half of the time. */
  heldBackMs: number;
}

/**
 * Returns the pause in milliseconds after a number of messages. Pauses slow a server down that is a little too fast. Throws
 * if the server stays more than twice as fast, or sends far too many messages at once.
 */
export function paceMessages({ atOnce, aSecond, heldBackMs }: MessagePace, clock = () => performance.now()) {
  let unpaid = 0;
  let held = 0;
  let since = clock();
  return (messages: number): number => {
    const passed = clock() - since;
    since += passed;
    unpaid = Math.max(0, unpaid - (passed / 1000) * aSecond) + messages;
    const pause = (Math.max(0, unpaid - atOnce) / aSecond) * 1000;
    held = Math.max(0, held - passed / 2) + pause;
    if (held > heldBackMs) throw tooManyMessages();
    return pause;
  };
}
