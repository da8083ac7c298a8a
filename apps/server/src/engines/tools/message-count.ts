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
 * Messages are counted in the bytes that bring them, before anybody reads them: reading a small one takes a thousand times
 * as long as sending it, so that a few megabytes of them would hold up the process.
 */

/**
 * Of a stream of events whose only line ends are line feeds: an empty line ends one. Other lines take some time as well,
 * comments and rubbish too, so that some of them count as one more. Lines of data take little, and one message may have
 * any number of them: they count by their bytes alone.
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

/** Of a line of which the beginning may have come before. */
function isData(begun: Uint8Array, chunk: Uint8Array, from: number): boolean {
  return dataField.every((byte, at) => byte === (at < begun.length ? begun[at] : chunk[from + at - begun.length]));
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

/** Of one answer, of which all are read together at its end. */
export function countInAll(most: number): (messages: number) => void {
  let all = 0;
  return (messages) => {
    all += messages;
    if (all > most) throw tooManyMessages();
  };
}
