import type { SignInWay } from "@gantry/sdk";
import { queryOptions, useQuery } from "@tanstack/react-query";
import { readSignInWays } from "../api/session.ts";

/** What this server offers, which changes only with its settings. */
export const signInWaysQuery = queryOptions({
  queryKey: ["sign-in ways"],
  queryFn: readSignInWays,
  staleTime: 60_000,
});

/** False while unknown. */
export function useHasWay(way: SignInWay): boolean {
  return useQuery(signInWaysQuery).data?.ways.includes(way) ?? false;
}
