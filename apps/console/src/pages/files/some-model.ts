import { queryOptions } from "@tanstack/react-query";
import { api } from "../../api/client.ts";

/** The file routes belong to a model; any model that the user can call works. */
export const someModelQuery = queryOptions({
  queryKey: ["models", "some"],
  queryFn: async ({ signal }) => (await api.models.list({ page_size: 1, signal })).results[0]?.endpoint_id ?? null,
  staleTime: 60_000,
});
