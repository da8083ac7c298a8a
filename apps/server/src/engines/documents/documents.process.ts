import { writeSync } from "node:fs";
import type { JobEnd } from "../../kernel/job-thread.ts";
import { createJobThreads } from "../../kernel/job-threads.ts";
import { serveJobs } from "../../kernel/serve-jobs.ts";
import { mostDocumentsAtOnce } from "./documents.ts";
import type { DocumentJob, DocumentResult } from "./documents.worker.ts";

export interface BoundedDocumentJob extends DocumentJob {
  maxMs: number;
  /** Of the whole process. */
  maxBytes: number;
}

/** `unstarted`: the system cannot create a thread. */
export type DocumentEnd = JobEnd<DocumentResult> | "unstarted";

let mostBytes = Number.POSITIVE_INFINITY;
const lookEveryMs = 20;

// The limits of a thread cover its objects, but not its buffers: a few bytes may unpack to gigabytes. The event loop of
// this process is always free to look, because documents are read in threads.
setInterval(() => {
  if (process.memoryUsage.rss() <= mostBytes) return;
  writeSync(2, `Reading documents took more than ${Math.round(mostBytes / 1_048_576)} MB`);
  process.exit(1);
}, lookEveryMs).unref();

const threads = createJobThreads<DocumentJob, DocumentResult>({
  script: new URL("./documents.worker.ts", import.meta.url),
  worker: { env: {}, resourceLimits: { maxOldGenerationSizeMb: 512, maxYoungGenerationSizeMb: 64, stackSizeMb: 4 } },
  deadlineMs: 0,
  threads: mostDocumentsAtOnce,
  maxWaiting: mostDocumentsAtOnce,
  crowded: "All threads for documents are busy.",
});

serveJobs<BoundedDocumentJob, DocumentEnd>(({ maxMs, maxBytes, ...job }, signal) => {
  mostBytes = maxBytes;
  return threads.run(job, signal, { deadlineMs: maxMs }).catch(() => "unstarted");
});
