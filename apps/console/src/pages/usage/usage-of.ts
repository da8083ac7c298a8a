import { queryOptions } from "@tanstack/react-query";
import { api } from "../../api/client.ts";

/** Of one that has just ended, or that made something by then, the row stands among the newest. */
const lookedThrough = 100;

/** The row of a prediction: what it took and cost, and of which model it was. Null where it is not found. */
export const usageOfQuery = (predictionId: string, by?: string) =>
  queryOptions({
    queryKey: ["usage-of", predictionId],
    async queryFn({ signal }) {
      const { results } = await api.account.usage({ page_size: lookedThrough, to_date: by, signal });
      return results.find(({ request_id }) => request_id === predictionId) ?? null;
    },
    staleTime: Number.POSITIVE_INFINITY,
  });
