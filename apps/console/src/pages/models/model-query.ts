import { queryOptions } from "@tanstack/react-query";
import { api } from "../../api/client.ts";

export const modelQuery = (id: string) =>
  queryOptions({
    queryKey: ["models", "one", id],
    queryFn: ({ signal }) => api.models.card(id, { signal }),
    // A form that is being filled in must not change under one's hands.
    staleTime: 60_000,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  });
