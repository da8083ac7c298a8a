import type { FileRecord } from "@gantry/wire";
import { at, modelParams } from "./address.ts";
import { fileOrRefusal } from "./field-content.ts";
import { formOf } from "./form.ts";
import { eachSearched, type PageQuery, type SearchedPage, type TimeRange } from "./pages.ts";
import type { CallOptions, Transport } from "./transport.ts";

/** A signed link, valid for a day for anyone who has it. */
export interface FileLink {
  url: string;
  /** The HTTP method of the link. */
  method: string;
  file_input?: { s3_path: string; size?: number; content_type?: string; expires_in?: number } | null;
}

export interface StoredFile {
  /** Use it as the value of a file field, in any number of predictions. */
  s3_path: string;
  size: number;
  content_type: string;
  link: FileLink;
}

export interface FileQuery extends TimeRange {
  q?: string | undefined;
  origin?: FileRecord["origin"] | undefined;
}

export type FilePage = SearchedPage<FileRecord>;

export interface Files {
  /**
   * Stores a Blob or bytes; `openAsBlob` of node:fs opens a file on disk without reading it. `model` is any model that
   * the key may call. `direct` sends the bytes straight to the file store.
   */
  upload(
    model: string,
    file: Blob | ArrayBuffer | ArrayBufferView,
    options?: CallOptions & { filename?: string | undefined; direct?: boolean | undefined },
  ): Promise<StoredFile>;
  /** A link for one PUT of a file, for anyone who has it; `file_input` has its address. */
  uploadLink(
    model: string,
    options?: CallOptions & { filename?: string | undefined; content_type?: string | undefined },
  ): Promise<FileLink & { file_input: { s3_path: string; expires_in: number } }>;
  /** A download link for one of your files, by its `s3://` address. */
  link(model: string, s3Path: string, options?: CallOptions): Promise<FileLink>;
  /** Downloads from a link, such as an entry of `files` in a prediction. Does not send the key. */
  download(
    file: { url: string } | string,
    options?: CallOptions & { headers?: Record<string, string> | undefined },
  ): Promise<Response>;
  /** One page of your uploads and outputs, newest first. `q`: part of the file name, or an id. */
  list(options?: FileQuery & PageQuery & CallOptions): Promise<FilePage>;
  /** Iterates over all entries, newest first, page by page. Searches the whole range, in several requests if needed. */
  each(options?: FileQuery & CallOptions): AsyncGenerator<FileRecord>;
  /** Deletes a file by its id. Outputs of a running prediction cannot be deleted. */
  delete(id: string, options?: CallOptions): Promise<void>;
}

export function files({ json, send, download }: Transport): Files {
  const all: Files = {
    async upload(model, content, { filename, direct = false, signal } = {}) {
      const to = at("POST /api/v1/{owner}/{model}/upload_file", modelParams(model));
      const file = fileOrRefusal(content);
      const name = filename ?? (file instanceof File ? file.name : "file");
      if (!direct) {
        const named = new File([file], name, { type: file.type });
        return stored(await json<FileLink>({ ...to, body: formOf({ file: named }), signal }));
      }
      const link = await all.uploadLink(model, {
        filename: name,
        ...(file.type && { content_type: file.type }),
        signal,
      });
      await send({ method: "PUT", path: link.url, body: file, signal });
      return stored(await all.link(model, link.file_input.s3_path, { signal }));
    },

    async uploadLink(model, { signal, ...query } = {}) {
      return json({ ...at("GET /api/v1/{owner}/{model}/upload_url", modelParams(model)), query, signal });
    },

    async link(model, s3Path, { signal } = {}) {
      const to = at("GET /api/v1/{owner}/{model}/download_s3_url", modelParams(model));
      return json({ ...to, query: { s3_path_to_sign: s3Path }, signal });
    },

    async download(file, { signal, headers } = {}) {
      return download({
        method: "GET",
        path: linkAddress(typeof file === "string" ? file : file.url),
        headers,
        signal,
      });
    },

    list: async ({ signal, ...query } = {}) => json({ ...at("GET /api/v2/files"), query: { ...query }, signal }),

    each: (options) =>
      eachSearched(
        (range) => all.list({ ...options, ...range }),
        ({ id }) => id,
        options?.to_date,
      ),

    async delete(id, { signal } = {}) {
      await send({ ...at("DELETE /api/v2/files/{id}", { id }), signal });
    },
  };
  return all;
}

function linkAddress(url: string): string {
  const { href, protocol } = new URL(url);
  if (protocol !== "s3:") return href;
  throw new TypeError("Cannot download an s3:// address. Create a link with files.link(model, s3Path).");
}

function stored(link: FileLink): StoredFile {
  const { s3_path = "", size = 0, content_type = "application/octet-stream" } = link.file_input ?? {};
  return { s3_path, size, content_type, link };
}
