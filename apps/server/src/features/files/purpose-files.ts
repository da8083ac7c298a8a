import type { Readable } from "node:stream";
import { newId } from "@gantry/wire";
import { fault } from "../../kernel/errors.ts";
import { everythingOf, type Scope } from "../accounts/index.ts";
import { filenameOf, parseS3Path, uploadKey } from "./address.rules.ts";
import { deleteFile, removeFile } from "./delete-files.ts";
import type { FilesDeps } from "./files-deps.ts";
import {
  findPurposeFile,
  listPurposeFiles,
  listResultsOf,
  type PurposeFile,
  type PurposeRange,
  setPurpose,
} from "./purpose-store.ts";
import { storeBody, storeUpload, type Upload, withdrawUpload } from "./store-file.ts";

export interface ProtocolFile extends PurposeFile {
  filename: string;
}

/** Files of the OpenAI protocol: the lines of batches, and their results. */
export interface ProtocolFiles {
  maxBytes: number;
  /** A form may have the purpose behind the bytes, so it is set when the whole form was read. */
  store(upload: Omit<Upload, "base" | "maxBytes">): Promise<StoredUpload>;
  use(stored: StoredUpload, purpose: "batch"): Promise<ProtocolFile>;
  withdraw(stored: StoredUpload): Promise<void>;
  /** Rejects if the file does not exist. */
  find(scope: Scope, id: string): Promise<ProtocolFile>;
  list(scope: Scope, range: PurposeRange): Promise<ProtocolFile[]>;
  /** The whole file, or its bytes from `start` on. Undefined if its bytes are lost. */
  open(file: Pick<PurposeFile, "key" | "size">, start?: number): Promise<Readable | undefined>;
  delete(scope: Scope, id: string): Promise<void>;
  /** Stores results of a batch; returns the id of the file. */
  storeResults(results: BatchResults): Promise<string>;
  /** The ids of the files with results of a batch. */
  listResults(ownerId: string, batchId: string): Promise<string[]>;
  deleteResults(ownerId: string, ids: readonly string[]): Promise<void>;
}

export interface StoredUpload {
  ownerId: string;
  s3Path: string;
}

export interface BatchResults {
  ownerId: string;
  keyId: string;
  batchId: string;
  filename: string;
  body: Readable;
  signal: AbortSignal;
}

const mostInputBytes = 200 * 1024 * 1024;
/** More than the results of a batch can be. */
const mostResultBytes = 2 ** 40;
const contentType = "application/jsonl";

export function openProtocolFiles(deps: FilesDeps): ProtocolFiles {
  const { sql } = deps.database;
  const maxBytes = Math.min(mostInputBytes, deps.maxUploadBytes);

  async function find(scope: Scope, id: string): Promise<ProtocolFile> {
    const found = await findPurposeFile(sql, scope, id);
    if (!found) throw fault("not_found", `No such File object: ${id.slice(0, 64)}`, { loc: ["path", "file_id"] });
    return named(found);
  }

  return {
    maxBytes,
    async store(upload) {
      // The link is not sent.
      const { file_input: stored } = await storeUpload(deps, { ...upload, maxBytes, base: "http://localhost" });
      return { ownerId: upload.ownerId, s3Path: String(stored?.s3_path) };
    },
    async use({ ownerId, s3Path }, purpose) {
      const { key = "" } = parseS3Path(s3Path) ?? {};
      const id = await setPurpose(sql, { ownerId, key }, purpose);
      return find(everythingOf(ownerId), id ?? "");
    },
    withdraw: (stored) => withdrawUpload(deps, stored),
    find,
    list: async (scope, range) => (await listPurposeFiles(sql, scope, range)).map(named),
    async open({ key, size }, start = 0) {
      const range = start > 0 ? { start, end: size - 1 } : undefined;
      return (await deps.blobs.open(key, range))?.body;
    },
    async delete(scope, id) {
      await find(scope, id);
      await deleteFile(deps, scope, id);
    },
    async storeResults({ ownerId, keyId, batchId, filename, body, signal }) {
      const id = newId("file");
      const file = {
        key: uploadKey(id, filename),
        id,
        ownerId,
        keyId,
        origin: "uploaded",
        maxBytes: mostResultBytes,
        predictionId: undefined,
        purpose: "batch_output",
        batchId,
      } as const;
      try {
        await storeBody(deps, file, body, { contentType, signal });
        return id;
      } finally {
        body.destroy();
      }
    },
    listResults: (ownerId, batchId) => listResultsOf(sql, ownerId, batchId),
    async deleteResults(ownerId, ids) {
      for (const id of ids) await removeFile(deps, everythingOf(ownerId), id);
    },
  };
}

function named(file: PurposeFile): ProtocolFile {
  return { ...file, filename: filenameOf(file.key) };
}
