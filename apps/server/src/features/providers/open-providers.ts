import { createFairQueue } from "../../kernel/fair-queue.ts";
import { withContext } from "../../kernel/with-context.ts";
import type { ProvidersContext } from "./context.ts";
import { importModels } from "./import-models.ts";
import { deleteProvider, listOf, listProviders, ownerOf, putProvider, readProvider } from "./providers.ts";
import { operatorOf } from "./store.ts";
import { discoverModels, testProvider } from "./use-provider.ts";

export type Providers = Awaited<ReturnType<typeof openProviders>>;

/** Servers whose models users and the operator import. */
export async function openProviders(deps: Omit<ProvidersContext, "calls" | "imports" | "operator">) {
  const operator = await operatorOf(deps.database.sql);
  const calls = createFairQueue({
    atOnce: 32,
    ofOne: 4,
    maxWaiting: 16,
    crowded: "Too many calls to your providers are under way. Try again later.",
  });
  const imports = createFairQueue({
    atOnce: 4,
    ofOne: 1,
    maxWaiting: 16,
    crowded: "Too many imports are under way. Try again later.",
  });
  const context: ProvidersContext = { ...deps, operator, calls, imports };
  return {
    ...withContext(context, {
      deleteProvider,
      discoverModels,
      importModels,
      listOf,
      listProviders,
      putProvider,
      readProvider,
      testProvider,
    }),
    operator,
    ownerOf,
  };
}
