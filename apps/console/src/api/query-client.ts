import { GantryError } from "@gantry/sdk";
import { MutationCache, QueryCache, QueryClient } from "@tanstack/react-query";
import { wordsOf } from "../ui/failure-words.rules.ts";
import { toast } from "../ui/toast.ts";
import { isSignedOut } from "./client.ts";

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
