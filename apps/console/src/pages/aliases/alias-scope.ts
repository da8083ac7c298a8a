import type { Aliases } from "@gantry/sdk";
import { queryOptions } from "@tanstack/react-query";
import { api } from "../../api/client.ts";

/** Whose aliases: the user's own, or an admin's for all users. */
export type AliasScope = "own" | "everyone";

export const aliasesOf = (scope: AliasScope): Aliases => (scope === "own" ? api.aliases : api.admin.aliases);

export const aliasesQuery = (scope: AliasScope, page: number) =>
  queryOptions({
    queryKey: ["aliases", scope, { page }],
    queryFn: ({ signal }) => aliasesOf(scope).list({ page, signal }),
  });
