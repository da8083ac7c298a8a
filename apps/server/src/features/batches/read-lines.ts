import type { Readable } from "node:stream";

export const mostLineBytes = 2 * 1024 * 1024;

export interface FileLine {
  /** Counts from 1. */
  line: number;
  startByte: number;
  /** Without the line break. */
  bytes: number;
  /** Undefined if the line is too long. */
  text: string | undefined;
}

const lineBreak = 10;

/** The lines of a file with more than white space, one at a time. Closes the stream when the reader stops. */
export async function* readLines(body: Readable, from: { line: number; byte: number }): AsyncGenerator<FileLine> {
  let { line, byte: startByte } = from;
  let pieces: Buffer[] = [];
  let bytes = 0;

  function take(piece: Buffer): void {
    bytes += piece.length;
    if (bytes <= mostLineBytes) pieces.push(piece);
    else pieces = [];
  }

  function whole(): FileLine | undefined {
    const text = bytes <= mostLineBytes ? Buffer.concat(pieces).toString("utf8") : undefined;
    const found = { line, startByte, bytes, text };
    line += 1;
    startByte += bytes + 1;
    pieces = [];
    bytes = 0;
    return text?.trim() === "" ? undefined : found;
  }

  for await (const read of body) {
    const chunk = read as Buffer;
    let at = 0;
    for (let end = chunk.indexOf(lineBreak); end !== -1; end = chunk.indexOf(lineBreak, at)) {
      take(chunk.subarray(at, end));
      at = end + 1;
      const found = whole();
      if (found) yield found;
    }
    if (at < chunk.length) take(chunk.subarray(at));
  }
  const last = bytes > 0 ? whole() : undefined;
  if (last) yield last;
}
