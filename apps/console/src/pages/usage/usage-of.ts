import { queryOptions } from "@tanstack/react-query";
import { api } from "../../api/client.ts";

/** The service has no way to ask for one row: it is looked for among so many. */
const lookedThrough = 100;
/** A prediction ends soon after the files that it made are stored. */
const endsWithinMs = 60_000;

/**
 * The row of a prediction: what it took and cost, and of which model it was. It is looked for among the newest, or among
 * those that ended soon after a file of theirs was made. Null where it is not found.
 */
export const usageOfQuery = (predictionId: string, madeAt?: string) =>
  queryOptions({
    queryKey: ["usage-of", predictionId],
    async queryFn({ signal }) {
      const range = madeAt && { from_date: madeAt, to_date: new Date(Date.parse(madeAt) + endsWithinMs) };
      const { results } = await api.account.usage({ page_size: lookedThrough, ...range, signal });
      return results.find(({ request_id }) => request_id === predictionId) ?? null;
    },
    staleTime: Number.POSITIVE_INFINITY,
  });
