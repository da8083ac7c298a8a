import type { DriveFileRecord } from "@gantry/wire";
import { at, drivePath } from "./address.ts";
import { connectionError } from "./errors.ts";
import { type Frame, formAround } from "./form.ts";
import { type FileContent, sendFile, typeOfContent } from "./send-file.ts";
import type { CallOptions, Transport } from "./transport.ts";

/** Conditions on the current version. If they fail, the call throws `precondition_failed`. */
export interface FileConditions {
  /** Required etag, or several separated by commas; `*`: the file must exist. */
  ifMatch?: string | undefined;
  /** Excluded etag; `*`: the file must not exist. */
  ifNoneMatch?: string | undefined;
}

export interface WriteOptions extends FileConditions, CallOptions {
  /** The content type, if content and name do not tell it. A Blob has its own. */
  type?: string | undefined;
}

export interface DownloadOptions extends FileConditions, CallOptions {
  /** A byte range, such as `bytes=0-1023`; answered with status 206. */
  range?: string | undefined;
  /** Applies the range only if the etag matches; otherwise returns the whole file. */
  ifRange?: string | undefined;
}

export type WrittenFile = DriveFileRecord & { etag: string };

export interface DriveFileHead {
  size: number;
  content_type: string;
  etag: string;
  last_modified: string;
}

/** Paths are absolute and use `/`. A file has at most 100 MB. */
export interface DriveFiles {
  /** Creates a file; throws `conflict` if it exists. Streams are sent as they are read. */
  upload(driveId: string, path: string, content: FileContent, options?: WriteOptions): Promise<WrittenFile>;
  /** Replaces an existing file. */
  replace(driveId: string, path: string, content: FileContent, options?: WriteOptions): Promise<WrittenFile>;
  /** Streams the bytes as you read `body`. If `ifNoneMatch` matches, the status is 304 without bytes. */
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
      // The path field names the file; the form only needs some file name.
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
      // A proxy removed the header: no size is better than a wrong one.
      if (length === null) throw connectionError("The response has no Content-Length");
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
