import { collectDefaultMetrics, Registry } from "prom-client";

let ofProcess: Registry | undefined;

/**
 * Memory, CPU, event loop delay, garbage collection and handles of this process, under prom-client's usual names. There
 * is one process, so there is one registry; it begins to watch at the first scrape, and costs nothing where there is none.
 */
export function processText(): Promise<string> {
  if (!ofProcess) {
    ofProcess = new Registry();
    collectDefaultMetrics({ register: ofProcess });
  }
  return ofProcess.metrics();
}
