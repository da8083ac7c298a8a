import { GantryError } from "@gantry/sdk";
import { MutationCache, QueryClient } from "@tanstack/react-query";
import { wordsOf } from "../ui/failure-words.rules.ts";
import { toast } from "../ui/toast.ts";
import { isSignedOut } from "./client.ts";

/**
 * Queries are named from the large to the small: the thing whose change makes all below it be asked again ("drives"),
 * what of it is read ("page", "one", "all") where that is more than one thing, and on what that depends, one value as it
 * is and several as an object with their names. Whoever changes something invalidates by the first word alone; what must
 * not be asked again then, such as what is slow or never changes, has a first word of its own.
 */
export function createQueryClient(): QueryClient {
  // A server on the same machine is there without any network: only trying tells.
  const networkMode = "always";
  return new QueryClient({
    mutationCache: new MutationCache({
      onError(error, _given, _context, mutation) {
        // A form that shows its own failure says so, and that a session has ended is asked about: once is enough.
        if (!mutation.meta?.showsFailure && !isSignedOut(error)) toast(wordsOf(error), "bad");
      },
    }),
    defaultOptions: {
      queries: {
        networkMode,
        staleTime: 5_000,
        // The client of the service repeats what is worth it.
        retry: false,
        throwOnError: (error) => !(error instanceof GantryError),
      },
      mutations: { networkMode },
    },
  });
}
