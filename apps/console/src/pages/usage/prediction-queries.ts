import { queryOptions } from "@tanstack/react-query";
import { api } from "../../api/client.ts";
import { spansAround } from "./prediction-spans.rules.ts";

/** As many as one page of the usage has at most. */
const lookedThrough = 100;

/**
 * The row of a prediction: what it took and cost, and of which model it was. The service has no way to ask for one row:
 * it is looked for around the moment that is known of it, else among the newest. Null where it is not found.
 */
export const usageOfQuery = (predictionId: string, at?: string) =>
  queryOptions({
    queryKey: ["prediction", "usage", predictionId],
    async queryFn({ signal }) {
      for (const span of spansAround(at)) {
        const { results } = await api.account.usage({ page_size: lookedThrough, ...span, signal });
        const row = results.find(({ request_id }) => request_id === predictionId);
        if (row) return row;
      }
      return null;
    },
    // A row never changes; one that is not there may come.
    staleTime: ({ state }) => (state.data ? Number.POSITIVE_INFINITY : 0),
  });

export const resultQuery = (model: string, predictionId: string) =>
  queryOptions({
    queryKey: ["prediction", "result", predictionId],
    // It has ended: this waits for nothing, and tells a failure as one.
    queryFn: ({ signal }) => api.waitFor(model, predictionId, { signal }),
    staleTime: Number.POSITIVE_INFINITY,
  });
