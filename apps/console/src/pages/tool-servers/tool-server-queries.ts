import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { api } from "../../api/client.ts";

export const pageSize = 20;

export const toolServersQuery = (page: number) =>
  queryOptions({
    queryKey: ["tool-servers", "list", page],
    queryFn: ({ signal }) => api.toolServers.list({ limit: pageSize, offset: (page - 1) * pageSize, signal }),
    placeholderData: keepPreviousData,
  });

export const toolServerQuery = (id: string) =>
  queryOptions({
    queryKey: ["tool-servers", "one", id],
    queryFn: ({ signal }) => api.toolServers.get(id, { signal }),
  });

/** Every reading is a call to the server itself, which may be slow: it is made again only when asked for. */
export const serverToolsQuery = (id: string) =>
  queryOptions({
    queryKey: ["tool-server-tools", id],
    queryFn: ({ signal }) => api.toolServers.tools(id, { signal }),
    staleTime: 5 * 60_000,
    refetchOnWindowFocus: false,
  });
