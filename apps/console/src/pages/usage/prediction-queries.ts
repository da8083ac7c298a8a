import { queryOptions } from "@tanstack/react-query";
import { api } from "../../api/client.ts";
import { spansAround } from "./prediction-spans.rules.ts";

/** The maximum page size of the API. */
const searchedRows = 100;

/**
 * The usage record of a prediction; null if not found. The API has no call for a single record, so this searches around
 * `at`, or among the newest.
 */
export const usageOfQuery = (predictionId: string, at?: string) =>
  queryOptions({
    queryKey: ["prediction", "usage", predictionId],
    async queryFn({ signal }) {
      for (const span of spansAround(at)) {
        const { results } = await api.account.usage({ page_size: searchedRows, ...span, signal });
        const row = results.find(({ request_id }) => request_id === predictionId);
        if (row) return row;
      }
      return null;
    },
    // Records never change, but a missing one may still be written.
    staleTime: ({ state }) => (state.data ? Number.POSITIVE_INFINITY : 0),
  });

export const resultQuery = (model: string, predictionId: string) =>
  queryOptions({
    queryKey: ["prediction", "result", predictionId],
    // The prediction has ended, so this returns at once and throws its failure.
    queryFn: ({ signal }) => api.waitFor(model, predictionId, { signal }),
    staleTime: Number.POSITIVE_INFINITY,
  });
