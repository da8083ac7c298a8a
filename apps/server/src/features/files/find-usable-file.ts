import type { BlobInfo } from "../../engines/blobs/blobs.ts";
import { fault, type Loc } from "../../kernel/errors.ts";
import { parseMediaType, unknownType } from "../../kernel/media-type.rules.ts";
import type { Scope } from "../accounts/index.ts";
import { examineContent } from "./content-type.ts";
import { filenameOf } from "./file-name.rules.ts";
import type { FilesDeps } from "./files-deps.ts";
import { keepArrival } from "./keep-arrival.ts";
import { parseS3Path } from "./s3-path.rules.ts";
import { type FileRow, findOwnedFile, markAwaitingAgain } from "./store.ts";

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
