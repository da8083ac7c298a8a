import { ToolServerError } from "./tools.ts";

/** How many messages a server may send. */
export interface MessageBounds {
  /** In one answer, or on one stream. */
  inAll: number;
  aSecond: number;
}

const lineFeed = 10;
const linesAMessage = 50;
const [quote, backslash, comma] = [...'"\\,'].map((letter) => letter.charCodeAt(0));
const opening = new Set([..."[{"].map((letter) => letter.charCodeAt(0)));
const closing = new Set([..."]}"].map((letter) => letter.charCodeAt(0)));

export function tooManyMessages(): ToolServerError {
  return new ToolServerError("too_large", "The server sends too many messages", { outcome: "unknown" });
}

/**
 * Counts messages in the bytes that bring them, before anybody reads them: reading a small one takes a thousand times as
 * long as sending it, so that a few megabytes of them would hold up the process. Throws where there are too many.
 */
export function countMessages(messagesIn: (chunk: Uint8Array) => number, { inAll, aSecond }: MessageBounds) {
  let all = 0;
  let recent = { since: performance.now(), count: 0 };
  return (chunk: Uint8Array): void => {
    const count = messagesIn(chunk);
    const now = performance.now();
    if (now - recent.since > 1000) recent = { since: now, count: 0 };
    all += count;
    recent.count += count;
    if (all > inAll || recent.count > aSecond) throw tooManyMessages();
  };
}

/**
 * Of a stream of events whose only line ends are line feeds: an empty line ends one. Other lines take some time as well,
 * comments and rubbish too, so that many of them count as one more.
 */
export function eventsIn(): (chunk: Uint8Array) => number {
  let lineBegin = 0;
  let lines = 0;
  return (chunk) => {
    let events = 0;
    for (let at = chunk.indexOf(lineFeed); at !== -1; at = chunk.indexOf(lineFeed, at + 1)) {
      if (at === lineBegin || ++lines % linesAMessage === 0) events += 1;
      lineBegin = at + 1;
    }
    lineBegin -= chunk.length;
    return events;
  };
}

/** Of JSON: one, or as many as a list of them has. */
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
