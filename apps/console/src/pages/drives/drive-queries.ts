import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { api } from "../../api/client.ts";

export const drivesPerPage = 20;
/** So long that nearly every folder is on one page, where it can be sorted. */
export const itemsPerPage = 500;

export const drivesQuery = (page: number) =>
  queryOptions({
    queryKey: ["drives", "list", page],
    queryFn: ({ signal }) => api.drives.list({ limit: drivesPerPage, offset: (page - 1) * drivesPerPage, signal }),
    placeholderData: keepPreviousData,
  });

export const driveQuery = (id: string) =>
  queryOptions({ queryKey: ["drives", "one", id], queryFn: ({ signal }) => api.drives.get(id, { signal }) });

export const itemsQuery = (id: string, path: string, page: number) =>
  queryOptions({
    queryKey: ["drive-items", id, path, page],
    queryFn: ({ signal }) =>
      api.drives.items(id, { path, limit: itemsPerPage, offset: (page - 1) * itemsPerPage, signal }),
  });
