import type { Readable } from "node:stream";
import type { BlobStore } from "../../../engines/blobs/blobs.ts";
import type { FileInput, InputValue } from "../../../engines/models/driver.ts";
import { Fault, fault } from "../../../kernel/errors.ts";
import type { CheckedFile, CheckedInput } from "./index.ts";

/** A file among the stored inputs of a queued prediction. */
interface StoredFile {
  $file: { key: string; contentType: string; size: number; filename: string | null };
}

const folderOf = (predictionId: string) => `inputs/${predictionId}/`;
const keyOf = (predictionId: string, n: number) => `${folderOf(predictionId)}${n}`;

/** Inputs may be objects of the caller's making: one that looks like a file and is none of this prediction is no file. */
function isStoredFile(predictionId: string, value: unknown): value is StoredFile {
  if (typeof value !== "object" || value === null || !("$file" in value)) return false;
  const file = value.$file;
  if (typeof file !== "object" || file === null || !("key" in file)) return false;
  const folder = folderOf(predictionId);
  return typeof file.key === "string" && file.key.startsWith(folder) && /^\d+$/.test(file.key.slice(folder.length));
}

/** Keeps the input of a prediction that runs later, perhaps on another machine: its files go into the blob store. */
export async function keepInput(
  blobs: BlobStore,
  predictionId: string,
  { input, files }: CheckedInput,
): Promise<Record<string, unknown>> {
  const kept: Record<string, unknown> = { ...input };
  for (const [n, file] of files.entries()) {
    const key = keyOf(predictionId, n);
    await putFile(blobs, key, file);
    const { contentType, size, filename } = file;
    kept[file.field] = { $file: { key, contentType, size, filename: filename ?? null } } satisfies StoredFile;
  }
  return kept;
}

async function putFile(blobs: BlobStore, key: string, file: CheckedFile): Promise<void> {
  const { contentType } = file;
  if (file.path !== undefined) await blobs.putFile(key, file.path, { contentType });
  else await blobs.put(key, await file.open(), { contentType });
}

/** A file that the store did not give, or not whole. */
export interface UnreadFile {
  key: string;
  /** It was opened, and its bytes ended too early. */
  brokeOff: boolean;
}

/**
 * `onUnread` is called where a file cannot be opened, or not be read to its end, because the store is away: nothing was done
 * with the input then. A model gets all of its files before it begins, so one that was read before may have been used.
 */
export function openInput(
  blobs: BlobStore,
  predictionId: string,
  stored: Record<string, unknown>,
  onUnread: (file: UnreadFile) => void,
): Record<string, InputValue> {
  return Object.fromEntries(
    Object.entries(stored).map(([field, value]) => [
      field,
      isStoredFile(predictionId, value) ? asFile(blobs, value, onUnread) : (value as InputValue),
    ]),
  );
}

function asFile(
  blobs: BlobStore,
  { $file: { key, contentType, size, filename } }: StoredFile,
  onUnread: (file: UnreadFile) => void,
): FileInput {
  let wasRead = false;
  const tellUnread = (error: unknown, brokeOff: boolean) => {
    if (!wasRead && error instanceof Fault && error.type === "service_unavailable") onUnread({ key, brokeOff });
  };
  const broke = (error: unknown) => tellUnread(error, true);
  return {
    kind: "file",
    contentType,
    size,
    filename: filename ?? undefined,
    async open(): Promise<Readable> {
      const found = await blobs.open(key).catch((error) => {
        tellUnread(error, false);
        throw error;
      });
      if (!found) throw fault("internal_server_error", "An input file is no longer there");
      found.body.once("error", broke).once("end", () => {
        wasRead = true;
      });
      return found.body;
    },
  };
}

export function hasFiles(predictionId: string, stored: Record<string, unknown>): boolean {
  return Object.values(stored).some((value) => isStoredFile(predictionId, value));
}

/** Once the prediction has ended nobody needs its input files. */
export async function dropInput(
  blobs: BlobStore,
  predictionId: string,
  stored: Record<string, unknown>,
): Promise<void> {
  for (const value of Object.values(stored)) if (isStoredFile(predictionId, value)) await blobs.delete(value.$file.key);
}
