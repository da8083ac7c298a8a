import { GantryError } from "@gantry/sdk";
import { MutationCache, QueryClient } from "@tanstack/react-query";
import { errorWithAdvice } from "../ui/error-advice.rules.ts";
import { toast } from "../ui/toast.ts";
import { isSignedOut } from "./client.ts";

/**
 * Query keys go from general to specific:
 *
 * 1. the resource whose change invalidates the query, such as "drives";
 * 2. the view, such as "page", "one" or "all", if the resource has several;
 * 3. the parameters: a single value as it is, several as an object.
 *
 * Mutations invalidate by the first element only. A query that must survive this, because it is slow or never changes,
 * has its own first element.
 */
export function createQueryClient(): QueryClient {
  // A server on the same machine answers without a network, so React Query must not wait for one.
  const networkMode = "always";
  return new QueryClient({
    mutationCache: new MutationCache({
      onError(error, _given, _context, mutation) {
        // Forms with `showsFailure` show the error themselves, and an ended session opens a dialog.
        if (!mutation.meta?.showsFailure && !isSignedOut(error)) toast(errorWithAdvice(error), "bad");
      },
    }),
    defaultOptions: {
      queries: {
        networkMode,
        staleTime: 5_000,
        // The SDK already retries.
        retry: false,
        throwOnError: (error) => !(error instanceof GantryError),
      },
      mutations: { networkMode },
    },
  });
}
