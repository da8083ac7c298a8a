import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { api } from "../../api/client.ts";

/** The service's own range, where the first day is left open, is a week: this is before everything. */
const beginning = "2000-01-01T00:00:00Z";

interface Span {
  first?: string | undefined;
  last?: string | undefined;
}

/** What a user spent from one moment to another, by model; the sums are of all pages. */
export const expensesQuery = (username: string, { first = beginning, last }: Span, page = 1) =>
  queryOptions({
    queryKey: ["expenses", "page", { username, first, last, page }],
    queryFn: ({ signal }) => api.account.expenses({ username, start_date: first, end_date: last, page, signal }),
    placeholderData: keepPreviousData,
    staleTime: 30_000,
  });
