import type { Readable } from "node:stream";
import type { BlobInfo } from "../../engines/blobs/blobs.ts";
import { Fault, fault, type Loc } from "../../kernel/errors.ts";
import { parseMediaType, unknownType } from "../../kernel/media-type.rules.ts";
import type { Scope } from "../accounts/index.ts";
import { filenameOf, formatS3Path, parseS3Path } from "./address.rules.ts";
import { typeByEnding } from "./content-type.rules.ts";
import { examineContent } from "./content-type.ts";
import { type FilesDeps, linkSeconds, type PresignedUrl } from "./files-deps.ts";
import {
  countFiles,
  type FileEntry,
  type FileRow,
  findNewestKey,
  findOwnedFile,
  markAwaitingAgain,
  selectFiles,
} from "./store.ts";
import { keepArrival } from "./store-file.ts";

export interface ListedFile extends Omit<FileEntry, "key"> {
  s3Path: string;
}

/** What the caller uploaded and what its predictions made, newest first. */
export async function listFiles(
  { database, blobs: { bucket } }: FilesDeps,
  scope: Scope,
  range: { limit: number; offset: number },
): Promise<{ entries: ListedFile[]; total: number }> {
  const [rows, total] = await Promise.all([selectFiles(database.sql, scope, range), countFiles(database.sql, scope)]);
  return { entries: rows.map(({ key, ...row }) => ({ ...row, s3Path: formatS3Path({ bucket, key }) })), total };
}

const loc = ["query", "s3_path_to_sign"];

/** A download link for what the caller uploaded or produced; for everything else there is no such file. */
export async function signDownload(
  deps: FilesDeps,
  request: Scope & { base: string; s3Path: unknown },
): Promise<PresignedUrl> {
  const { base, s3Path } = request;
  if (s3Path === undefined) throw fault("missing", "Field required", { loc });
  if (typeof s3Path !== "string") throw fault("string_type", "Input should be one string", { loc });
  if (!parseS3Path(s3Path)) {
    throw fault("url_parsing", "Input should be an address of the form s3://bucket/key", { loc, input: s3Path });
  }
  const file = await findUsableFile(deps, { ...request, s3Path, loc });
  if (!file) throw fault("not_found", "File not found");
  const { key, size, contentType } = file;
  const link = await deps.blobs.signGet(key, { base, expiresInSeconds: linkSeconds, contentType });
  const address = formatS3Path({ bucket: deps.blobs.bucket, key });
  return { ...link, file_input: { s3_path: address, size, content_type: contentType } };
}

/** A download link for an address that is already known to be the reader's, such as an output of its own prediction. */
export async function presignDownload(
  { blobs }: Pick<FilesDeps, "blobs">,
  request: { s3Path: string; base: string },
): Promise<PresignedUrl> {
  const address = parseS3Path(request.s3Path);
  if (address?.bucket !== blobs.bucket)
    throw new Error(`${request.s3Path} is no address of the bucket ${blobs.bucket}`);
  // The ending of an output's key was chosen by the type of its bytes.
  const contentType = typeByEnding(address.key) ?? unknownType;
  const link = await blobs.signGet(address.key, { base: request.base, expiresInSeconds: linkSeconds, contentType });
  return { ...link, file_input: null };
}

export interface OwnedFile {
  filename: string;
  size: number;
  contentType: string;
  /** From the start each time; the reader reads to the end or destroys it. */
  open(): Promise<Readable>;
}

/**
 * A stored file as an input of a prediction. Undefined when the caller has no such file, whatever the reason; an upload
 * by link that brought more than it may is `file_too_large` at `loc`.
 */
export async function openOwnedFile(
  deps: FilesDeps,
  request: Scope & { s3Path: string; loc: Loc },
): Promise<OwnedFile | undefined> {
  const file = await findUsableFile(deps, request);
  if (!file) return undefined;
  const { key, size, contentType } = file;
  return {
    filename: filenameOf(key),
    size,
    contentType,
    async open() {
      const opened = await deps.blobs.open(key);
      if (!opened) throw fault("file_download_error", "The file is no longer there", { loc: request.loc });
      return opened.body;
    },
  };
}

export interface UsableFile {
  key: string;
  size: number;
  contentType: string;
}

/** The caller's file at that address, if its bytes are there. Undefined for another's, an unknown or an empty one. */
export async function findUsableFile(
  deps: FilesDeps,
  request: Scope & { s3Path: string; loc: Loc },
): Promise<UsableFile | undefined> {
  const { s3Path, loc } = request;
  const address = parseS3Path(s3Path);
  if (address?.bucket !== deps.blobs.bucket) return undefined;
  const row = await findOwnedFile(deps.database.sql, request, address.key);
  if (!row) return undefined;
  const info = await deps.blobs.stat(row.key);
  if (!info) return undefined;
  if (info.size > row.maxBytes) {
    // Only a store that takes uploads without us lets this happen; it is found out here, at first use.
    await deps.blobs.delete(row.key);
    await markAwaitingAgain(deps.database.sql, row);
    const msg = `The file is larger than ${row.maxBytes} bytes`;
    throw fault("file_too_large", msg, { loc, ctx: { max_size: row.maxBytes } });
  }
  return await acknowledge(deps, row, info);
}

/** Takes note of bytes that came by a link, when they are new to us. */
export async function acknowledge(deps: FilesDeps, row: FileRow, info: BlobInfo): Promise<UsableFile> {
  const { key } = row;
  if (row.etag === info.etag && row.contentType !== null) {
    return { key, size: info.size, contentType: parseMediaType(row.contentType) ?? unknownType };
  }
  const opened =
    info.size > 0 ? await deps.blobs.open(key, { start: 0, end: Math.min(info.size, 8192) - 1 }) : undefined;
  const head = opened ? Buffer.concat(await opened.body.toArray()) : new Uint8Array();
  const declared = [info.contentType, row.contentType ?? undefined];
  const { contentType } = await examineContent(head, { declared, filename: filenameOf(key) });
  await keepArrival(deps, row, { ...info, contentType, now: deps.clock.now() });
  return { key, size: info.size, contentType };
}

/** Whether the file that was stored last is in the store: if not, the store may be another one than it was. */
export async function holdsNewestFile({ database, blobs }: Pick<FilesDeps, "database" | "blobs">): Promise<boolean> {
  const key = await findNewestKey(database.sql);
  if (key === undefined) return true;
  const info = await blobs.stat(key).catch((error: unknown) => {
    // One that is there and damaged is no reason to refuse a start.
    if (error instanceof Fault) throw error;
  });
  return info !== undefined;
}
