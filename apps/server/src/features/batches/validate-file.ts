import { createHash } from "node:crypto";
import type { Readable } from "node:stream";
import { setImmediate as nextTick } from "node:timers/promises";
import type { BatchEndpoint, LineError } from "./batch.ts";
import { isLineError, readLine } from "./line.rules.ts";
import { readLines } from "./read-lines.ts";

export const mostLines = 50_000;
const mostErrors = 100;
/** The event loop stays free after this much text, which takes a few milliseconds to parse. */
const bytesAtOnce = 512 * 1024;

export interface Validated {
  total: number;
  errors: LineError[];
}

/** Checks the lines of an input file, without the fields of their requests. Stops after many errors. */
export async function validateFile(body: Readable, endpoint: BatchEndpoint, signal: AbortSignal): Promise<Validated> {
  const errors: LineError[] = [];
  /** Hashes, because the ids of a whole file may take 25 MB. */
  const seen = new Set<string>();
  let total = 0;
  let sinceTick = 0;
  for await (const found of readLines(body, { line: 1, byte: 0 })) {
    signal.throwIfAborted();
    total += 1;
    if (total > mostLines) {
      const message = `The file has more than ${mostLines} requests. Split it.`;
      errors.push({ code: "too_many_tasks", message, param: null, line: found.line });
      break;
    }
    const read = readLine(found, endpoint);
    if (isLineError(read)) errors.push(read);
    else {
      const hash = createHash("sha256").update(read.customId).digest("base64");
      if (seen.has(hash)) errors.push(duplicate(found.line));
      seen.add(hash);
    }
    if (errors.length >= mostErrors) break;
    sinceTick += found.bytes;
    if (sinceTick < bytesAtOnce) continue;
    sinceTick = 0;
    await nextTick();
  }
  if (total === 0) errors.push({ code: "empty_file", message: "The file has no requests.", param: null, line: null });
  return { total, errors };
}

function duplicate(line: number): LineError {
  const message = "Another request has the same custom_id. It must be unique in the file.";
  return { code: "duplicate_custom_id", message, param: "custom_id", line };
}
