import { type BatchRecord, GantryError } from "@gantry/sdk";
import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { fetchAsConsole } from "../../api/fetch-as-console.ts";

interface BatchPage {
  data: BatchRecord[];
  last_id: string | null;
  has_more: boolean;
}

/** Counts change while a batch is under way. */
const refreshMs = 3_000;
const pageLength = 50;

/** The SDK has no routes of other protocols, because they have clients of their own. */
async function call(path: string, init: RequestInit = {}): Promise<Response> {
  const response = await fetchAsConsole(`${location.origin}/v1${path}`, init);
  if (response.ok) return response;
  const body: unknown = await response.json().catch(() => undefined);
  throw new GantryError({
    message: messageIn(body) ?? response.statusText,
    status: response.status,
    type: undefined,
    requestId: response.headers.get("x-request-id") ?? undefined,
    retryable: false,
    body,
  });
}

function messageIn(body: unknown): string | undefined {
  const error = (body as { error?: { message?: unknown } } | undefined)?.error;
  return typeof error?.message === "string" ? error.message : undefined;
}

async function read<Answer>(path: string, init?: RequestInit): Promise<Answer> {
  return (await call(path, init)).json();
}

export const isUnderWay = ({ status }: BatchRecord): boolean =>
  !["completed", "failed", "expired", "cancelled"].includes(status);

export const batchesQuery = infiniteQueryOptions({
  queryKey: ["batches", "list"],
  initialPageParam: "",
  queryFn: ({ pageParam, signal }) => {
    const after = pageParam === "" ? "" : `&after=${encodeURIComponent(pageParam)}`;
    return read<BatchPage>(`/batches?limit=${pageLength}${after}`, { signal });
  },
  getNextPageParam: ({ has_more, last_id }) => (has_more ? last_id : undefined),
  refetchInterval: ({ state }) => (state.data?.pages.some(({ data }) => data.some(isUnderWay)) ? refreshMs : false),
});

export const batchQuery = (id: string) =>
  queryOptions({
    queryKey: ["batches", "one", id],
    queryFn: ({ signal }) => read<BatchRecord>(`/batches/${encodeURIComponent(id)}`, { signal }),
    refetchInterval: ({ state }) => (state.data && isUnderWay(state.data) ? refreshMs : false),
  });

export const cancelBatch = (id: string) =>
  read<BatchRecord>(`/batches/${encodeURIComponent(id)}/cancel`, { method: "POST" });

export async function contentOf(fileId: string): Promise<Blob> {
  return (await call(`/files/${encodeURIComponent(fileId)}/content`)).blob();
}
