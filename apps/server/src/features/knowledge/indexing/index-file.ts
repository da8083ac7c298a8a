import { createHash } from "node:crypto";
import { buffer } from "node:stream/consumers";
import {
  type Chunk,
  type ChunkedDocument,
  DocumentError,
  maxDocumentBytes,
} from "../../../engines/documents/documents.ts";
import { nameOf } from "../../drives/index.ts";
import type { KnowledgeDeps } from "../knowledge.ts";
import {
  type EmbeddedChunk,
  endFile,
  type FileEnd,
  fitsIndex,
  mostChunksOfDrive,
  mostChunksOfUser,
} from "./chunk-store.ts";
import type { ClaimedFile } from "./claim-store.ts";
import { embedChunks } from "./embed-chunks.ts";
import { ClaimLost } from "./outcome.rules.ts";

/** A transaction writes up to 5,000 chunks. */
const deadlineMs = 60_000;

/**
 *     bytes ──► text ──► chunks ──► vectors (each batch is stored) ──► replaced in one transaction
 *
 * Rejects with the reason if the file must wait, and with `ClaimLost` if another node or a newer version took over.
 */
export async function indexFile(deps: KnowledgeDeps, file: ClaimedFile, signal: AbortSignal): Promise<void> {
  await end(deps, file, await examine(deps, file, signal));
}

export async function end({ database }: KnowledgeDeps, file: ClaimedFile, result: FileEnd): Promise<void> {
  if (!(await database.transaction((tx) => endFile(tx, file, result), { deadlineMs }))) throw new ClaimLost();
}

async function examine(deps: KnowledgeDeps, file: ClaimedFile, signal: AbortSignal): Promise<FileEnd> {
  const { size, contentType, index, path } = file;
  if (size === null) throw new ClaimLost();
  if (size > maxDocumentBytes)
    return withoutText("skipped", `Files of more than ${maxDocumentBytes / 1_048_576} MB are not indexed.`);
  const isMedia = /^(?:image|audio|video)\/(?!svg)/.test(contentType ?? "");
  if (isMedia) return withoutText("skipped", "Images, audio and video have no text.");
  const opened = await deps.blobs.open(file.blobKey);
  // A file that was replaced meanwhile has lost its claim, and the rejection changes nothing.
  if (!opened) throw new Error(`blob ${file.blobKey} of a drive file is missing`);
  signal.throwIfAborted();
  const bytes = await buffer(opened.body);
  const named = { name: nameOf(path), type: contentType ?? undefined };
  let document: ChunkedDocument;
  try {
    document = await deps.documents.readChunks(bytes, named, { userId: index.ownerId, signal });
  } catch (error) {
    if (!(error instanceof DocumentError)) throw error;
    return withoutText(error.kind === "unsupported" ? "skipped" : "failed", error.message);
  }
  const { chunks, isCut } = document;
  if (chunks.length === 0) return withoutText("skipped", reasonOfEmpty(document));
  if (!(await fitsIndex(deps.database.sql, file, chunks.length))) {
    const bounds = `${mostChunksOfDrive.toLocaleString("en")} chunks of a drive and ${mostChunksOfUser.toLocaleString("en")} of a user`;
    return withoutText(
      "skipped",
      `The index is full: it holds at most ${bounds}. Delete files, then rebuild the index.`,
    );
  }
  const reason = isCut ? "Only the beginning of the file is indexed: the file is too long." : null;
  return { status: "indexed", reason, chunks: await withVectors(deps, file, chunks, signal) };
}

async function withVectors(
  deps: KnowledgeDeps,
  file: ClaimedFile,
  chunks: readonly Chunk[],
  signal: AbortSignal,
): Promise<EmbeddedChunk[]> {
  if (file.index.embeddingModel === null) return chunks.map((chunk) => ({ ...chunk, embedding: null }));
  const texts = chunks.map((chunk) => {
    const text = chunk.heading === null ? chunk.text : `${chunk.heading}\n${chunk.text}`;
    return { text, hash: createHash("sha256").update(text).digest("hex") };
  });
  const vectors = await embedChunks(deps, file, texts, signal);
  return chunks.map((chunk, n) => ({ ...chunk, embedding: vectors.get(texts[n]?.hash ?? "") ?? null }));
}

const withoutText = (status: "failed" | "skipped", reason: string): FileEnd => ({ status, reason, chunks: [] });

function reasonOfEmpty({ format }: ChunkedDocument): string {
  if (format === "pdf") return "The PDF has no text. A scanned document needs text recognition first.";
  return "The file has no text.";
}
