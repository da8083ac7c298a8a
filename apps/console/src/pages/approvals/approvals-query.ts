import type { ConfirmationStatus } from "@gantry/sdk";
import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { api } from "../../api/client.ts";
import { offsetPage } from "../../api/offset-page.ts";

/** Invalidate it when a question was asked or answered. */
export const pendingApprovalsKey = ["confirmations"] as const;

export const approvalsQuery = (page: number, status: ConfirmationStatus) =>
  queryOptions({
    queryKey: ["confirmations", "page", { page, status }],
    queryFn: ({ signal }) =>
      offsetPage(page, async (range) => {
        const { confirmations: rows, total } = await api.confirmations.list({ status, ...range, signal });
        return { rows, total };
      }),
    placeholderData: keepPreviousData,
    staleTime: 10_000,
  });

/** Read by `useApprovalsWatch`; everything else observes it. */
export const pendingApprovalsQuery = approvalsQuery(1, "pending");
