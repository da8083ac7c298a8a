import type { Readable } from "node:stream";
import { fault, type Loc } from "../../kernel/errors.ts";
import type { Scope } from "../accounts/index.ts";
import { filenameOf } from "./file-name.rules.ts";
import type { FilesDeps } from "./files-deps.ts";
import { findUsableFile } from "./find-usable-file.ts";

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
