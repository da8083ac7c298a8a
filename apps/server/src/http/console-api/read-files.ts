import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { extname, join, relative, sep } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import type { Encoding } from "./content-encoding.rules.ts";

export interface ConsoleFile {
  readonly type: string;
  readonly isCompressible: boolean;
  etag(encoding: Encoding | undefined): string;
  bytes(encoding: Encoding | undefined): Promise<Buffer>;
}

const textTypes: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
};
/** Compressing less than this is not worth its headers. */
const leastToCompress = 1000;

/** Compresses all files in a few hundredths of a second; the highest quality takes seconds. */
const brotliQuality = 6;
const compress: Readonly<Record<Encoding, (bytes: Buffer) => Promise<Buffer>>> = {
  br: (bytes) => promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: brotliQuality } }),
  gzip: (bytes) => promisify(gzip)(bytes),
};

/** All files in a folder by their relative paths. Synchronous: for a few small files it is faster. */
export function readFiles(folder: string): ReadonlyMap<string, ConsoleFile> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.startsWith("."))
    .map(({ parentPath, name }): [string, ConsoleFile] => {
      const path = join(parentPath, name);
      return [relative(folder, path).replaceAll(sep, "/"), toFile(readFileSync(path), extname(name))];
    });
  return new Map(files);
}

function toFile(plain: Buffer, extension: string): ConsoleFile {
  const hash = createHash("sha256").update(plain).digest("base64url").slice(0, 22);
  /** Created on first use. */
  const made = new Map<Encoding, Promise<Buffer>>();
  return {
    type: textTypes[extension] ?? "application/octet-stream",
    isCompressible: extension in textTypes && plain.length >= leastToCompress,
    etag: (encoding) => `"${hash}${encoding ? `-${encoding}` : ""}"`,
    bytes(encoding) {
      if (encoding === undefined) return Promise.resolve(plain);
      const bytes = made.get(encoding) ?? compress[encoding](plain);
      made.set(encoding, bytes);
      return bytes;
    },
  };
}
