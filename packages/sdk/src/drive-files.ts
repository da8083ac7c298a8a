import type { DriveFileRecord } from "@gantry/wire";
import { drivePath, segment } from "./address.ts";
import { connectionError } from "./errors.ts";
import { type Frame, formAround } from "./form.ts";
import { type FileContent, sendFile, typeOfContent } from "./send-file.ts";
import type { CallOptions, Transport } from "./transport.ts";

/** What a write, or a download, demands of the version that it meets. Else it fails as `precondition_failed`. */
export interface FileConditions {
  /** The version that must stand there, by its etag, or several with commas between; `*` is any. */
  ifMatch?: string | undefined;
  /** The version that must not; `*` is any. */
  ifNoneMatch?: string | undefined;
}

export interface WriteOptions extends FileConditions, CallOptions {
  /** The content type, for bytes and names that do not tell it. A Blob brings its own. */
  type?: string | undefined;
}

export interface DownloadOptions extends FileConditions, CallOptions {
  /** A part, such as `bytes=0-1023`; it comes with status 206. */
  range?: string | undefined;
  /** The part only of this version, by its etag; of another, the whole. */
  ifRange?: string | undefined;
}

/** A file that was written, and its version. */
export type WrittenFile = DriveFileRecord & { etag: string };

/** A file without its bytes. */
export interface DriveFileHead {
  size: number;
  content_type: string;
  etag: string;
  last_modified: string;
}

/** Paths are absolute, with `/` between names. A file has 100 MB at most. */
export interface DriveFiles {
  /** Makes a new file; where one stands already it fails as `conflict`. Streams go out as they are read. */
  upload(driveId: string, path: string, content: FileContent, options?: WriteOptions): Promise<WrittenFile>;
  /** Replaces a file that stands there. */
  replace(driveId: string, path: string, content: FileContent, options?: WriteOptions): Promise<WrittenFile>;
  /** The bytes arrive as `body` is read. The version that `ifNoneMatch` names is answered with status 304 and no bytes. */
  download(driveId: string, path: string, options?: DownloadOptions): Promise<Response>;
  head(driveId: string, path: string, options?: CallOptions): Promise<DriveFileHead>;
  delete(driveId: string, path: string, options?: FileConditions & CallOptions): Promise<void>;
}

export function driveFiles({ send, download, jsonWithHeaders }: Transport): DriveFiles {
  const folder = (driveId: string) => `/v1/drives/${segment(driveId)}/files`;
  const at = (driveId: string, path: string) => `${folder(driveId)}/${drivePath(path)}`;

  function write(
    method: "POST" | "PUT",
    path: string,
    { content, frame, options }: { content: FileContent; frame: Frame; options: WriteOptions },
  ): Promise<WrittenFile> {
    const { signal, ...conditions } = options;
    const headers = { ...headersOf(conditions), ...(frame.type && { "content-type": frame.type }) };
    return sendFile(content, frame, async (body) => {
      const answer = await jsonWithHeaders<DriveFileRecord>({ method, path, body, headers, signal });
      return { ...answer.body, etag: etagOf(answer.headers) };
    });
  }

  return {
    async upload(driveId, path, content, options = {}) {
      // The name that counts is in the path; what stands here must only be there.
      const file = { filename: "file", type: options.type ?? typeOfContent(content) };
      const frame = formAround({ path }, "file", file);
      return write("POST", folder(driveId), { content, frame, options });
    },
    async replace(driveId, path, content, options = {}) {
      const frame = { type: options.type ?? typeOfContent(content), before: "", after: "" };
      return write("PUT", at(driveId, path), { content, frame, options });
    },
    async download(driveId, path, { signal, range, ifRange, ...conditions } = {}) {
      const headers = {
        ...headersOf(conditions),
        ...(range !== undefined && { range }),
        ...(ifRange !== undefined && { "if-range": ifRange }),
      };
      return download({ method: "GET", path: at(driveId, path), headers, signal, alsoFine: 304 });
    },
    async head(driveId, path, { signal } = {}) {
      const { headers } = await send({ method: "HEAD", path: at(driveId, path), signal });
      const length = headers.get("content-length");
      // Something between here and the service took it away: no size is better than a wrong one.
      if (length === null) throw connectionError("The answer does not tell how long the file is");
      return {
        size: Number(length),
        content_type: headers.get("content-type") ?? "application/octet-stream",
        etag: etagOf(headers),
        last_modified: headers.get("last-modified") ?? "",
      };
    },
    async delete(driveId, path, { signal, ...conditions } = {}) {
      await send({ method: "DELETE", path: at(driveId, path), headers: headersOf(conditions), signal });
    },
  };
}

const etagOf = (headers: Headers) => headers.get("etag") ?? "";

function headersOf({ ifMatch, ifNoneMatch }: FileConditions): Record<string, string> {
  return {
    ...(ifMatch !== undefined && { "if-match": ifMatch }),
    ...(ifNoneMatch !== undefined && { "if-none-match": ifNoneMatch }),
  };
}
