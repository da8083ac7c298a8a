import type { Readable } from "node:stream";
import type { BlobInfo } from "../../engines/blobs/blobs.ts";
import { Fault, fault } from "../../kernel/errors.ts";
import { type FilesDeps, mayArriveUntil } from "./files-deps.ts";
import { keepArrival } from "./keep-arrival.ts";
import { deleteAwaiting, giveUpFile, insertAwaiting, type NewFile } from "./store.ts";

/**
 * Row, bytes, row: whatever dies in between leaves a row that the sweep finds, never bytes that nobody knows of. The
 * bytes are taken while the first row is written, and become an object after it.
 */
export async function storeBody(
  deps: FilesDeps,
  file: Omit<NewFile, "now" | "declaredType">,
  body: Readable | Uint8Array,
  options: { contentType: string; signal?: AbortSignal | undefined; ownsChunks?: boolean },
): Promise<BlobInfo> {
  const { contentType, signal, ownsChunks = false } = options;
  const {
    database: { sql },
    blobs,
    clock,
  } = deps;
  const createdAt = clock.now();
  const after = insertAwaiting(sql, { ...file, declaredType: contentType, now: createdAt });
  let info: BlobInfo | undefined;
  let isKept: boolean;
  try {
    const bounds = { maxBytes: file.maxBytes, ...(signal && { signal }) };
    info = await blobs.put(file.key, body, { contentType, after, ownsChunks, ...bounds });
    isKept = await keepArrival(deps, file, { ...info, now: clock.now() });
  } catch (error) {
    // A database that is away for the first row need not be waited for again.
    const hasRow = await after.then(
      () => true,
      () => false,
    );
    // Bytes that are there, or may be because the store did not answer, are the collector's to look for.
    const hasArrived = info !== undefined;
    const mayBeThere = hasArrived || (error instanceof Fault && error.type === "service_unavailable");
    const until = mayArriveUntil({ origin: file.origin, state: hasArrived ? "stored" : "awaiting", createdAt });
    // Should this fail too, the sweep does it later; what the caller must hear is why the bytes were not stored.
    if (hasRow) await (mayBeThere ? giveUpFile(sql, file, until) : deleteAwaiting(sql, file.key)).catch(() => {});
    throw error;
  }
  if (!isKept) {
    await blobs.delete(file.key);
    throw fault("service_unavailable", "The file took too long to arrive and was given up");
  }
  return info;
}
