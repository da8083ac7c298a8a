import { queryOptions } from "@tanstack/react-query";
import { api } from "../../api/client.ts";

/** Files are kept and linked at the routes of a model, and any that one may call will do. */
export const someModelQuery = queryOptions({
  queryKey: ["models", "some"],
  queryFn: async ({ signal }) => (await api.models.list({ page_size: 1, signal })).results[0]?.endpoint_id ?? null,
  staleTime: 60_000,
});
