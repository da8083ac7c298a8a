import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { api } from "../../api/client.ts";
import { offsetPage } from "../../api/offset-page.ts";

/** Large, because items are sorted within a page. */
const itemsPerPage = 500;

/** Progress of an index. */
const indexingMs = 2_000;

export const drivesQuery = (page: number) =>
  queryOptions({
    queryKey: ["drives", "page", { page }],
    queryFn: ({ signal }) =>
      offsetPage(page, async (range) => {
        const { drives: rows, total } = await api.drives.list({ ...range, signal });
        return { rows, total };
      }),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state: { data } }) =>
      data?.results.some(({ index }) => index?.status === "indexing") ? indexingMs : false,
  });

export const allDrivesQuery = queryOptions({
  queryKey: ["drives", "all"],
  queryFn: ({ signal }) => Array.fromAsync(api.drives.each({ signal })),
});

export const driveQuery = (id: string) =>
  queryOptions({
    queryKey: ["drives", "one", id],
    queryFn: ({ signal }) => api.drives.get(id, { signal }),
    refetchInterval: ({ state: { data } }) => (data?.index?.status === "indexing" ? indexingMs : false),
  });

export const itemsQuery = (id: string, path: string, page: number) =>
  queryOptions({
    queryKey: ["drives", "items", { id, path, page }],
    queryFn: ({ signal }) =>
      offsetPage(
        page,
        async (range) => {
          const { items: rows, total } = await api.drives.items(id, { path, ...range, signal });
          return { rows, total };
        },
        itemsPerPage,
      ),
  });
