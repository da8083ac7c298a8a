import { isId, newId } from "@gantry/wire";
import type { Database } from "../../engines/database/database.ts";
import { fault } from "../../kernel/errors.ts";
import { type Caller, type Scope, scopeOf } from "../accounts/index.ts";
import type { ProtocolFiles } from "../files/index.ts";
import type { Batch, BatchEndpoint } from "./batch.ts";
import { findInput } from "./find-input.ts";
import {
  askToCancel,
  type BatchLine,
  batchesOf,
  deleteBatch,
  findBatch,
  insertBatch,
  listBatches,
  selectLinesAfter,
  selectOldBatches,
} from "./store.ts";

export interface NewBatchRequest {
  caller: Caller;
  endpoint: BatchEndpoint;
  inputFileId: string;
  metadata: Record<string, string> | null;
  baseUrl: string;
  keepsInputs: boolean;
}

/** Batches of the OpenAI protocol. Callers see their own, and confined keys only those that they created. */
export interface Batches {
  create(request: NewBatchRequest): Promise<Batch>;
  /** Rejects if the batch does not exist. */
  find(scope: Scope, id: string): Promise<Batch>;
  list(scope: Scope, page: { after: string | undefined; limit: number }): Promise<Batch[]>;
  /** All lines of a batch, which the caller has found. */
  exportLines(batchId: string): AsyncGenerator<BatchLine>;
  /** Lines that have not ended are cancelled. Returns the batch as it is then. */
  cancel(scope: Scope, id: string): Promise<Batch>;
  /** The batches of predictions. */
  among(predictionIds: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /** Deletes some that ended before a moment, with their results. */
  deleteOld(before: Date): Promise<{ dropped: number; more: boolean }>;
}

const windowSeconds = 86_400;
const mostUnderWay = 100;
const deletedAtOnce = 20;
const exportedAtOnce = 1_000;

export function openBatches({ database, files }: { database: Database; files: ProtocolFiles }): Batches {
  const { sql } = database;

  async function find(scope: Scope, id: string): Promise<Batch> {
    const batch = isId("batch", id) ? await findBatch(sql, scope, id) : undefined;
    if (!batch) throw fault("not_found", `No batch found with id '${id.slice(0, 64)}'.`, { loc: ["path", "batch_id"] });
    return batch;
  }

  return {
    async create({ caller, ...asked }) {
      const loc = ["body", "input_file_id"];
      const file = await findInput(files, scopeOf(caller), asked.inputFileId);
      if (!file) throw fault("not_found", `No such File object: ${asked.inputFileId.slice(0, 64)}`, { loc });
      if (file.purpose !== "batch") {
        throw fault("value_error", "The purpose of the input file must be batch.", { loc });
      }
      const { userId, keyId } = caller;
      const row = { ...asked, id: newId("batch"), userId, keyId };
      const batch = await database.transaction((tx) => insertBatch(tx, row, { most: mostUnderWay, windowSeconds }));
      if (batch) return batch;
      throw fault(
        "rate_limit",
        `You have ${mostUnderWay} batches that have not ended. Wait for one to end, or cancel one.`,
        { retryAfterSeconds: 60 },
      );
    },
    find,
    list: (scope, page) => listBatches(sql, scope, page),
    async *exportLines(batchId) {
      for (let after = 0; ; ) {
        const lines: BatchLine[] = await selectLinesAfter(sql, batchId, after, exportedAtOnce);
        yield* lines;
        if (lines.length < exportedAtOnce) return;
        after = lines.at(-1)?.line ?? after;
      }
    },
    async cancel(scope, id) {
      const cancelled = isId("batch", id) ? await askToCancel(sql, scope, id) : undefined;
      if (cancelled) return cancelled;
      const batch = await find(scope, id);
      if (batch.status === "cancelling" || batch.status === "finalizing") return batch;
      throw fault("conflict", `Cannot cancel a batch with status '${batch.status}'.`);
    },
    among: (predictionIds) => batchesOf(sql, predictionIds),
    async deleteOld(before) {
      const old = await selectOldBatches(sql, before, deletedAtOnce);
      for (const { id, userId } of old) {
        await files.deleteResults(userId, await files.listResults(userId, id));
        await deleteBatch(sql, id);
      }
      return { dropped: old.length, more: old.length === deletedAtOnce };
    },
  };
}
