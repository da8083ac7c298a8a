import { fault } from "../../kernel/errors.ts";
import { createFairQueue } from "../../kernel/fair-queue.ts";
import { createJobThreads, type OnThreadTrouble } from "../../kernel/job-threads.ts";
import { DocumentError, type Documents, maxDocumentBytes } from "./documents.ts";
import type { DocumentJob, DocumentResult } from "./documents.worker.ts";

export interface DocumentsOptions {
  /** For one document. */
  maxMs?: number;
  threads?: number;
  /** Documents of one user. */
  maxWaiting?: number;
  onTrouble?: OnThreadTrouble;
}

const crowded = "Too many of your documents are waiting to be read. Try again in a moment.";

/** Reads documents in threads, which end with a document that is too slow or too large. */
export function createDocuments(options: DocumentsOptions = {}): Documents {
  const { maxMs = 30_000, threads = 2, maxWaiting = 64, onTrouble } = options;
  const fairQueue = createFairQueue({ atOnce: threads, ofOne: Math.max(1, threads - 1), maxWaiting, crowded });
  const jobs = createJobThreads<DocumentJob, DocumentResult>({
    script: new URL("./documents.worker.ts", import.meta.url),
    worker: { env: {}, resourceLimits: { maxOldGenerationSizeMb: 512, maxYoungGenerationSizeMb: 64, stackSizeMb: 4 } },
    deadlineMs: maxMs,
    threads,
    maxWaiting: threads,
    crowded,
    onTrouble,
  });
  return {
    async read(bytes, { name, type, url }, { userId = "", signal } = {}) {
      signal?.throwIfAborted();
      if (bytes.length > maxDocumentBytes) {
        throw new DocumentError(
          "unreadable",
          `Documents of more than ${maxDocumentBytes / 1_048_576} MB are not read.`,
        );
      }
      const end = await fairQueue(userId, () => jobs.run({ bytes, name, type, url }, signal), signal);
      signal?.throwIfAborted();
      if (end === "stopped") throw fault("service_unavailable", "The server is shutting down");
      if (end === "too slow") {
        throw new DocumentError("unreadable", `Reading the document took longer than ${maxMs / 1000} seconds.`);
      }
      if (end === "out of memory") throw new DocumentError("unreadable", "Reading the document takes too much memory.");
      if ("failed" in end) throw new DocumentError("unreadable", "The document is damaged.");
      if ("error" in end.result) throw new DocumentError(end.result.kind, end.result.error);
      return end.result.document;
    },
    close: jobs.close,
  };
}
