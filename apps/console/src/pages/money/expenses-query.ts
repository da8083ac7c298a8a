import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { api } from "../../api/client.ts";

/** Without a start date the API returns one week, so this is a date before any usage. */
const beginning = "2000-01-01T00:00:00Z";

interface Span {
  first?: string | undefined;
  last?: string | undefined;
}

/** The totals cover all pages. */
export const expensesQuery = (username: string, { first = beginning, last }: Span, page = 1) =>
  queryOptions({
    queryKey: ["expenses", "page", { username, first, last, page }],
    queryFn: ({ signal }) => api.account.expenses({ username, start_date: first, end_date: last, page, signal }),
    placeholderData: keepPreviousData,
    staleTime: 30_000,
  });
