import type { ProviderType } from "@gantry/sdk";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useRef } from "react";
import { bodyOf, freeName, type ProviderDraft } from "../provider-form.rules.ts";
import { discoveryQuery, type ProviderScope, providersOf, providerTestQuery, secretsOf } from "../provider-scope.ts";

interface SaveProviderOptions {
  type: ProviderType;
  scope: ProviderScope;
  isNew: boolean;
}

/** Stores the key as a secret, then the provider, and goes on to its models. */
export function useSaveProvider({ type, scope, isNew }: SaveProviderOptions) {
  const queries = useQueryClient();
  const navigate = useNavigate({ from: "/models/connect" });
  /** A second attempt replaces the secret of the first, instead of leaving it behind. */
  const stored = useRef<string>(undefined);

  async function storeKey({ name, secret, key }: ProviderDraft): Promise<string | undefined> {
    if (key.trim() === "") return secret || undefined;
    if (secret === "" && stored.current === undefined) {
      const taken = await Array.fromAsync(secretsOf(scope).each());
      stored.current = freeName(
        name.trim(),
        taken.map((each) => each.name),
      );
    }
    const into = secret || (stored.current ?? name.trim());
    await secretsOf(scope).put(into, key.trim());
    return into;
  }

  return useMutation({
    meta: { showsFailure: true },
    // The key must not stay in the cache.
    gcTime: 0,
    async mutationFn(draft: ProviderDraft) {
      const secret = await storeKey(draft);
      return providersOf(scope).put(draft.name.trim(), bodyOf(type, draft, secret));
    },
    async onSuccess({ name }) {
      for (const { queryKey } of [providerTestQuery(scope, name), discoveryQuery(scope, name)]) {
        queries.removeQueries({ queryKey });
      }
      await Promise.all([
        queries.invalidateQueries({ queryKey: ["providers"] }),
        queries.invalidateQueries({ queryKey: ["secrets"] }),
      ]);
      // Back from the models then leads to the choice, or to the list that Edit was clicked in.
      await navigate({
        search: { provider: name, ...(scope === "everyone" && { for: "everyone" }) },
        replace: !isNew,
      });
    },
  });
}
