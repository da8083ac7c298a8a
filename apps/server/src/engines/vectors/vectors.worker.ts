import { parentPort } from "node:worker_threads";
import { type Candidate, scoreExactly, VectorTable } from "./vector-table.ts";

/** Holds the tables of all sets. One message is one step, so that a large set does not delay the searches of others. */

export type VectorJob =
  /** Creates the table if needed, drops vectors that are not listed, and returns the ids to add. */
  | { type: "keep"; key: string; dimensions: number; ids: readonly string[] }
  | { type: "add"; key: string; entries: string }
  | { type: "candidates"; key: string; query: Float32Array; count: number }
  | { type: "score"; query: Float32Array; entries: string }
  | { type: "drop"; key: string };

export type VectorResult = { missing: Float64Array } | { found: Candidate[] } | { done: true } | { unknown: true };

export type ToVectorThread = VectorJob & { id: number };
export type FromVectorThread = { id: number; result: VectorResult } | { id: number; error: string };

const tables = new Map<string, VectorTable>();

function work(job: VectorJob): VectorResult {
  if (job.type === "drop") {
    tables.delete(job.key);
    return { done: true };
  }
  if (job.type === "score") return { found: scoreExactly(Buffer.from(job.entries, "hex"), job.query) };
  if (job.type === "keep") {
    const ids = readIds(job.ids);
    const known = tables.get(job.key);
    const table = known && !known.isTooLargeFor(ids.length) ? known : new VectorTable(job.dimensions);
    tables.set(job.key, table);
    return { missing: table.keepOnly(ids) };
  }
  const table = tables.get(job.key);
  if (!table) return { unknown: true };
  if (job.type === "candidates") return { found: table.candidates(job.query, job.count) };
  table.add(Buffer.from(job.entries, "hex"));
  return { done: true };
}

function readIds(pages: readonly string[]): Float64Array {
  const bytes = Buffer.concat(pages.map((page) => Buffer.from(page, "hex")));
  return Float64Array.from({ length: bytes.length / 8 }, (_, n) => Number(bytes.readBigInt64BE(n * 8)));
}

parentPort?.on("message", ({ id, ...job }: ToVectorThread) => {
  let answer: FromVectorThread;
  try {
    answer = { id, result: work(job as VectorJob) };
  } catch (error) {
    answer = { id, error: String(error) };
  }
  parentPort?.postMessage(answer);
});
