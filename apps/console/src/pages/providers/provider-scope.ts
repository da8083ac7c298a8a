import type { Providers, Secrets } from "@gantry/sdk";
import { queryOptions } from "@tanstack/react-query";
import { api } from "../../api/client.ts";
import { mayOpen } from "../../shell/key-access.rules.ts";
import { useSession } from "../../shell/session.ts";

/** Whose providers: the user's own, or the operator's, whose models are offered to everyone. */
export type ProviderScope = "own" | "everyone";

export const providersOf = (scope: ProviderScope): Providers => (scope === "own" ? api.providers : api.admin.providers);

export const secretsOf = (scope: ProviderScope): Secrets => (scope === "own" ? api.secrets : api.admin.secrets);

/** The API lists the operator's providers together with the user's own. */
export const providersQuery = (scope: ProviderScope, username: string) =>
  queryOptions({
    queryKey: ["providers", "all", { scope, username }],
    async queryFn({ signal }) {
      const all = await Array.fromAsync(providersOf(scope).each({ signal }));
      return scope === "everyone" ? all : all.filter(({ owner }) => owner === username);
    },
  });

export const providerQuery = (scope: ProviderScope, name: string) =>
  queryOptions({
    queryKey: ["providers", "one", { scope, name }],
    queryFn: ({ signal }) => providersOf(scope).get(name, { signal }),
    // A refetch must not reset a form that the user is filling in.
    refetchOnWindowFocus: false,
  });

/** Each asks the upstream, so neither runs again by itself. */
const asksUpstream = { staleTime: 5 * 60_000, refetchOnWindowFocus: false, refetchOnReconnect: false } as const;

export const providerTestQuery = (scope: ProviderScope, name: string) =>
  queryOptions({
    queryKey: ["provider-tests", { scope, name }],
    queryFn: ({ signal }) => providersOf(scope).test(name, { signal }),
    ...asksUpstream,
  });

export const discoveryQuery = (scope: ProviderScope, name: string) =>
  queryOptions({
    queryKey: ["discoveries", { scope, name }],
    queryFn: ({ signal }) => providersOf(scope).discover(name, { signal }),
    ...asksUpstream,
  });

/** Only admins offer models to everyone. */
export function useMayShare(): boolean {
  const { role, key } = useSession();
  return role === "admin" && mayOpen(key, "unlimited keys");
}
