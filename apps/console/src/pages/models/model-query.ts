import { queryOptions } from "@tanstack/react-query";
import { api } from "../../api/client.ts";

export const modelQuery = (id: string) =>
  queryOptions({
    queryKey: ["models", "one", id],
    queryFn: ({ signal }) => api.models.card(id, { signal }),
    // A refetch must not reset a form that the user is filling in.
    staleTime: 60_000,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  });
