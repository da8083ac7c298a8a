import { getCompileCacheDir } from "node:module";
import { totalmem } from "node:os";
import { constrainedMemory } from "node:process";
import { fault } from "../../kernel/errors.ts";
import { createFairQueue } from "../../kernel/fair-queue.ts";
import { createJobProcesses } from "../../kernel/job-processes.ts";
import type { OnThreadTrouble } from "../../kernel/job-threads.ts";
import type { BoundedDocumentJob, DocumentEnd } from "./documents.process.ts";
import {
  DocumentError,
  type DocumentName,
  type Documents,
  maxDocumentBytes,
  mostDocumentsAtOnce,
  type ReadOptions,
} from "./documents.ts";
import type { DocumentContent, DocumentJob } from "./documents.worker.ts";

export interface DocumentsOptions {
  /** For one document. */
  maxMs?: number;
  /** For the process that reads documents. */
  maxBytes?: number;
  /** Documents of one user. */
  maxWaiting?: number;
  onTrouble?: OnThreadTrouble;
}

const crowded = "Too many of your documents are waiting to be read. Try again in a moment.";
const unreadable = (message: string) => new DocumentError("unreadable", message);

/** The process ends a slow document by itself, unless it hangs. */
const graceMs = 30_000;
/** 1 GB, or less on a small machine or in a small container. */
const mostBytes = Math.min(1_073_741_824, totalmem() / 2, (constrainedMemory() || totalmem()) / 2);
const idleMs = 300_000;
/** For glibc, which otherwise keeps freed memory. */
const allocator = { MALLOC_ARENA_MAX: "2", MALLOC_MMAP_THRESHOLD_: "131072", MALLOC_TRIM_THRESHOLD_: "131072" };

/**
 *     fair queue ──► process ──► thread
 *
 * The thread ends with a document that is too slow. The process ends with one that takes too much memory, and the documents
 * beside it are read again.
 */
export function createDocuments(options: DocumentsOptions = {}): Documents & { pids(): number[] } {
  const { maxMs = 30_000, maxBytes = mostBytes, maxWaiting = 64, onTrouble } = options;
  const fairQueue = createFairQueue({
    atOnce: mostDocumentsAtOnce,
    ofOne: mostDocumentsAtOnce - 1,
    maxWaiting,
    crowded,
  });
  const cache = getCompileCacheDir();
  const processes = createJobProcesses<BoundedDocumentJob, DocumentEnd>({
    script: new URL("./documents.process.ts", import.meta.url),
    flags: [],
    env: { ...allocator, ...(cache !== undefined && { NODE_COMPILE_CACHE: cache }) },
    // With more left after a document, it is replaced.
    mostResidentBytes: maxBytes / 2,
    ...{ idleMs, onTrouble },
  });

  async function work(job: DocumentJob, signal: AbortSignal | undefined): Promise<DocumentEnd> {
    const deadlineMs = maxMs + graceMs;
    const end = await processes.run({ ...job, maxMs, maxBytes }, { deadlineMs, ...(signal && { signal }) });
    if (typeof end === "string") return end;
    // Twice, the second time alone.
    return "failed" in end ? "out of memory" : end.result;
  }

  async function read(
    as: DocumentJob["as"],
    bytes: Uint8Array,
    { name, type, url }: DocumentName,
    { userId = "", signal }: ReadOptions = {},
  ): Promise<DocumentContent> {
    signal?.throwIfAborted();
    if (bytes.length > maxDocumentBytes) {
      throw unreadable(`Documents of more than ${maxDocumentBytes / 1_048_576} MB are not read.`);
    }
    const end = await fairQueue(userId, () => work({ as, bytes, name, type, url }, signal), signal);
    signal?.throwIfAborted();
    if (end === "stopped") throw fault("service_unavailable", "The server is shutting down");
    if (end === "unstarted") throw fault("service_unavailable", "A thread for documents could not be started");
    if (end === "too slow") throw unreadable(`Reading the document took longer than ${maxMs / 1000} seconds.`);
    if (end === "out of memory") throw unreadable("Reading the document takes too much memory.");
    if ("failed" in end) {
      onTrouble?.("A thread for documents failed", end.failed);
      throw unreadable("The document is damaged.");
    }
    if ("error" in end.result) throw new DocumentError(end.result.kind, end.result.error);
    return end.result;
  }

  return {
    async read(...args) {
      const { document } = await read("pages", ...args);
      return document;
    },
    async readChunks(...args) {
      const { document, chunks } = await read("chunks", ...args);
      return { format: document.format, isCut: document.isCut, chunks };
    },
    pids: processes.pids,
    close: processes.close,
  };
}
