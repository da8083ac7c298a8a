import type { PredictionMode, PredictionRecord, PredictionStatus, PredictionSummary } from "@gantry/wire";
import { at } from "./address.ts";
import { eachSearched, type PageQuery, type SearchedPage, type TimeRange } from "./pages.ts";
import type { CallOptions, Transport } from "./transport.ts";

export interface PredictionFilter extends TimeRange {
  /** As `owner/model`. */
  model?: string | undefined;
  status?: PredictionStatus | undefined;
  key_id?: string | undefined;
  mode?: PredictionMode | undefined;
  agent_id?: string | undefined;
  run_id?: string | undefined;
  /** The id of a prediction, or a part of it. */
  q?: string | undefined;
}

export type PredictionPage = SearchedPage<PredictionSummary>;

/** Past and current predictions, with their inputs and outputs as long as they are kept. */
export interface PredictionHistory {
  /** One page: those that wait or run, then those that have ended, newest first. */
  list(options?: PredictionFilter & PageQuery & CallOptions): Promise<PredictionPage>;
  /** Iterates over all entries, newest first, page by page. Searches the whole range, in several requests if needed. */
  each(options?: PredictionFilter & CallOptions): AsyncGenerator<PredictionSummary>;
  read(predictionId: string, options?: CallOptions): Promise<PredictionRecord>;
  /** Deletes input, output, files and texts of an ended prediction. Its usage and price stay. */
  deleteContent(predictionId: string, options?: CallOptions): Promise<void>;
}

export function predictionHistory({ json, send }: Transport): PredictionHistory {
  const all: PredictionHistory = {
    list: async ({ signal, ...query } = {}) => json({ ...at("GET /api/v2/predictions"), query: { ...query }, signal }),
    each: (options) =>
      eachSearched(
        (range) => all.list({ ...options, ...range }),
        ({ id }) => id,
        options?.to_date,
      ),
    read: async (id, { signal } = {}) => json({ ...at("GET /api/v2/predictions/{id}", { id }), signal }),
    async deleteContent(id, { signal } = {}) {
      await send({ ...at("DELETE /api/v2/predictions/{id}", { id }), signal });
    },
  };
  return all;
}
