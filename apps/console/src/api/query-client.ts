import { GantryError } from "@gantry/sdk";
import { MutationCache, QueryCache, QueryClient } from "@tanstack/react-query";
import { wordsOf } from "../ui/failure-words.rules.ts";
import { toast } from "../ui/toast.ts";
import { isSignedOut } from "./client.ts";

/**
 * Queries are named from the large to the small: the thing whose change makes all below it be asked again ("drives"),
 * what of it is read ("page", "one", "all") where that is more than one thing, and on what that depends, one value as it
 * is and several as an object with their names. Whoever changes something invalidates by the first word alone; what must
 * not be asked again then, such as what is slow or never changes, has a first word of its own.
 */
export function createQueryClient(onSignedOut: () => void): QueryClient {
  const heed = (error: unknown) => {
    if (isSignedOut(error)) onSignedOut();
  };
  return new QueryClient({
    queryCache: new QueryCache({ onError: heed }),
    mutationCache: new MutationCache({
      onError(error, _given, _context, mutation) {
        heed(error);
        // A form that shows its own failure says so, and then it need not be said twice.
        if (!mutation.meta?.showsFailure) toast(wordsOf(error), "bad");
      },
    }),
    defaultOptions: {
      queries: {
        staleTime: 5_000,
        // The client of the service repeats what is worth it.
        retry: false,
        throwOnError: (error) => !(error instanceof GantryError),
      },
    },
  });
}
