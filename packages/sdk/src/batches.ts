import type { BatchRecord } from "@gantry/wire";
import { at } from "./address.ts";
import { fileOrRefusal } from "./field-content.ts";
import { formOf } from "./form.ts";
import { lookUntil } from "./resume.ts";
import type { CallOptions, Transport } from "./transport.ts";

export interface BatchList {
  data: BatchRecord[];
  /** Pass it as `after` to continue. */
  last_id: string | null;
  has_more: boolean;
}

export interface NewBatch {
  /** The `url` of every request. */
  endpoint: "/v1/chat/completions" | "/v1/embeddings" | "/v1/responses";
  filename?: string | undefined;
  /** At most 16 texts by name. */
  metadata?: Record<string, string> | undefined;
}

/** Files of requests that run in the queue within 24 hours. */
export interface Batches {
  /** Uploads requests, one JSON object a line, and creates a batch of them. */
  create(requests: Blob | ArrayBuffer | ArrayBufferView, batch: NewBatch & CallOptions): Promise<BatchRecord>;
  get(id: string, options?: CallOptions): Promise<BatchRecord>;
  /** One page, newest first. `limit`: 1 to 100; 20 by default. */
  list(options?: { limit?: number | undefined; after?: string | undefined } & CallOptions): Promise<BatchList>;
  /** Iterates over all entries, newest first, page by page. */
  each(options?: CallOptions): AsyncGenerator<BatchRecord>;
  /** Requests that have not ended are cancelled. */
  cancel(id: string, options?: CallOptions): Promise<BatchRecord>;
  /** Resolves when the batch has ended, also without success. `onLook` gets the state at each look. */
  waitFor(
    id: string,
    options?: { onLook?: ((batch: BatchRecord) => void) | undefined } & CallOptions,
  ): Promise<BatchRecord>;
  /** Downloads the requests or the results by `input_file_id`, `output_file_id` or `error_file_id`. */
  download(fileId: string, options?: CallOptions): Promise<Response>;
}

/** Unlike those of predictions and runs, the route answers at once. */
const betweenLooksMs = 1_000;
const largestPage = 100;
const ended: readonly BatchRecord["status"][] = ["completed", "failed", "expired", "cancelled"];

/** Whether a batch will not change any more. */
export const batchHasEnded = ({ status }: BatchRecord): boolean => ended.includes(status);

export function batches({ json, send, download, retries }: Transport): Batches {
  const one = (id: string) => ({ batch_id: id });
  const all: Batches = {
    async create(requests, { endpoint, filename = "requests.jsonl", metadata, signal }) {
      const file = new File([fileOrRefusal(requests)], filename);
      const { id } = await json<{ id: string }>({
        ...at("POST /v1/files"),
        body: formOf({ purpose: "batch", file }),
        signal,
      });
      const body = { input_file_id: id, endpoint, completion_window: "24h", ...(metadata && { metadata }) };
      try {
        return await json({ ...at("POST /v1/batches"), json: body, signal });
      } catch (failure) {
        // It would count towards the quota. The server refuses to delete the file of a batch.
        await send({ ...at("DELETE /v1/files/{file_id}", { file_id: id }), signal }).catch(() => {});
        throw failure;
      }
    },
    get: async (id, { signal } = {}) => json({ ...at("GET /v1/batches/{batch_id}", one(id)), signal }),
    list: async ({ signal, ...query } = {}) => json({ ...at("GET /v1/batches"), query, signal }),
    async *each(options) {
      let after: string | undefined;
      do {
        const { data, last_id, has_more } = await all.list({ ...options, limit: largestPage, after });
        yield* data;
        after = has_more ? (last_id ?? undefined) : undefined;
      } while (after !== undefined);
    },
    cancel: async (id, { signal } = {}) => json({ ...at("POST /v1/batches/{batch_id}/cancel", one(id)), signal }),
    async waitFor(id, { onLook, signal } = {}) {
      const look = async () => {
        const batch = await all.get(id, { signal });
        onLook?.(batch);
        return batch;
      };
      return lookUntil(look, { isEnd: batchHasEnded, patient: retries > 0, signal, betweenMs: betweenLooksMs });
    },
    download: async (file_id, { signal } = {}) =>
      download({ ...at("GET /v1/files/{file_id}/content", { file_id }), signal }),
  };
  return all;
}
