import type { DriveFileRecord } from "@gantry/wire";
import { at, drivePath } from "./address.ts";
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
  const file = (driveId: string, path: string) => ({ drive_id: driveId, path: drivePath(path) });

  function write(
    to: { method: "POST" | "PUT"; path: string },
    { content, frame, options }: { content: FileContent; frame: Frame; options: WriteOptions },
  ): Promise<WrittenFile> {
    const { signal, ...conditions } = options;
    const headers = { ...headersOf(conditions), ...(frame.type && { "content-type": frame.type }) };
    return sendFile(content, frame, async (body) => {
      const answer = await jsonWithHeaders<DriveFileRecord>({ ...to, body, headers, signal });
      return { ...answer.body, etag: etagOf(answer.headers) };
    });
  }

  return {
    async upload(driveId, path, content, options = {}) {
      // The name that counts is in the path; what stands here must only be there.
      const part = { filename: "file", type: options.type ?? typeOfContent(content) };
      const frame = formAround({ path }, "file", part);
      return write(at("POST /v1/drives/{drive_id}/files", { drive_id: driveId }), { content, frame, options });
    },
    async replace(driveId, path, content, options = {}) {
      const frame = { type: options.type ?? typeOfContent(content), before: "", after: "" };
      return write(at("PUT /v1/drives/{drive_id}/files/{path}", file(driveId, path)), { content, frame, options });
    },
    async download(driveId, path, { signal, range, ifRange, ...conditions } = {}) {
      const headers = {
        ...headersOf(conditions),
        ...(range !== undefined && { range }),
        ...(ifRange !== undefined && { "if-range": ifRange }),
      };
      const to = at("GET /v1/drives/{drive_id}/files/{path}", file(driveId, path));
      return download({ ...to, headers, signal, alsoFine: 304 });
    },
    async head(driveId, path, { signal } = {}) {
      const { headers } = await send({ ...at("HEAD /v1/drives/{drive_id}/files/{path}", file(driveId, path)), signal });
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
      const to = at("DELETE /v1/drives/{drive_id}/files/{path}", file(driveId, path));
      await send({ ...to, headers: headersOf(conditions), signal });
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
