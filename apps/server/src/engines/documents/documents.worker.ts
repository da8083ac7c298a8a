import { parentPort } from "node:worker_threads";
import type { FromThread, Numbered } from "../../kernel/job-thread.ts";
import { chunksOf } from "./chunk.rules.ts";
import { type Chunk, DocumentError, type DocumentName, type ReadDocument } from "./documents.ts";
import { readDocument } from "./read-document.ts";

/** Runs in a thread that can be ended: a hostile document may keep its parser busy for ever. */
export interface DocumentJob extends DocumentName {
  bytes: Uint8Array;
  as: "pages" | "chunks";
}

/** Without the chunks, or without the pages: only what was asked for leaves the thread. */
export interface DocumentContent {
  document: ReadDocument;
  chunks: readonly Chunk[];
}

export type DocumentResult = DocumentContent | { kind: DocumentError["kind"]; error: string };

async function work({ bytes, as, ...named }: DocumentJob): Promise<DocumentContent> {
  const document = await readDocument(bytes, named);
  if (as === "pages") return { document, chunks: [] };
  const { chunks, isCut } = chunksOf(document);
  return { document: { ...document, pages: [], isCut: isCut || document.isCut }, chunks };
}

const send = (message: FromThread<DocumentResult>) => parentPort?.postMessage(message);

parentPort?.on("message", async ({ id, ...job }: Numbered<DocumentJob>) => {
  const result: DocumentResult = await work(job).catch(
    (error: unknown): DocumentResult =>
      error instanceof DocumentError
        ? { kind: error.kind, error: error.message }
        : { kind: "unreadable", error: "The document is damaged." },
  );
  send({ id, result });
});
send({ ready: true });
