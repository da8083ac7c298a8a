import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { api } from "../../api/client.ts";
import { offsetPage } from "../../api/offset-page.ts";

export const toolServersQuery = (page: number) =>
  queryOptions({
    queryKey: ["tool-servers", "page", { page }],
    queryFn: ({ signal }) =>
      offsetPage(page, async (range) => {
        const { mcp_servers: rows, total } = await api.toolServers.list({ ...range, signal });
        return { rows, total };
      }),
    placeholderData: keepPreviousData,
  });

export const allToolServersQuery = queryOptions({
  queryKey: ["tool-servers", "all"],
  queryFn: ({ signal }) => Array.fromAsync(api.toolServers.each({ signal })),
});

export const toolServerQuery = (id: string) =>
  queryOptions({
    queryKey: ["tool-servers", "one", id],
    queryFn: ({ signal }) => api.toolServers.get(id, { signal }),
    // The authorization ends in another window.
    refetchInterval: ({ state }) => (state.data?.status === "authorization_required" ? 5000 : false),
  });

/** Each request calls the tool server, which may be slow, so background refetching is off. */
export const serverToolsQuery = (id: string) =>
  queryOptions({
    queryKey: ["tool-server-tools", id],
    queryFn: ({ signal }) => api.toolServers.tools(id, { signal }),
    staleTime: 5 * 60_000,
    refetchOnWindowFocus: false,
  });
