import { collectDefaultMetrics, Registry } from "prom-client";

let ofProcess: Registry | undefined;

/** Memory, CPU, event loop and garbage collection of this process. Collected from the first scrape on. */
export function processText(): Promise<string> {
  if (!ofProcess) {
    ofProcess = new Registry();
    collectDefaultMetrics({ register: ofProcess });
  }
  return ofProcess.metrics();
}
