import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { api } from "../../api/client.ts";
import { offsetPage } from "../../api/offset-page.ts";

/** Deliveries arrive while the page is open. */
const refreshMs = 10_000;

export const triggersQuery = (page: number, agentId?: string) =>
  queryOptions({
    queryKey: ["triggers", "page", { page, agentId }],
    queryFn: ({ signal }) =>
      offsetPage(page, async (range) => {
        const { triggers: rows, total } = await api.triggers.list({ agent_id: agentId, ...range, signal });
        return { rows, total };
      }),
    placeholderData: keepPreviousData,
    refetchInterval: refreshMs,
  });

export const triggerDeliveriesQuery = (id: string, page: number) =>
  queryOptions({
    queryKey: ["triggers", "deliveries", { id, page }],
    queryFn: ({ signal }) =>
      offsetPage(page, async (range) => {
        const { deliveries: rows, total } = await api.triggers.deliveries(id, { ...range, signal });
        return { rows, total };
      }),
    placeholderData: keepPreviousData,
    refetchInterval: refreshMs,
  });
