import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { api } from "../../api/client.ts";
import { offsetPage } from "../../api/offset-page.ts";

/** Due times pass while the page is open. */
const refreshMs = 10_000;

export const schedulesQuery = (page: number, agentId?: string) =>
  queryOptions({
    queryKey: ["schedules", "page", { page, agentId }],
    queryFn: ({ signal }) =>
      offsetPage(page, async (range) => {
        const { schedules: rows, total } = await api.schedules.list({ agent_id: agentId, ...range, signal });
        return { rows, total };
      }),
    placeholderData: keepPreviousData,
    refetchInterval: refreshMs,
  });
