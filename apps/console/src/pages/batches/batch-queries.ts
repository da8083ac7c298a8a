import { batchHasEnded } from "@gantry/sdk";
import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { api } from "../../api/client.ts";

/** Counts change while a batch is under way. */
const refreshMs = 3_000;
const pageLength = 50;

export const batchesQuery = infiniteQueryOptions({
  queryKey: ["batches", "list"],
  initialPageParam: "",
  queryFn: ({ pageParam, signal }) =>
    api.batches.list({ limit: pageLength, after: pageParam === "" ? undefined : pageParam, signal }),
  getNextPageParam: ({ has_more, last_id }) => (has_more ? last_id : undefined),
  refetchInterval: ({ state }) =>
    state.data?.pages.every(({ data }) => data.every(batchHasEnded)) === false ? refreshMs : false,
});

export const batchQuery = (id: string) =>
  queryOptions({
    queryKey: ["batches", "one", id],
    queryFn: ({ signal }) => api.batches.get(id, { signal }),
    refetchInterval: ({ state }) => (state.data && !batchHasEnded(state.data) ? refreshMs : false),
  });
