import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { api } from "../../api/client.ts";
import { offsetPage } from "../../api/offset-page.ts";

type RunFilter = Pick<NonNullable<Parameters<typeof api.runs.list>[0]>, "status" | "agent_id">;

export const runsQuery = (page: number, filter: RunFilter) =>
  queryOptions({
    queryKey: ["runs", "page", { page, ...filter }],
    queryFn: ({ signal }) =>
      offsetPage(page, async (range) => {
        const { runs: rows, total } = await api.runs.list({ ...filter, ...range, signal });
        return { rows, total };
      }),
    placeholderData: keepPreviousData,
    refetchInterval: 5_000,
  });
