import type { IndexFileStatus } from "@gantry/sdk";
import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { api } from "../../../api/client.ts";
import { offsetPage } from "../../../api/offset-page.ts";

export const embeddingModelsQuery = queryOptions({
  queryKey: ["models", "embedding"],
  queryFn: ({ signal }) => Array.fromAsync(api.models.each({ kind: "embedding", signal })),
  staleTime: 60_000,
});

export const indexFilesQuery = (driveId: string, status: IndexFileStatus, page: number) =>
  queryOptions({
    queryKey: ["drives", "index-files", { driveId, status, page }],
    queryFn: ({ signal }) =>
      offsetPage(page, async (range) => {
        const { files: rows, total } = await api.drives.indexFiles(driveId, { status, ...range, signal });
        return { rows, total };
      }),
    placeholderData: keepPreviousData,
  });

export const driveSearchQuery = (driveId: string, q: string) =>
  queryOptions({
    queryKey: ["drive-search", { driveId, q }],
    queryFn: ({ signal }) => api.drives.search(driveId, q, { limit: 20, signal }),
    // A search may call the embedding model, which costs money.
    staleTime: 60_000,
    refetchOnWindowFocus: false,
    retry: false,
  });
