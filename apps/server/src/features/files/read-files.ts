import type { Readable } from "node:stream";
import type { BlobInfo } from "../../engines/blobs/blobs.ts";
import { Fault, fault, type Loc } from "../../kernel/errors.ts";
import { parseMediaType, unknownType } from "../../kernel/media-type.rules.ts";
import type { Scope } from "../accounts/index.ts";
import { filenameOf, formatS3Path, parseS3Path } from "./address.rules.ts";
import { typeByExtension } from "./content-type.rules.ts";
import { examineContent } from "./content-type.ts";
import { type FilesDeps, linkSeconds, type PresignedUrl } from "./files-deps.ts";
import { countFiles, type FileEntry, type FileFilter, selectFiles } from "./list-store.ts";
import { type FileRow, findNewestKey, findOwnedFile, markAwaitingAgain } from "./store.ts";
import { keepArrival } from "./store-file.ts";

export interface ListedFile extends Omit<FileEntry, "key"> {
  s3Path: string;
  /** Null until the bytes have arrived, and if it would be too long. */
  link: string | null;
}

/** Uploads and outputs, newest first, with links. */
export async function listFiles(
  { database, blobs }: FilesDeps,
  scope: Scope,
  { base, ...filter }: FileFilter & { base: string },
  range: { limit: number; offset: number },
): Promise<{ entries: ListedFile[]; total: number; searchedFrom: Date | null }> {
  const [rows, count] = await Promise.all([
    selectFiles(database.sql, scope, filter, range),
    countFiles(database.sql, scope, filter),
  ]);
  return { entries: await Promise.all(rows.map((row) => listed({ blobs }, row, base))), ...count };
}

async function listed(
  { blobs }: Pick<FilesDeps, "blobs">,
  { key, ...shown }: FileEntry,
  base: string,
): Promise<ListedFile> {
  const contentType = parseMediaType(shown.contentType ?? "") ?? unknownType;
  const link =
    shown.size === null
      ? null
      : await blobs.signGet(key, { base, expiresInSeconds: linkSeconds, contentType }).catch(nullIfTooLong);
  return { ...shown, s3Path: formatS3Path({ bucket: blobs.bucket, key }), link: link?.url ?? null };
}

/** The name was short enough for the address of the server under which it was uploaded. */
function nullIfTooLong(error: unknown): null {
  if (error instanceof Fault && error.type === "string_too_long") return null;
  throw error;
}

export interface FileWithContent {
  file: ListedFile;
  filename: string;
  /** Undefined if it was deleted meanwhile. The reader consumes or destroys the body. */
  open(): Promise<{ size: number; body: Readable } | undefined>;
}

const exportedAtOnce = 100;

/** All files of a user, newest first, in portions. */
export async function* exportFiles(
  { database, blobs }: FilesDeps,
  scope: Scope,
  base: string,
): AsyncGenerator<FileWithContent> {
  for (let before: string | undefined; ; ) {
    const page = { limit: exportedAtOnce, offset: 0 };
    const rows: FileEntry[] = await selectFiles(database.sql, scope, { before }, page);
    for (const row of rows) {
      const { key } = row;
      const open = async () => {
        const opened = await blobs.open(key);
        return opened && { size: opened.info.size, body: opened.body };
      };
      yield { file: await listed({ blobs }, row, base), filename: filenameOf(key), open };
    }
    if (rows.length < exportedAtOnce) return;
    before = rows.at(-1)?.id;
  }
}

const loc = ["query", "s3_path_to_sign"];

/** Signs a link to an upload or output of the caller. */
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

/** Signs a link without checking the owner, for example to an output of a prediction that the caller may read. */
export async function presignDownload(
  { blobs }: Pick<FilesDeps, "blobs">,
  request: { s3Path: string; base: string },
): Promise<PresignedUrl> {
  const address = parseS3Path(request.s3Path);
  if (address?.bucket !== blobs.bucket) throw new Error(`${request.s3Path} is not in bucket ${blobs.bucket}`);
  // The extension of an output's key follows from its content.
  const contentType = typeByExtension(address.key) ?? unknownType;
  const link = await blobs.signGet(address.key, { base: request.base, expiresInSeconds: linkSeconds, contentType });
  return { ...link, file_input: null };
}

export interface OwnedFile {
  filename: string;
  size: number;
  contentType: string;
  /** Opens a new stream. The reader must consume or destroy it. */
  open(): Promise<Readable>;
}

/** A stored file as an input of a prediction. Undefined if the caller does not have such a file. */
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
      if (!opened) throw fault("file_download_error", "The file was deleted", { loc: request.loc });
      return opened.body;
    },
  };
}

export interface UsableFile {
  key: string;
  size: number;
  contentType: string;
}

/** Undefined if the file does not exist, belongs to another user, or has no bytes yet. */
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
    // An external store does not enforce the limit during the upload, so it is checked at first use.
    await deps.blobs.delete(row.key);
    await markAwaitingAgain(deps.database.sql, row);
    const msg = `The file is larger than ${row.maxBytes} bytes`;
    throw fault("file_too_large", msg, { loc, ctx: { max_size: row.maxBytes } });
  }
  return await acknowledge(deps, row, info);
}

/** Records bytes that an upload link brought to an external store. */
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

/** Whether the store has the newest file. If not, the server may be connected to a different store. */
export async function holdsNewestFile({ database, blobs }: Pick<FilesDeps, "database" | "blobs">): Promise<boolean> {
  const key = await findNewestKey(database.sql);
  if (key === undefined) return true;
  const info = await blobs.stat(key).catch((error: unknown) => {
    // A damaged object still shows that this is the right store.
    if (error instanceof Fault) throw error;
  });
  return info !== undefined;
}
