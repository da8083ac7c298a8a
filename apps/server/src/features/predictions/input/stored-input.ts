import type { Readable } from "node:stream";
import type { BlobStore } from "../../../engines/blobs/blobs.ts";
import type { FileInput, InputValue } from "../../../engines/models/driver.ts";
import { fault, isUnavailable } from "../../../kernel/errors.ts";
import { isRecord } from "../../../kernel/is-record.ts";
import { type DescribedFile, keptFile } from "../kept/kept-input.rules.ts";
import type { CheckedInput } from "./read-input.ts";
import type { CheckedFile } from "./receive-file.ts";

interface StoredFile {
  $file: DescribedFile & { key: string; filename: string | null };
}

const folderOf = (predictionId: string) => `inputs/${predictionId}/`;
const keyOf = (predictionId: string, n: number) => `${folderOf(predictionId)}${n}`;

/** Callers may send objects that look like stored files, so the key must belong to this prediction. */
function isStoredFile(predictionId: string, value: unknown): value is StoredFile {
  const file = isRecord(value) ? value.$file : undefined;
  const folder = folderOf(predictionId);
  return (
    isRecord(file) &&
    typeof file.key === "string" &&
    file.key.startsWith(folder) &&
    /^\d+$/.test(file.key.slice(folder.length))
  );
}

/** The stored files of a field: one, or a list without anything else. */
function storedFilesOf(predictionId: string, value: unknown): readonly StoredFile[] {
  const isOwn = (each: unknown): each is StoredFile => isStoredFile(predictionId, each);
  if (isOwn(value)) return [value];
  return Array.isArray(value) && value.every(isOwn) ? value : [];
}

/** Stores the files of an input whose prediction runs later, possibly on another machine. */
export async function storeInput(
  blobs: BlobStore,
  predictionId: string,
  { input, files }: Pick<CheckedInput, "input" | "files">,
): Promise<Record<string, unknown>> {
  const stored: Record<string, unknown> = { ...input };
  for (const [n, file] of files.entries()) {
    const key = keyOf(predictionId, n);
    await putFile(blobs, key, file);
    const { contentType, size, filename, sha256, stored: address, url } = file;
    const described = { contentType, size, filename: filename ?? null, sha256, stored: address, url };
    const reference = { $file: { key, ...described } } satisfies StoredFile;
    if (file.index === undefined) stored[file.field] = reference;
    else stored[file.field] = (stored[file.field] as unknown[]).with(file.index, reference);
  }
  return stored;
}

async function putFile(blobs: BlobStore, key: string, file: CheckedFile): Promise<void> {
  const { contentType } = file;
  if (file.path !== undefined) await blobs.putFile(key, file.path, { contentType });
  else await blobs.put(key, await file.open(), { contentType });
}

/** A file that the store did not return, or not completely. */
export interface UnreadFile {
  key: string;
  /** The file was opened, but its stream ended early. */
  brokeOff: boolean;
}

/**
 * `onUnread` is called if a file cannot be read to its end because the store is unavailable. The model has not started then:
 * it receives all files before it begins. A file that was read once before does not count.
 */
export function openInput(
  blobs: BlobStore,
  predictionId: string,
  stored: Record<string, unknown>,
  onUnread: (file: UnreadFile) => void,
): Record<string, InputValue> {
  const opened = (value: unknown): InputValue => {
    const files = storedFilesOf(predictionId, value).map((file) => asFile(blobs, file, onUnread));
    const [first] = files;
    if (first === undefined) return value as InputValue;
    return Array.isArray(value) ? files : first;
  };
  return Object.fromEntries(Object.entries(stored).map(([field, value]) => [field, opened(value)]));
}

function asFile(
  blobs: BlobStore,
  { $file: { key, contentType, size, filename } }: StoredFile,
  onUnread: (file: UnreadFile) => void,
): FileInput {
  let wasRead = false;
  const reportUnread = (error: unknown, brokeOff: boolean) => {
    if (!wasRead && isUnavailable(error)) onUnread({ key, brokeOff });
  };
  return {
    kind: "file",
    contentType,
    size,
    filename: filename ?? undefined,
    async open(): Promise<Readable> {
      const found = await blobs.open(key).catch((error) => {
        reportUnread(error, false);
        throw error;
      });
      if (!found) throw fault("internal_server_error", "An input file no longer exists");
      found.body
        .once("error", (error) => reportUnread(error, true))
        .once("end", () => {
          wasRead = true;
        });
      return found.body;
    },
  };
}

export function hasFiles(predictionId: string, stored: Record<string, unknown>): boolean {
  return Object.values(stored).some((value) => storedFilesOf(predictionId, value).length > 0);
}

/** The input of a queued prediction as it is kept: files are described, because they are deleted after the end. */
export function describedInput(predictionId: string, stored: Record<string, unknown>): Record<string, unknown> {
  const described = (value: unknown) => {
    const files = storedFilesOf(predictionId, value).map(({ $file }) => keptFile($file));
    if (files.length === 0) return value;
    return Array.isArray(value) ? files : files[0];
  };
  return Object.fromEntries(Object.entries(stored).map(([field, value]) => [field, described(value)]));
}

export async function deleteInput(
  blobs: BlobStore,
  predictionId: string,
  stored: Record<string, unknown>,
): Promise<void> {
  for (const value of Object.values(stored)) {
    for (const { $file } of storedFilesOf(predictionId, value)) await blobs.delete($file.key);
  }
}
