import { parentPort } from "node:worker_threads";
import type { FromThread, Numbered } from "../../kernel/job-thread.ts";
import { boundBuffers } from "./bound-buffers.ts";
import { DocumentError, type DocumentName, type ReadDocument } from "./documents.ts";
import { readDocument } from "./read-document.ts";

/** Runs in a thread that can be ended: a hostile document may keep its parser busy for ever. */
export interface DocumentJob extends DocumentName {
  bytes: Uint8Array;
}

export type DocumentResult = { document: ReadDocument } | { kind: DocumentError["kind"]; error: string };

boundBuffers();

const send = (message: FromThread<DocumentResult>) => parentPort?.postMessage(message);

parentPort?.on("message", async ({ id, bytes, ...named }: Numbered<DocumentJob>) => {
  const result: DocumentResult = await readDocument(bytes, named).then(
    (document) => ({ document }),
    (error: unknown) =>
      error instanceof DocumentError
        ? { kind: error.kind, error: error.message }
        : { kind: "unreadable", error: "The document is damaged." },
  );
  send({ id, result });
});
send({ ready: true });
